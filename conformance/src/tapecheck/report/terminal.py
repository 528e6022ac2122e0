"""What the commands print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from tapecheck.bisection import Bisection
from tapecheck.contract import catalogue, contract, full_name
from tapecheck.report import MARKS, Row, Table, by_effect
from tapecheck.results import Cell
from tapecheck.speed import Comparison, Speed
from tapecheck.upgrade import Verdict

STYLES = {"pass": "green", "fail": "yellow", "unsupported": "dim", "untested": "dim", "not-run": "dim"}
SPEED_STYLES = {"slower": "bold red", "not slower": "green", "inconclusive": "dim"}


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
    """Every outcome, each violated contract with evidence and hint, then what was not judged and why."""
    head, rows = cell.header, list(catalogue())
    records = sorted(cell.records, key=lambda record: (rows.index(record.contract), record.case))
    console.rule(f"{head.subject} on Warp {head.warp} {head.device}")
    grid = Grid("contract", "outcome")
    for record in (record for record in records if record.outcome != "untested"):
        name = escape(full_name(*record.key))
        grid.add_row(name, f"[{STYLES.get(record.outcome, 'red')}]{record.outcome}[/]")
    console.print(grid)
    for record in records:
        if record.bad:
            row = contract(record.contract)
            name = escape(full_name(*record.key))
            console.print(f"\n[bold red]{record.outcome}[/] [bold]{name}[/]", highlight=False)
            for line in (row.statement, record.message.strip(), f"instead: {row.hint}"):
                console.print(f"  {escape(line)}", highlight=False)
    console.print()
    untested = sorted({record.contract for record in records if record.outcome == "untested"})
    if untested:
        console.print(f"untested, no check yet: {', '.join(untested)}", style="dim", markup=False, highlight=False)
    for record in records:
        if record.outcome not in ("pass", "untested") and not record.bad:
            name = full_name(*record.key)
            console.print(f"{record.outcome}: {name}: {record.message}", style="dim", markup=False, highlight=False)
    outcomes = Counter(record.outcome for record in records)
    console.print("  ".join(f"{MARKS[name]} {name} {count}" for name, count in outcomes.items()), highlight=False)


def print_verdict(console: Console, verdict: Verdict) -> None:
    """Every flip with both observations, and what to write instead."""
    console.rule(verdict.title)
    for effect, meaning, count, contracts in by_effect(verdict.flips):
        console.print(f"\n[bold]{effect}[/] ({count}): {meaning}")
        for flipped in contracts:
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
