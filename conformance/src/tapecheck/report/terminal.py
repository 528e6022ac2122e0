"""What the commands print."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from tapecheck.report import MARKS, Row, Table, by_effect
from tapecheck.upgrade import Verdict

STYLES = {"pass": "green", "fail": "yellow", "unsupported": "dim", "untested": "dim", "not-run": "dim"}


def print_matrix(console: Console, table: Table) -> None:
    """A line a family, with how many of each outcome in each column; then what is wrong."""
    grid = Grid("family", *(f"{warp}\n{device}" for warp, device in table.columns), title="Contracts by Warp release")
    for family, rows in table.families.items():
        grid.add_row(family, *(_counts(rows, column) for column in range(len(table.columns))))
    console.print(grid)
    legend = "  ".join(f"{MARKS[outcome]} {outcome} {count}" for outcome, count in table.counts.items())
    console.print(legend, highlight=False)
    for line in table.not_run:
        console.print(f"not run: {line}", style="dim", markup=False, highlight=False)
    for complaint in table.complaints:
        console.print(complaint, style="bold red", markup=False, highlight=False)


def _counts(rows: list[Row], column: int) -> str:
    outcomes = Counter(record.outcome for row in rows if (record := row.cells[column]) is not None)
    return " ".join(f"[{STYLES.get(name, 'red')}]{MARKS[name]}{count}[/]" for name, count in outcomes.most_common())


def print_verdict(console: Console, verdict: Verdict) -> None:
    """Every flip with both observations, and what to write instead."""
    console.rule(f"Warp {verdict.old} → {verdict.new} on {verdict.device}")
    for effect, meaning, flips in by_effect(verdict.flips):
        console.print(f"\n[bold]{effect}[/] ({len(flips)}): {meaning}")
        for flip in flips:
            heading = f"{flip.name}  {flip.kind}: {flip.old_outcome} → {flip.new_outcome}"
            console.print(f"\n  [bold]{escape(heading)}[/]", highlight=False)
            for line in (flip.statement, *flip.changes, f"instead: {flip.hint}"):
                console.print(f"    {escape(line)}", highlight=False)
    if not verdict.flips:
        console.print("No contract flips.")
    broken = sum(flip.effect == "broken" for flip in verdict.flips)
    console.print("\n[green]No guarantee broke.[/]" if verdict.safe else f"\n[bold red]Guarantees broken: {broken}.[/]")
