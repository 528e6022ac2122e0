"""Merges the result files of many cells into one matrix, and says what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from tapecheck.contract import catalogue, full_name
from tapecheck.expectations import Expectations, unforeseen
from tapecheck.releases import in_order
from tapecheck.results import BadResult, Cell, Record, catalogue_version, cell_path, read, suite_version
from tapecheck.subjects import KNOWN, checks_of, find


class Matrix(msgspec.Struct):
    """Every record of some cells, and what keeps the whole from being good.

    Attributes:
        cells: by subject, then by release, oldest first, then by device.
        complaints: what makes the run fail, a sentence each.
    """

    cells: list[Cell]
    complaints: list[str]

    @property
    def records(self) -> list[Record]:
        return [record for cell in self.cells for record in cell.records]


def merge(paths: Sequence[Path], expectations: Callable[[str], Expectations], planned: Sequence[Path] = ()) -> Matrix:
    """Reads result files and holds the expectations against them.

    Args:
        paths: the result files.
        expectations: what is known to differ, by subject.
        planned: result files that there should be.

    Raises:
        BadResult: a file is incomplete, contradicts itself, is of another catalogue, or of a cell that another file
            holds too.
    """
    cells: dict[str, Cell] = {}
    for path in paths:
        cell = complete(read(path))
        if cell.name in cells:
            raise BadResult(f"{path} and {cells[cell.name].path} both hold the cell {cell.name}; keep one")
        cells[cell.name] = cell
    present = {path.resolve() for path in paths}
    missing = [path.stem for path in planned if path.resolve() not in present]
    complaints = [f"missing: {name} was planned and has no result" for name in missing]
    known = {subject: expectations(subject) for subject in {cell.header.subject for cell in cells.values()}}
    for cell in (ordered := in_order(list(cells.values()))):
        mine = known[cell.header.subject]
        cell.records = [mine.settle(record) for record in cell.records]
        complaints += _complaints(cell, mine)
    return Matrix(ordered, complaints)


def _complaints(cell: Cell, expectations: Expectations) -> Iterator[str]:
    head = cell.header
    if not head.full:
        yield f"partial: {cell.name} judged a part of the contracts"
    if head.subject in KNOWN:
        if head.suite != (now := suite_version(head.subject)):
            yield f"stale: {cell.name} was judged by suite {head.suite}, this is {now}; run it again"
        judged = {full_name(*record.key) for record in cell.records}
        for check in checks_of(find(head.subject)) if head.full else ():
            if check.name not in judged:
                yield f"missing: {cell.name} has no record of {check.name}"
    if head.full and any(record.outcome != "not-run" for record in cell.records):
        for problem in expectations.unmet(cell.records, head.warp, head.device):
            yield f"unexpected: {problem}"
    for record in unforeseen(cell.records):
        yield expectations.surprise(record)


def complete(cell: Cell) -> Cell:
    """The cell, if its run came to its end and judged this catalogue.

    Raises:
        BadResult: it did not, or the file contradicts itself.
    """
    if cell.footer is None:
        raise BadResult(
            f"{cell.path}: incomplete: {len(cell.records)} records and no footer; that run did not end, {_again(cell)}"
        )
    if cell.header.catalogue != catalogue_version():
        raise BadResult(
            f"{cell.path}: made with catalogue {cell.header.catalogue}, this is {catalogue_version()}; {_again(cell)}"
        )
    seen: set[tuple[str, str]] = set()
    for record in cell.records:
        place = f"{record.subject} {record.warp} {record.device}"
        if record.contract not in catalogue():
            raise BadResult(f"{cell.path}: unknown contract {record.contract!r}; {_again(cell)}")
        if place != cell.name:
            raise BadResult(f"{cell.path}: a record of {place} in a result of {cell.name}; {_again(cell)}")
        if record.key in seen:
            raise BadResult(f"{cell.path}: two records of {full_name(*record.key)}; {_again(cell)}")
        seen.add(record.key)
    return cell


def _again(cell: Cell) -> str:
    head = cell.header
    entry = head.subject if head.subject in KNOWN else ":".join(head.subject.rsplit(".", 1))
    subject = "" if entry == "warp" else f" --subject {entry}"
    return f"run it again: `tapecheck run{subject} --warp {head.warp} --device {head.device}`"


def results_in(folder: Path, subject: str | None = None) -> list[Path]:
    """The result files of a folder, of all subjects or of one; those that cannot be read too, so that it is said."""
    return [path for path in sorted(folder.glob("*.jsonl")) if subject is None or _subject_of(path) in (subject, None)]


def _subject_of(path: Path) -> str | None:
    try:
        return read(path).header.subject
    except BadResult:
        return None


def plan(folder: Path, versions: Sequence[str], devices: Sequence[str] = ("cpu",), subject: str = "warp") -> list[Path]:
    """The result files that a run of these releases on these devices makes."""
    return [cell_path(folder, subject, version, device) for version in versions for device in devices]
