"""The commands of the hunt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tapecheck.contract import did_you_mean
from tapecheck.hunt import report, running
from tapecheck.hunt.trial import GROUPS
from tapecheck.options import HUNT, STORE, Folder, Store, WarpOption, clear_errors, console
from tapecheck.releases import overlay


def hunt(
    warp: WarpOption = None,
    only: Annotated[list[str] | None, typer.Argument(help="Groups of kernels; left out, all.")] = None,
    device: Annotated[str, typer.Option(help="Warp device.")] = "cpu",
    output: Folder = HUNT,
    store: Store = STORE,
) -> None:
    """Try many small kernels on one Warp: the tape's gradients against differences."""
    with clear_errors():
        for name in only or []:
            if name not in GROUPS:
                raise LookupError(f"unknown group {name!r}{did_you_mean(name, GROUPS)}")
        path = running.hunt(overlay(warp, store), output / "partial" if only else output, device, only or GROUPS)
    for finding in running.read(path):
        if finding.outcome != "right":
            console.print(f"{finding.outcome:12} {finding.group} {finding.name}", markup=False, highlight=False)
    print(path.resolve())


def report_hunt(
    output: Folder = HUNT,
    page: Annotated[Path, typer.Option(help="The report.")] = Path("docs/hunt.md"),
) -> None:
    """Merge what the hunt found on all releases into one page."""
    with clear_errors():
        amiss = report.write(output, page)
    for line in amiss:
        console.print(line, markup=False, highlight=False)
    print(page.resolve())
    raise typer.Exit(1 if amiss else 0)
