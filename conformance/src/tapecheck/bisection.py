"""The first release in which an outcome flips, found by judging as few releases as possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tapecheck import cells
from tapecheck.contract import REGISTRY, Check, checks_named, full_name, plain, text_of
from tapecheck.expectations import Deviation, Expectations, Pin
from tapecheck.matrix import complete, results_in
from tapecheck.releases import overlay
from tapecheck.results import NOT_JUDGED, BadResult, Record, cell_path, read


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """What one release showed: a line a case, outcome and evidence."""

    version: str
    outcomes: list[str]
    shown: list[str]


class Bisection(msgspec.Struct, kw_only=True):
    """Where a contract flips.

    Attributes:
        name: the contract, and the case where one was asked for.
        first: the first release that is not as the oldest one, None where the ends agree.
        last: the release before it.
        probes: the releases that were judged, oldest first.
    """

    name: str
    first: str | None
    last: str | None
    probes: list[Probe]

    @property
    def sentence(self) -> str:
        ends = self.probes[0].version, self.probes[-1].version
        count = f"{len(self.probes)} releases judged"
        if self.first is None:
            return f"{self.name} does not flip: Warp {ends[0]} and {ends[1]} agree ({count})."
        return f"{self.name} flips in Warp {self.first}; Warp {self.last} is still as {ends[0]} ({count})."


def search(versions: Sequence[str], state: Callable[[str], Any], guesses: Sequence[str] = ()) -> tuple[str, str] | None:
    """The neighbours between which the state leaves that of the first version.

    The ends are asked first; then a guess is confirmed or refuted by its two neighbours before anything is halved.

    Args:
        versions: oldest first.
        state: what a version shows; asked at most once a version.
        guesses: versions in which the flip may be, the likeliest first.

    Returns:
        The last version as the first one and the one after it, None where the ends agree.
    """
    low, high = 0, len(versions) - 1
    oldest = state(versions[low])
    if low == high or state(versions[high]) == oldest:
        return None
    hoped = [versions.index(version) for version in guesses if version in versions]
    while high - low > 1:
        guess = next((at for at in hoped if low < at <= high), None)
        middle = (low + high) // 2 if guess is None else guess - 1 if guess - 1 > low else guess
        if state(versions[middle]) == oldest:
            low = middle
        else:
            high = middle
    return versions[low], versions[high]


def state_of(records: Sequence[Record]) -> tuple[tuple[str, str], ...]:
    """What must change for a flip: the outcome of each case, or its value where an observation has one."""
    return tuple((record.case, _state(record.kind, record.outcome, record.observed)) for record in records)


def _state(kind: str, outcome: str, value: Any) -> str:
    return f"value {text_of(value)}" if kind == "observation" and outcome in ("pass", "fail") else outcome


def guesses(
    names: Sequence[str],
    versions: Sequence[str],
    entries: Expectations,
    known: Mapping[str, Sequence[Record]],
    device: str,
) -> list[str]:
    """Versions in which the flip may be, from what is known and without a run.

    Args:
        names: checks, as `contract[case]`.
        versions: oldest first.
        entries: what is known to differ.
        known: records of earlier results by version; they count for more than the expectations.
        device: Warp device.
    """
    states = []
    for version in versions:
        records = {full_name(record.contract, record.case): record for record in known.get(version, ())}
        states.append([_foreseen(REGISTRY[name], version, device, entries, records.get(name)) for name in names])
    return [version for version, now, before in zip(versions[1:], states[1:], states, strict=False) if now != before]


def _foreseen(check: Check, version: str, device: str, entries: Expectations, record: Record | None) -> str:
    if record and record.outcome not in NOT_JUDGED:
        return _state(record.kind, record.outcome, record.observed)
    for entry in entries.entries:
        if entry.speaks_of(check.contract.id, check.case) and entry.covers(version, device):
            if isinstance(entry, Deviation):
                return entry.outcome
            if isinstance(entry, Pin):
                return _state("observation", "pass", plain(entry.value))
    return "pass"


def chosen(identifier: str) -> tuple[str, list[str]]:
    """The contract of `id` or `id[case]`, and the names of its checks.

    Raises:
        LookupError: no such contract, no such case, or no check.
    """
    row, checks = checks_named(identifier)
    if not checks:
        raise LookupError(f"{row.id} has no check yet, so there is nothing to bisect")
    return row.id, [entry.name for entry in checks]


def earlier(folder: Path, device: str) -> dict[str, list[Record]]:
    """The records of the complete results in a folder, by release."""
    found: dict[str, list[Record]] = {}
    for path in results_in(folder, "warp"):
        try:
            cell = complete(read(path))
        except BadResult:
            continue
        if cell.header.device == device:
            found[cell.header.warp] = cell.records
    return found


def judge(
    identifier: str, names: Sequence[str], version: str, *, device: str, folder: Path, store: Path
) -> list[Record]:
    """Judges one contract on one release, in a folder of its own; the records of the named checks.

    Raises:
        BadResult: the run did not come to its end, or holds none of them.
    """
    cells.run(overlay(version, store), folder, [device], only=[identifier], workers=1)
    path = cell_path(folder / "partial", "warp", version, device)
    records = [record for record in complete(read(path)).records if full_name(record.contract, record.case) in names]
    if not records or any(record.outcome in NOT_JUDGED for record in records):
        raise BadResult(f"{path}: {identifier} was not judged on Warp {version} {device}")
    return sorted(records, key=lambda record: record.case)


def _probe(version: str, records: Sequence[Record]) -> Probe:
    return Probe(
        version=version,
        outcomes=[f"{record.case}: {record.outcome}" if record.case else record.outcome for record in records],
        shown=[record.message or text_of(record.observed) for record in records],
    )


def bisect(
    name: str, versions: Sequence[str], judged: Callable[[str], list[Record]], guesses: Sequence[str] = ()
) -> Bisection:
    """Bisects one contract.

    Args:
        name: how the report calls it.
        versions: oldest first.
        judged: judges a release.
        guesses: versions in which the flip may be.
    """
    seen: dict[str, list[Record]] = {}

    def state(version: str) -> tuple[tuple[str, str], ...]:
        seen[version] = judged(version)
        return state_of(seen[version])

    found = search(versions, state, guesses)
    probes = [_probe(version, seen[version]) for version in versions if version in seen]
    last, first = found or (None, None)
    return Bisection(name=name, first=first, last=last, probes=probes)
