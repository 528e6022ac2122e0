"""Runs one check against one subject and says what became of it."""

from __future__ import annotations

import errno
import time
import traceback
from typing import Any

import msgspec

from tapecheck.contract import Blocked, Check, text_of
from tapecheck.results import Outcome
from tapecheck.subjects import Subject

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""What says nothing about the subject: the machine has no room for its kernels."""


class Judgement(msgspec.Struct):
    """Outcome and evidence of a check, before any expectation is held against it.

    An observation that could be made is a `pass` here: whether the value is the pinned one is for the expectations.
    """

    outcome: Outcome
    message: str = ""
    expected: Any = None
    observed: Any = None
    tolerance: float = 0.0
    seconds: float = 0.0


def judge(check: Check, subject: Subject) -> Judgement:
    """The judgement of a check on a subject, in this process."""
    start = time.perf_counter()
    judgement = _judge(check, subject)
    judgement.seconds = round(time.perf_counter() - start, 4)
    return judgement


def _judge(check: Check, subject: Subject) -> Judgement:
    missing = subject.missing(check.needs)
    if missing:
        return Judgement("unsupported", f"{subject.owner} has no {missing}")
    try:
        evidence = check(subject)
    except Blocked as problem:
        return Judgement("blocked", str(problem))
    except Exception as problem:
        if isinstance(problem, OSError) and problem.errno in NO_ROOM:
            return Judgement("blocked", f"{problem.filename or 'the file system'}: {problem.strerror}")
        return Judgement("error", traceback.format_exc(limit=-4))
    seen = Judgement("pass", "", _printable(evidence.expected), evidence.observed, evidence.tolerance)
    if check.kind == "observation":
        seen.message = f"observed {text_of(evidence.observed)}"
    elif differences := evidence.violations():
        seen.outcome, seen.message = "fail", "; ".join(differences)
    return seen


def _printable(value: Any) -> Any:
    """Expected values with their patterns as text, so that they can be written down."""
    if isinstance(value, dict):
        return {key: _printable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_printable(item) for item in value]
    return text_of(value) if not isinstance(value, (str, int, float, bool, type(None))) else value
