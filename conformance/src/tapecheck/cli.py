"""The command line: `tapecheck run`, `matrix`, `upgrade`, `bench`, `bisect`, `explain`, `faults`, `hunt` and more."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from packaging.version import InvalidVersion, Version
from rich.markdown import Markdown
from rich.table import Column
from rich.table import Table as Grid

from tapecheck import __version__, bisection, cells, contracts, report, running, speed
from tapecheck import expectations as known
from tapecheck.capture import captured
from tapecheck.contract import FAMILIES, REGISTRY, Contract, catalogue, checks_named, did_you_mean
from tapecheck.expectations import fixing
from tapecheck.hunt import commands as hunting
from tapecheck.matrix import complete, merge, plan, results_in
from tapecheck.options import (
    BISECTIONS,
    JUDGED,
    RESULTS,
    SPEEDS,
    STORE,
    Devices,
    ExpectationFile,
    Files,
    Folder,
    Identifier,
    Names,
    OneDevice,
    Plan,
    Resume,
    SpeedFolder,
    Store,
    WarpOption,
    Workers,
    clear_errors,
    console,
)
from tapecheck.releases import Overlay, in_order, overlay, releases
from tapecheck.report import terminal
from tapecheck.report.page import page
from tapecheck.results import BadResult, Cell, Record, cell_path, installed_version, read
from tapecheck.subjects import KNOWN, find
from tapecheck.upgrade import compare

app = typer.Typer(
    help="Judges NVIDIA Warp's autodiff by executable contracts, release by release.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(hunting.hunt)
app.command("hunt-report")(hunting.report_hunt)


def _version(wanted: bool) -> None:
    if wanted:
        warp, torch = (installed_version(name) or "not installed" for name in ("warp-lang", "torch"))
        print(f"tapecheck {__version__}, Warp {warp}, torch {torch}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True)] = False,
) -> None:
    """Judges NVIDIA Warp's autodiff by executable contracts, release by release."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends what was started, too


@app.command()
def run(
    only: Names = None,
    subject: Annotated[str, typer.Option("--subject", help=f"{', '.join(KNOWN)}, or module:attribute.")] = "warp",
    warp: WarpOption = None,
    device: Devices = None,
    keyword: Annotated[str | None, typer.Option("-k", help="pytest's -k: only checks whose names match.")] = None,
    output: Folder = RESULTS,
    store: Store = STORE,
    workers: Workers = 2,
    resume: Resume = False,
    expectations: ExpectationFile = None,
) -> None:
    """Judge a subject on one Warp and its devices, and write a result file for each."""
    with clear_errors():
        names = _known_names(only or [])
        _find_quietly(subject)
        known.of(subject, expectations)
        status = cells.run(
            overlay(warp, store),
            output,
            device or [],
            subject=subject,
            only=names,
            workers=workers,
            resume=resume,
            expectations=expectations,
            pytest_arguments=["-k", keyword] if keyword else [],
        )
    raise typer.Exit(status)


@app.command()
def judge(
    subject: Annotated[str, typer.Argument(help="A probe, several, or a subject: module:attribute.")],
    only: Names = None,
    warp: WarpOption = None,
    device: OneDevice = "cpu",
    output: Folder = RESULTS,
    store: Store = STORE,
    workers: Workers = 2,
    expectations: ExpectationFile = None,
) -> None:
    """Judge a bridge of your own; the exit status is 0 only where it violates no contract."""
    with clear_errors():
        names = _known_names(only or [])
        _find_quietly(subject)
        chosen = overlay(warp, store)
        with console.status(f"judging {subject} on Warp {chosen.version} {device}"):
            status = cells.run(
                chosen,
                output,
                [device],
                subject=subject,
                only=names,
                workers=workers,
                expectations=expectations,
                quiet=True,
            )
        if status not in JUDGED:
            raise typer.Exit(status)
        path = cell_path(output / "partial" if names else output, subject, chosen.version, device)
        cell = complete(read(path))
    terminal.print_cell(console, cell)
    print(path.resolve())
    raise typer.Exit(status)


@app.command()
def matrix(
    files: Files = None,
    planned: Plan = None,
    output: Folder = RESULTS,
    subject: Annotated[
        str | None, typer.Option("--subject", help="One subject alone; the plan and the expectation file are its own.")
    ] = None,
    expectations: ExpectationFile = None,
    fix: Annotated[bool, typer.Option("--fix", help="Rewrite the expectation file to what was observed.")] = False,
) -> None:
    """Merge results into matrix.html, matrix.md and matrix.json."""
    with clear_errors():
        contracts.load()
        if fix or expectations:
            subject = subject or "warp"
        versions = _planned_versions(planned)
        wanted = plan(output, versions, subject=subject or "warp")
        chosen = files or [p for p in results_in(output, subject) if not versions or read(p).header.warp in versions]
        if not chosen and not wanted:
            raise BadResult(f"no result in {output}; make one with `tapecheck run --warp {releases()[-1]}`")
        merged = merge(chosen, lambda name: known.of(name, expectations), wanted)
        if fix:
            path = expectations or known.default_path(subject or "warp")
            for line in fixing.fix(path, known.load(path), merged) or ["nothing to fix"]:
                console.print(line, markup=False, highlight=False)
            return
        written = report.write_matrix(merged, output)
    terminal.print_matrix(console, report.table(merged))
    for where in written:
        print(where.resolve())
    raise typer.Exit(1 if merged.complaints else 0)


@app.command()
def upgrade(
    old: Annotated[str, typer.Argument(help="The release in use.")],
    new: Annotated[str, typer.Argument(help="The release to change to.")],
    only: Names = None,
    device: OneDevice = "cpu",
    output: Folder = RESULTS,
    store: Store = STORE,
    workers: Workers = 2,
    compare_speed: Annotated[bool, typer.Option("--speed/--no-speed", help="Compare the speeds too.")] = True,
) -> None:
    """Say what changes between two releases; the exit status is 0 only where no guarantee broke."""
    with clear_errors():
        names = _known_names(only or [])
        folder = output / "partial" if names else output
        overlays = [overlay(warp, store) for warp in dict.fromkeys((old, new))]
        judged = [_fresh_cell(warp, output, device, workers, names) for warp in overlays]
        verdict = compare(judged[0], judged[-1])
        verdict.only = names
        if compare_speed:
            verdict.speed = _timed(overlays[0], overlays[-1], device)
        written = report.write_verdict(verdict, folder)
    terminal.print_verdict(console, verdict)
    for where in written:
        print(where.resolve())
    raise typer.Exit(0 if verdict.safe else 1)


@app.command()
def bench(
    candidates: Annotated[
        list[str] | None, typer.Argument(help="Releases, wheel files or folders; left out, the everyday releases.")
    ] = None,
    base: Annotated[
        str | None, typer.Option(help="What the ratios are relative to; left out, the newest release listed.")
    ] = None,
    device: OneDevice = "cpu",
    output: SpeedFolder = SPEEDS,
    store: Store = STORE,
) -> None:
    """Time operations of Warp on each release and a base by turns; the table shows every comparison with that base."""
    with clear_errors():
        reference = overlay(base or releases()[-1], store)
        overlays = [overlay(candidate, store) for candidate in candidates or releases("default")]
        written = [speed.write(output, _timed(reference, candidate, device)) for candidate in overlays]
        speeds = speed.stored(output, reference.version, device)
    terminal.print_speeds(console, speeds)
    for where in written:
        print(where.resolve())
    raise typer.Exit(1 if any(speed.read(where).problems for where in written) else 0)


@app.command()
def bisect(
    identifier: Identifier,
    device: OneDevice = "cpu",
    results: Annotated[Path, typer.Option(help="Folder of earlier results: they say where to look first.")] = RESULTS,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the results made here.")] = BISECTIONS,
    store: Store = STORE,
) -> None:
    """Find the first release of the matrix in which an outcome, or an observation's value, flips."""
    with clear_errors():
        contracts.load()
        row, names = bisection.chosen(identifier)
        earlier = bisection.earlier(results, device)
        entries = known.load(known.default_path())
        found = bisection.bisect(
            identifier,
            releases(),
            lambda version: bisection.judge(row, names, version, device=device, folder=output, store=store),
            bisection.guesses(names, releases(), entries, earlier, device),
        )
    terminal.print_bisection(console, found)


@app.command()
def explain(
    identifier: Identifier,
    output: Folder = RESULTS,
    expectations: ExpectationFile = None,
) -> None:
    """Explain one contract, such as retain.last-write-wins: what must hold, what each Warp release does, what to write.

    Below stand the kernels in which that was seen, the check, and the faults that it was seen to catch.
    """
    with clear_errors():
        contracts.load()
        row, _ = checks_named(identifier)
        text = _page(row, _records(output), known.load(expectations or known.default_path()))
    console.print(Markdown(text))


@app.command()
def pages(
    only: Names = None,
    folder: Annotated[Path, typer.Option(help="Where to write them.")] = Path("build/pages"),
    output: Folder = RESULTS,
    expectations: ExpectationFile = None,
) -> None:
    """Write what `explain` shows as Markdown, a page a contract."""
    with clear_errors():
        names = set(_known_names(only or []))
        entries = known.load(expectations or known.default_path())
        records = _records(output)
        for row in catalogue().values():
            if not names or {row.id, row.family} & names:
                path = folder / row.family / f"{row.id}.md"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_page(row, records, entries), encoding="utf-8")
    print(folder.resolve())


def _page(row: Contract, records: list[Record], entries: known.Expectations) -> str:
    judged = [
        known.of(r.subject).settle(r) if r.subject != "warp" else entries.settle(r)
        for r in records
        if r.contract == row.id and r.outcome != "not-run"
    ]
    return page(row, judged, entries)


@app.command("list")
def list_contracts(
    only: Names = None,
) -> None:
    """List the catalogue: id, kind, what it judges, how many checks, statement; by tabs where it is piped."""
    with clear_errors():
        names = _known_names(only or [])
    grid = Grid(Column("contract", no_wrap=True), "kind", "judges", "checks", "statement")
    for row in catalogue().values():
        if not names or {row.id, row.family} & set(names):
            count = sum(check.contract.id == row.id for check in REGISTRY.values())
            line = (row.id, row.kind, row.judged, str(count or "untested"), row.statement)
            if console.is_terminal:
                grid.add_row(*line)
            else:
                print(*line, sep="\t")
    if console.is_terminal:
        console.print(grid)


@app.command()
def faults(
    only: Names = None,
    warp: WarpOption = None,
    store: Store = STORE,
    workers: Workers = 2,
) -> None:
    """Judge the checks: each fault must be caught as a violation, each near miss must pass."""
    with clear_errors():
        status = cells.faults(overlay(warp or releases()[-1], store), only=_known_names(only or []), workers=workers)
    raise typer.Exit(status)


def _timed(base: Overlay, candidate: Overlay, device: str) -> speed.Speed:
    with console.status(f"timing Warp {candidate.version} against {base.version} on {device}"):
        return speed.compare(base, candidate, device)


def _find_quietly(subject: str) -> None:
    """Finds a subject; where its module starts Warp, Warp has been started, and what it says of itself caught."""
    if subject not in KNOWN:
        with captured():
            running.prepare()
    find(subject)


def _known_names(names: Sequence[str]) -> list[str]:
    contracts.load()
    for name in names:
        if name not in FAMILIES and name not in catalogue():
            near = did_you_mean(name, [*FAMILIES, *catalogue()]) or "; `tapecheck list` shows all"
            raise LookupError(f"unknown family or contract {name!r}{near}")
    return list(names)


def _planned_versions(planned: str | None) -> list[str]:
    if planned is None:
        return []
    tagged = releases() if planned == "all" else releases(planned)
    try:
        return list(tagged) or [str(Version(version)) for version in planned.split(",")]
    except InvalidVersion as problem:
        raise LookupError(f"--plan {planned}: neither a tag, 'all', nor versions by commas ({problem})") from None


def _records(output: Path) -> list[Record]:
    found: list[Cell] = []
    for path in results_in(output):
        try:
            found.append(complete(read(path)))
        except BadResult:
            continue
    return [record for cell in in_order(found) for record in cell.records]


def _fresh_cell(warp: Overlay, output: Path, device: str, workers: int, only: Sequence[str]) -> Cell:
    path = cell_path(output / "partial" if only else output, "warp", warp.version, device)
    cell = None if only else cells.fresh(path, "warp", warp)
    if cell is None:
        quiet = not console.is_terminal
        if (status := cells.run(warp, output, [device], only=only, workers=workers, quiet=quiet)) not in JUDGED:
            raise typer.Exit(status)
        cell = complete(read(path))
    else:
        print(f"fresh result: {path}", file=sys.stderr)
    return cell


if __name__ == "__main__":
    app()
