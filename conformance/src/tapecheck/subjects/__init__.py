"""What can be judged. A subject is what a check gets in its hands; a fault is a subject with something replaced.

Whoever adds a kind of subject writes a class of the protocol `Subject`, names an instance in `KNOWN`, and says in
`FAULTY` in which subject the faults of its contracts are planted.
"""

from __future__ import annotations

import importlib
import sys
import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from tapecheck.contract import REGISTRY, Check, Judged, did_you_mean

KNOWN = {
    "warp": "tapecheck.subjects.warp:WarpSubject",
    "miniature": "tapecheck.subjects.miniature:subject",
    "plain-torch": "tapecheck.subjects.plain:subject",
    "oracle": "tapecheck.subjects.oracle:subject",
    "sphweft": "tapecheck.subjects.sphweft:subject",
}
"""The subjects that this package knows, by name; any other is given as `module:attribute`."""

FAULTY: dict[Judged, str] = {"warp": "warp", "bridge": "miniature", "sph": "oracle", "core": "sphweft"}
"""The subject in which the faults of each kind of contract are planted: it keeps all of them itself."""


class Subject(Protocol):
    """What running, judging and reporting know of a subject; the checks know more of theirs.

    Attributes:
        judged: the kinds of contract that judge it.
        owner: what the message of an unsupported contract calls it: "this release".
        packages: import names of the packages that it is made of, besides this one.
    """

    judged: frozenset[Judged]
    owner: str
    packages: tuple[str, ...]

    def missing(self, needs: Iterable[str]) -> str | None:
        """The first of the things that a check needs which the subject does not offer, or None."""


def find(entry: str) -> Subject:
    """The subject of a known name, or of `module:attribute`: a subject, operators, a probe, several probes, or what
    returns one of these.

    Raises:
        LookupError: there is no such module or attribute, it raises, or it is nothing that can be judged.
    """
    from tapecheck.subjects.probe import BridgeSubject, Probe
    from tapecheck.subjects.sph import Operators, SphSubject

    module, colon, attribute = KNOWN.get(entry, entry).partition(":")
    if not colon:
        near = did_you_mean(entry, KNOWN) or f"; known are {', '.join(KNOWN)}"
        raise LookupError(f"unknown subject {entry!r}: neither known nor module:attribute{near}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
        if callable(found):
            found = found()
    except (Exception, SystemExit) as problem:
        raise LookupError(f"{entry}: {_place(problem)}{type(problem).__name__}: {problem}") from problem
    if isinstance(found, Operators):
        found = SphSubject(found)
    if isinstance(found, Probe):
        found = [found]
    if isinstance(found, (list, tuple)) and found and all(isinstance(probe, Probe) for probe in found):
        found = BridgeSubject(tuple(found))
    if not (hasattr(found, "judged") and hasattr(found, "missing")):
        raise LookupError(f"{entry}: neither a subject nor probes, but {type(found).__name__}")
    subject: Subject = found
    return subject


def _place(problem: BaseException) -> str:
    """The file and line where an error came up, in the code of whoever gave the subject, not in a library it calls."""
    if isinstance(problem, SyntaxError):  # whose text ends with the file's name and the line
        return ""
    libraries = (str(Path(__file__).parents[1]), "<", *map(sysconfig.get_path, ("stdlib", "purelib", "platlib")))
    frames = [
        frame for frame in traceback.extract_tb(problem.__traceback__) if not frame.filename.startswith(libraries)
    ]
    return f"{frames[-1].filename}, line {frames[-1].lineno}: " if frames else ""


def label(entry: str) -> str:
    """The subject's name in results and in the names of their files."""
    return entry.replace(":", ".")


def checks_of(subject: Subject) -> list[Check]:
    """The registered checks that judge a subject."""
    return [check for check in REGISTRY.values() if check.contract.judged in subject.judged]
