"""What is known to differ: one TOML file a subject, strict in every direction.

A contract passes everywhere unless a `[[deviation]]` says where it does not; an observation is pinned by `[[pin]]`
entries that say which value each release shows. An outcome that the file does not foresee is `unexpected`, or `new` on
a release that the matrix does not list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from tapecheck.contract import REGISTRY, Evidence, catalogue, did_you_mean, full_name, plain, text_of
from tapecheck.releases import releases
from tapecheck.results import NOT_JUDGED, Outcome, Record


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a deviation and a pin share.

    Attributes:
        contract: the id.
        case: one case of it; left out, every case.
        when: the Warp releases it speaks of, as a version specifier; left out, all.
        device: the devices it speaks of, as the beginning of their name; left out, all.
        reason: why, for a reader.
        link: where to read on.
    """

    contract: str
    case: str = ""
    when: str = ""
    device: str = ""
    reason: str
    link: str = ""

    @property
    def name(self) -> str:
        return full_name(self.contract, self.case) + (f" when {self.when}" if self.when else "")

    def speaks_of(self, contract: str, case: str) -> bool:
        return self.contract == contract and self.case in ("", case)

    @property
    def shown(self) -> str:
        """What is expected, as text."""
        raise NotImplementedError

    def covers(self, version: str, device: str) -> bool:
        return device.startswith(self.device) and _within(self.when, version)


@cache
def _within(specifier: str, version: str) -> bool:
    """Parsed once: a matrix asks this of every entry for every record."""
    return SpecifierSet(specifier).contains(version, prereleases=True)


class Deviation(Entry, frozen=True, kw_only=True):
    """An outcome other than `pass`, and a piece of its message."""

    outcome: Outcome
    message: str

    @property
    def shown(self) -> str:
        return f"{self.outcome}, {self.message}"


class Pin(Entry, frozen=True, kw_only=True):
    """The value of an observation."""

    value: Any

    @property
    def shown(self) -> str:
        return text_of(plain(self.value))


class BadExpectations(Exception):
    """The file contradicts itself, the catalogue or the matrix; the text says where."""


class Expectations(msgspec.Struct, forbid_unknown_fields=True):
    """One expectation file."""

    deviation: list[Deviation] = []
    pin: list[Pin] = []

    @property
    def entries(self) -> list[Entry]:
        return [*self.deviation, *self.pin]

    def problems(self) -> list[str]:
        """What is wrong with the file itself, a sentence each."""
        found = [problem for entry in self.entries for problem in _problems(entry)]
        if found:
            return found
        for one, other in combinations(self.entries, 2):
            if one.contract == other.contract and (one.case == other.case or not (one.case and other.case)):
                near = one.device.startswith(other.device) or other.device.startswith(one.device)
                shared = [v for v in releases() if one.covers(v, one.device) and other.covers(v, other.device)]
                if near and shared:
                    found.append(f"{one.name} and {other.name}: both speak of Warp {', '.join(shared)}")
        return found

    def entry(self, record: Record) -> Entry | None:
        """What speaks of a record."""
        entries = (entry for entry in self.entries if entry.speaks_of(*record.key))
        return next((entry for entry in entries if entry.covers(record.warp, record.device)), None)

    def surprise(self, record: Record) -> str:
        """An outcome that was not foreseen, and what was expected instead, as one line."""
        entry = self.entry(record)
        judged = "" if record.subject == "warp" else f"{record.subject}: "
        where = f"{judged}{full_name(*record.key)} on Warp {record.warp} {record.device}"
        found = ": ".join(filter(None, (record.outcome, " ".join(record.message.split()))))
        due = f"{entry.shown}, by the entry {entry.name}" if entry else "pass, as no entry speaks of it"
        return f"{record.expectation}: {where}: {found} (expected: {due})"

    def settle(self, record: Record) -> Record:
        """The record with the expectation held against it; an observation is judged here."""
        if record.outcome in NOT_JUDGED:
            return msgspec.structs.replace(record, expectation="none")
        entry = self.entry(record)
        if record.kind == "observation" and record.outcome in ("pass", "fail"):
            record = _held_against_pin(record, entry)
            foreseen = record.outcome == "pass"
        elif isinstance(entry, Deviation):
            foreseen = entry.outcome == record.outcome and entry.message in record.message
        else:
            foreseen = record.outcome == "pass" and entry is None
        if foreseen:
            return msgspec.structs.replace(record, expectation="expected")
        known = record.warp in releases()
        return msgspec.structs.replace(record, expectation="unexpected" if known else "new")

    def unmet(self, records: Iterable[Record], version: str, device: str) -> list[str]:
        """Entries that speak of this cell although no judged record of a full run answers to them."""
        judged = {record.key for record in records if record.outcome not in NOT_JUDGED}
        return [
            f"{entry.name}: expected on Warp {version} {device}, but it did not run"
            for entry in self.entries
            if entry.covers(version, device) and not any(entry.speaks_of(*key) for key in judged)
        ]


class Unstated(Expectations):
    """In the place of a file for a subject of which nobody said what to expect: outcomes are shown as found."""

    def settle(self, record: Record) -> Record:
        return msgspec.structs.replace(record, expectation="none")


def _problems(entry: Entry) -> Iterable[str]:
    if entry.contract not in catalogue():
        yield f"{entry.name}: unknown contract{did_you_mean(entry.contract, catalogue())}"
        return
    cases = [check.case for check in REGISTRY.values() if check.contract.id == entry.contract]
    if not cases:
        yield f"{entry.name}: this contract has no check"
    elif entry.case and entry.case not in cases:
        yield f"{entry.name}: no such case{did_you_mean(entry.case, cases)}"
    try:
        covered = [version for version in releases() if entry.covers(version, entry.device)]
    except InvalidSpecifier:
        yield f'{entry.name}: `when` must be a version specifier such as ">=1.13,<1.16"'
    else:
        if not covered:
            yield f"{entry.name}: matches no release of the matrix"
    if not re.fullmatch(r"(cpu|cuda(:\d+)?)?", entry.device):
        yield f"{entry.name}: unknown device {entry.device!r}; expected cpu, cuda or cuda:0"
    if not entry.reason.strip() or entry.reason.startswith("TODO"):
        yield f"{entry.name}: give a reason"
    if isinstance(entry, Deviation) and entry.outcome in ("pass", *NOT_JUDGED):
        yield f"{entry.name}: {entry.outcome!r} is no deviation"
    if isinstance(entry, Deviation) and not entry.message.strip():
        yield f"{entry.name}: give a piece of the message"


def _held_against_pin(record: Record, entry: Entry | None) -> Record:
    if not isinstance(entry, Pin):
        message = f"no value is pinned for Warp {record.warp}, observed {text_of(record.observed)}"
        return msgspec.structs.replace(record, outcome="fail", expected=None, message=message)
    differences = Evidence(record.observed, entry.value, record.tolerance).violations()
    return msgspec.structs.replace(
        record,
        outcome="fail" if differences else "pass",
        expected=entry.value,
        message="; ".join(differences) or f"observed {text_of(record.observed)}",
    )


def default_path(subject: str = "warp") -> Path:
    """The expectation file of a subject that this package knows."""
    return Path(str(files("tapecheck") / "expectations" / f"{subject}.toml"))


def load(path: Path) -> Expectations:
    """Reads an expectation file.

    Raises:
        BadExpectations: it cannot be read, or is wrong in itself; every problem is named.
    """
    try:
        expectations = msgspec.toml.decode(path.read_bytes(), type=Expectations)
    except (OSError, msgspec.DecodeError) as problem:
        raise BadExpectations(f"{path}: {problem}") from None
    problems = expectations.problems()
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise BadExpectations("\n".join([f"{path}: {count}", *problems]))
    return expectations


def of(subject: str, given: Path | None = None) -> Expectations:
    """What is expected of a subject: by the file given, or by that of this package, or nothing.

    Raises:
        BadExpectations: as `load`.
    """
    path = given or default_path(subject)
    return load(path) if given or path.exists() else Unstated()


def unforeseen(records: Sequence[Record]) -> list[Record]:
    """The records that the expectations did not foresee."""
    return [record for record in records if record.expectation in ("unexpected", "new")]
