"""One contract for somebody who never saw the project: what, why, where it holds, what to write, how it is checked."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import warp

from tapecheck.contract import REGISTRY, SOURCES, Check, Contract, text_of
from tapecheck.expectations import Entry, Expectations, default_path, of
from tapecheck.releases import releases
from tapecheck.report import file_name, render
from tapecheck.results import Record
from tapecheck.subjects import KNOWN

KINDS = {
    "guarantee": "a guarantee: documented, it must hold",
    "hazard": "a hazard: a trap, and a pass means that it is there",
    "observation": "an observation: documented nowhere, its value is pinned release by release",
}


class Stretch(msgspec.Struct):
    """Neighbouring releases on which a case came to the same."""

    subject: str
    releases: str
    case: str
    outcome: str
    evidence: str


def page(contract: Contract, records: Sequence[Record], expectations: Expectations, source: Path | None = None) -> str:
    """The page of a contract, as Markdown.

    Args:
        contract: the row.
        records: its judged records, oldest release first.
        expectations: what is known of Warp to differ; the file of every other subject is its own.
        source: the file of `expectations`; left out, that of this package.
    """
    checks = [check for check in REGISTRY.values() if check.contract.id == contract.id]
    return render(
        "contract.md",
        contract=contract,
        kind=KINDS[contract.kind],
        sources=[SOURCES[letter] for letter in contract.source],
        checked=bool(checks),
        safe=[check.case for check in checks if check.safe],
        newest=releases()[-1],
        stretches=list(_stretches(records)),
        known=_known(contract, expectations, source or default_path()),
        kernels=[inspect.getsource(kernel.func).rstrip() for kernel in _kernels(checks)],
        functions=[inspect.getsource(f).rstrip() for f in dict.fromkeys(inspect.unwrap(c.function) for c in checks)],
        faults=[inspect.getdoc(fault) for fault in dict.fromkeys(fault for check in checks for fault in check.faults)],
    )


def _known(contract: Contract, expectations: Expectations, source: Path) -> dict[str, list[Entry]]:
    """What is known to differ, by expectation file."""
    files = {source: expectations} | {default_path(name): of(name) for name in KNOWN if name != "warp"}
    found: dict[str, list[Entry]] = {}
    for path, stated in files.items():
        if entries := [entry for entry in stated.entries if entry.contract == contract.id]:
            found[file_name(path)] = entries
    return found


def _stretches(records: Sequence[Record]) -> Iterator[Stretch]:
    def place(record: Record) -> tuple[bool, str, str]:
        return record.subject != "warp", record.subject, record.case

    for (_, subject, case), group in groupby(sorted(records, key=place), place):
        for (outcome, evidence), run in groupby(group, lambda record: (record.outcome, _evidence(record))):
            versions = [record.warp for record in run]
            between = versions[0] if len(versions) == 1 else f"{versions[0]} – {versions[-1]}"
            yield Stretch(subject, between, case, outcome, evidence)


def _evidence(record: Record) -> str:
    text = record.message if record.outcome != "pass" else f"observed {text_of(record.observed)}"
    line = " ".join(text.split())
    return line if len(line) < 400 else f"{line[:400]}…"


def _kernels(checks: Sequence[Check]) -> list[Any]:
    """The kernels that checks launch: those in their arguments, and those that their code names."""
    found: dict[Any, None] = {}
    for check in checks:
        for kernel in (*_in(check.arguments), *_named(inspect.unwrap(check.function))):
            found[kernel] = None
    return [kernel for kernel in found if kernel.func is not None]


def _in(value: Any) -> Iterator[Any]:
    if isinstance(value, warp.Kernel):
        yield value
    elif isinstance(value, dict):
        yield from _in(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _in(item)
    elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        yield from _in([getattr(value, name) for name in value.__dataclass_fields__])


def _named(function: Any) -> Iterable[Any]:
    names = function.__code__.co_names
    modules = [function.__globals__[name] for name in names if isinstance(function.__globals__.get(name), ModuleType)]
    return [
        item
        for module in modules
        if "kernels" in module.__name__
        for name in names
        if isinstance(item := getattr(module, name, None), warp.Kernel)
    ]
