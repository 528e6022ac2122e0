"""What the commands print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import median
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from tapecheck.bisection import Bisection
from tapecheck.contract import catalogue, contract, full_name
from tapecheck.report import MARKS, Row, Table, by_effect
from tapecheck.results import Cell, Outcome, Record
from tapecheck.speed import Comparison, Speed
from tapecheck.upgrade import Verdict

STYLES = {"pass": "green", "fail": "yellow", "unsupported": "dim", "untested": "dim", "not-run": "dim"}
SPEED_STYLES = {"slower": "bold red", "not slower": "green", "inconclusive": "dim"}

SEVERITY: tuple[Outcome, ...] = (
    *("crash", "timeout", "error", "fail"),
    *("blocked", "not-run", "pass", "unsupported", "untested"),
)
"""The outcomes of a contract's cases, the one first that speaks for all of them."""


def print_matrix(console: Console, table: Table) -> None:
    """A line a family, with how many of each outcome in each column; then what is wrong."""
    grid = Grid(
        Column("family", no_wrap=True),
        *("\n".join(column) for column in table.columns),
        title="Contracts by Warp release",
    )
    for family, rows in table.families.items():
        grid.add_row(family, *(_counts(rows, column) for column in range(len(table.columns))))
    console.print(grid)
    legend = "  ".join(f"{MARKS[outcome]} {outcome} {count}" for outcome, count in table.counts.items())
    console.print(legend, highlight=False)
    for line in table.not_run:
        console.print(f"not run: {line}", style="dim", markup=False, highlight=False)
    for complaint in table.complaints:
        console.print(complaint, style="bold red", markup=False, highlight=False)
    if table.good:
        console.print(table.good, style="green" if table.columns else "yellow", highlight=False)


def _counts(rows: list[Row], column: int) -> str:
    outcomes = Counter(record.outcome for row in rows if (record := row.cells[column]) is not None)
    return " ".join(f"[{STYLES.get(name, 'red')}]{MARKS[name]}{count}[/]" for name, count in outcomes.most_common())


def print_cell(console: Console, cell: Cell) -> None:
    """A line a contract, the worst first; each violated one with evidence and hint; what was refused or not judged."""
    head, contracts = cell.header, _by_severity(cell.records)
    console.rule(f"{head.subject} on Warp {head.warp} {head.device}")
    grid = Grid("contract", "outcome")
    for records in contracts:
        if (worst := _worst(records)) != "untested":
            grid.add_row(records[0].contract, f"[{STYLES.get(worst, 'red')}]{worst}[/]{_how_many(records)}")
    console.print(grid)
    for records in contracts:
        if bad := [record for record in records if record.bad]:
            row = contract(bad[0].contract)
            console.print(f"\n[bold red]{_worst(bad)}[/] [bold]{row.id}[/]{_how_many(records)}", highlight=False)
            for line in (row.statement, *_told(bad), f"instead: {row.hint}"):
                console.print(f"  {escape(line)}", highlight=False)
    console.print()
    for line in _asides([record for records in contracts for record in records]):
        console.print(line, style="dim", markup=False, highlight=False)
    outcomes = Counter(map(_worst, contracts))
    refusing = sum(any(map(_refused, records)) for records in contracts if _worst(records) == "pass")
    counts = [f"{count} {outcome}" for outcome, count in outcomes.items()]
    counts = [f"{line} ({refusing} by refusing)" if refusing and line.endswith("pass") else line for line in counts]
    console.print(f"{len(contracts)} contracts: {', '.join(counts)}", highlight=False)


def _by_severity(records: Sequence[Record]) -> list[list[Record]]:
    """The cases of each contract, the worst contract first: what goes wrong silently before what raises."""
    rows = list(catalogue())
    ordered = sorted(records, key=lambda record: (rows.index(record.contract), record.case))
    contracts = [list(cases) for _, cases in groupby(ordered, key=lambda record: record.contract)]
    return sorted(contracts, key=lambda cases: (SEVERITY.index(_worst(cases)), all(map(_raised, cases))))


def _worst(records: Sequence[Record]) -> Outcome:
    return min((record.outcome for record in records), key=SEVERITY.index)


def _raised(record: Record) -> bool:
    return not record.bad or "expected no error" in record.message


def _refused(record: Record) -> list[str]:
    """The errors by which a subject kept a contract that lets it refuse."""
    return sorted(set(_refusals(record.observed))) if record.outcome == "pass" else []


def _refusals(observed: Any) -> Iterator[str]:
    if isinstance(observed, dict):
        for value in observed.values():
            yield from _refusals(value)
    elif isinstance(observed, str) and observed.startswith("refused: "):
        yield observed.removeprefix("refused: ")


def _how_many(records: Sequence[Record]) -> str:
    """In how many of the cases the worst outcome came, where they differ; and whether a pass is a refusal."""
    worst = [record for record in records if record.outcome == _worst(records)]
    of = f" of {len(records)} cases"
    if refusing := sum(1 for record in worst if _refused(record)):
        return " (refuses)" if refusing == len(records) else f" (refuses in {refusing}{of})"
    return f" ({len(worst)}{of})" if len(worst) < len(records) or (len(records) > 1 and worst[0].bad) else ""


def _told(records: Sequence[Record]) -> list[str]:
    """What was seen, once for all cases in which it is the same."""
    cases: dict[str, list[str]] = {}
    for record in records:
        cases.setdefault(record.message.strip(), []).append(record.case)
    return [f"{', '.join(names)}: {message}" if any(names) else message for message, names in cases.items()]


def _asides(records: Sequence[Record]) -> list[str]:
    """What was kept by refusing, and what was not judged, with the reason, once for all of which it is the same."""
    names: dict[str, list[str]] = {}
    for record in records:
        said = [f"refuses: {error}" for error in _refused(record)]
        if record.outcome == "untested":
            said = ["untested, no check yet"]
        elif record.outcome != "pass" and not record.bad:
            said = [f"{record.outcome}: {record.message}"]
        for line in said:
            names.setdefault(line, []).append(full_name(*record.key))
    return [f"{line}: {', '.join(dict.fromkeys(told))}" for line, told in names.items()]


def print_verdict(console: Console, verdict: Verdict) -> None:
    """Every flip with both observations, and what to write instead."""
    console.rule(verdict.title)
    for group in by_effect(verdict):
        console.print(f"\n[bold]{group.heading}[/]: {group.meaning}", highlight=False)
        for flipped in group.contracts:
            console.print(f"\n  [bold]{flipped.contract}[/]", highlight=False)
            lines = [(4, flipped.statement)]
            for way, changes in flipped.ways.items():
                lines += [(4, way), *((6, change) for change in changes)]
            for indent, line in (*lines, (4, f"instead: {flipped.hint}")):
                console.print(Padding(Text(line), (0, 0, 0, indent), expand=False))
    if not verdict.flips and not verdict.unanswered:
        console.print("No contract flips.")
    if verdict.speed:
        console.print()
        print_speeds(console, [verdict.speed])
    for line in verdict.unanswered:
        console.print(f"not answered: {line}", style="yellow", markup=False, highlight=False)
    console.print(f"\n{verdict.sentence}", style="green" if verdict.safe else "bold red", highlight=False)


def print_speeds(console: Console, speeds: Sequence[Speed]) -> None:
    """A line a benchmark, a column a release: how long a call takes relative to the base; then what was not timed."""
    base, margin = speeds[0].base, speeds[0].margin
    columns = (f"{speed.candidate} / {base}" for speed in speeds)
    grid = Grid("benchmark", "base [µs]", *columns, title=f"Time relative to Warp {base} on {speeds[0].device}")
    for rows in zip(*(speed.comparisons for speed in speeds), strict=True):
        seconds = next((f"{median(row.base_seconds) * 1e6:.4g}" for row in rows if row.base_seconds), "")
        grid.add_row(rows[0].benchmark, seconds, *map(_ratio, rows))
    console.print(grid)
    confidence = f"{speeds[0].confidence:.0%} interval"
    rule = f"slower: the whole {confidence} lies above {1 + margin:.2f}; not slower: below; otherwise inconclusive"
    console.print(rule, style="dim", highlight=False)
    for problem in (f"Warp {speed.candidate}: {problem}" for speed in speeds for problem in speed.problems):
        console.print(f"not timed: {problem}", style="yellow", markup=False, highlight=False)


def _ratio(row: Comparison) -> str:
    if row.estimate is None:
        return "not timed"
    found = row.estimate
    text = f"{found.ratio:.2f} ({found.low:.2f} to {found.high:.2f}) {found.verdict}"
    return "\n".join([f"[{SPEED_STYLES[found.verdict]}]{text}[/]", *(f"[dim]{line}[/]" for line in row.changed_counts)])


def print_bisection(console: Console, found: Bisection) -> None:
    """What each judged release showed, and where it flips."""
    grid = Grid("Warp", found.name, "shows")
    for probe in found.probes:
        grid.add_row(probe.version, "\n".join(probe.outcomes), escape("\n".join(probe.shown)))
    console.print(grid)
    console.print(escape(found.sentence), style="bold", highlight=False)
