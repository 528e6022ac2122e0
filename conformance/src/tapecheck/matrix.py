"""Merges the result files of many cells into one matrix, and says what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from tapecheck.contract import full_name
from tapecheck.expectations import Expectations, unforeseen
from tapecheck.releases import in_order
from tapecheck.results import BadResult, Cell, Record, catalogue_version, cell_path, read


class Matrix(msgspec.Struct):
    """Every record of some cells, and what keeps the whole from being good.

    Attributes:
        cells: by subject, then by release, oldest first, then by device.
        missing: cells that were planned and have no result.
        problems: unmet expectations, a sentence each.
    """

    cells: list[Cell]
    missing: list[str]
    problems: list[str]

    @property
    def records(self) -> list[Record]:
        return [record for cell in self.cells for record in cell.records]

    @property
    def complaints(self) -> list[str]:
        """Everything that makes the run fail, a sentence each."""
        found = [f"missing: {name} was planned and has no result" for name in self.missing]
        found += [f"partial: {cell.name} judged a part of the contracts" for cell in self.cells if not cell.header.full]
        found += [f"unexpected: {problem}" for problem in self.problems]
        for record in unforeseen(self.records):
            judged = "" if record.subject == "warp" else f"{record.subject}: "
            where = f"{judged}{full_name(record.contract, record.case)} on Warp {record.warp} {record.device}"
            found.append(f"{record.expectation}: {where}: {record.outcome}: {record.message}")
        return found


def merge(paths: Sequence[Path], expectations: Callable[[str], Expectations], planned: Sequence[Path] = ()) -> Matrix:
    """Reads result files and holds the expectations against them.

    Args:
        paths: the result files.
        expectations: what is known to differ, by subject.
        planned: result files that there should be.

    Raises:
        BadResult: a file is incomplete, of another catalogue, or of a cell that another file holds too.
    """
    cells: dict[str, Cell] = {}
    for path in paths:
        cell = complete(read(path))
        if cell.name in cells:
            raise BadResult(f"{path} and {cells[cell.name].path} both hold the cell {cell.name}; keep one")
        cells[cell.name] = cell
    problems: list[str] = []
    known = {subject: expectations(subject) for subject in {cell.header.subject for cell in cells.values()}}
    for cell in cells.values():
        mine = known[cell.header.subject]
        cell.records = [mine.settle(record) for record in cell.records]
        if cell.header.full and any(record.outcome != "not-run" for record in cell.records):
            problems += mine.unmet(cell.records, cell.header.warp, cell.header.device)
    present = {path.resolve() for path in paths}
    missing = [path.stem for path in planned if path.resolve() not in present]
    return Matrix(in_order(list(cells.values())), missing, problems)


def complete(cell: Cell) -> Cell:
    """The cell, if its run came to its end and judged this catalogue.

    Raises:
        BadResult: it did not.
    """
    if cell.footer is None:
        raise BadResult(
            f"{cell.path}: incomplete: {len(cell.records)} records and no footer; that run did not end, run it again"
        )
    if cell.header.catalogue != catalogue_version():
        raise BadResult(
            f"{cell.path}: made with catalogue {cell.header.catalogue}, this is {catalogue_version()}; run it again"
        )
    return cell


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
