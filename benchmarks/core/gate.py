"""The gate: what a change must not make worse, in three tiers.

Counts are exact, and must be those of `budgets.toml`. Times are compared with those of a base commit, by turns in
processes that stay, and each verdict is held against a second process of the base: where that looks slower, the
machine is not fit to judge. pytest-benchmark keeps a history, which is shown and judges nothing but its completeness.

    nox -s bench_gate                      # against HEAD: what is not committed yet
    nox -s bench_gate -- --base main~5
    nox -s bench_gate -- --counts          # the exact tier alone
    nox -s bench_gate -- --counts --write  # when a budget is changed on purpose
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import tomlkit
import tomllib
from rich.console import Console
from rich.progress import track
from rich.table import Table
from workloads import WORKLOADS

from tapecheck.releases import Overlay
from tapecheck.speed import CannotTime, Estimate, Worker, estimate

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
BUDGETS = HERE / "budgets.toml"
BUILD = ROOT / "build/gate"
SOURCES = "packages/core/src"
TABLE = "workloads"
MARGIN, TOLERATED = 0.10, 0.03
"""A benchmark is worse if it is surely slower by more than the one, and not worse if surely by less than the other."""
ROUNDS, BLOCK, BLOCKS = 20, 4, 4
QUIETLY = {"OMP_NUM_THREADS": "1", "WARP_CACHE_PATH": str(BUILD / "kernels")}


class Timed(NamedTuple):
    """One benchmark on a base, a candidate, and the base once more.

    Attributes:
        name: of the benchmark.
        candidate: its time beside the base's.
        twin: that of the second process of the base.
    """

    name: str
    candidate: Estimate
    twin: Estimate

    @property
    def verdict(self) -> str:
        """`worse`, `not worse` or `inconclusive`."""
        if self.candidate.verdict == "slower":
            return "worse" if self.twin.verdict != "slower" and self.candidate.low > self.twin.high else "inconclusive"
        return {"not slower": "not worse"}.get(self.candidate.verdict, "inconclusive")


def compared(name: str, times: Sequence[Sequence[float]]) -> Timed:
    """What the seconds of base, candidate and twin say, round by round.

    Raises:
        ValueError: there is a time that is none.
    """
    base, candidate, twin = times
    beside = {"margin": MARGIN, "tolerated": TOLERATED, "block": BLOCK}
    return Timed(name, estimate(base, candidate, **beside), estimate(base, twin, **beside))


def incomplete(expected: Sequence[str], found: Mapping[str, float | None], where: str) -> list[str]:
    """What is wrong with a set of benchmarks: each one that is expected must be there, no other, with a number."""
    complaints = [f"{where}: {name} is missing, renamed, skipped or disabled" for name in expected if name not in found]
    complaints += [f"{where}: {name} is not in {BUDGETS.name}" for name in found if name not in expected]
    numbers = {name: value for name, value in found.items() if name in expected}
    return complaints + [
        f"{where}: {name} has no time, but {value}"
        for name, value in numbers.items()
        if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0)
    ]


def overspent(budgets: Mapping[str, Mapping[str, int]], counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """What was counted otherwise than the budgets say, or is not in them."""
    return [
        f"{name}: {what} {budget.get(what)} → {counts[name].get(what)}"
        for name, budget in budgets.items()
        if name in counts
        for what in counts[name] | budget
        if counts[name].get(what) != budget.get(what)
    ]


@contextmanager
def workers(trees: Sequence[Path]) -> Iterator[list[Worker]]:
    """A process for each tree, all with the workloads of this folder."""
    with ExitStack() as stack:
        made = []
        for tree in trees:
            path = [str(tree / SOURCES), str(HERE), os.environ.get("PYTHONPATH", "")]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path)), **QUIETLY}
            made.append(Worker(Overlay(tree.name, environment), "cpu", TABLE))
            stack.callback(made[-1].close)
        for worker in made:
            worker.tell("prepare")
        yield made


def prepared(worker: Worker) -> dict[str, str]:
    """What a worker could not set up, once it is ready."""
    problems = worker.hear().problems
    worker.keep_kernels()
    return problems


def counts_of(tree: Path, names: Sequence[str]) -> tuple[dict[str, dict[str, int]], list[str]]:
    """The exact figures of a tree, and complaints."""
    counts: dict[str, dict[str, int]] = {}
    with workers([tree]) as (worker,):
        try:
            problems = prepared(worker)
            counts |= {name: worker.ask("count", name).counts for name in names if name not in problems}
        except CannotTime as problem:
            return counts, [f"counts: {problem}"]
    return counts, [f"counts: {name}: {problem}" for name, problem in problems.items()]


def times_of(base: Path, candidate: Path, names: Sequence[str]) -> tuple[list[Timed], list[str]]:
    """Every benchmark by turns, in reversed order on even rounds; and complaints."""
    with workers([base, candidate, base]) as sides:
        complaints = [
            f"times: {name} of the {side}: {problem}"
            for side, worker in zip(("base", "candidate", "base"), sides, strict=True)
            for name, problem in prepared(worker).items()
        ]
        if complaints:
            return [], complaints
        calls = {name: sides[0].ask("calibrate", name).calls for name in names}
        times: dict[str, list[list[float]]] = {name: [[], [], []] for name in names}
        for number in track(range(ROUNDS), "rounds", console=Console(stderr=True)):
            for name in names:
                for at in (0, 1, 2) if number % 2 else (2, 1, 0):
                    seconds = sides[at].ask("time", name, calls=calls[name], blocks=BLOCKS).seconds
                    times[name][at].append(seconds)
    timed = []
    for name in names:
        try:
            timed.append(compared(name, times[name]))
        except ValueError as problem:
            complaints.append(f"times: {name}: {problem}")
    return timed, complaints


def tree_of(commit: str) -> Path:
    """The sources of a commit, in a folder of their own; of a folder, that.

    Raises:
        CannotTime: it is neither, or holds no core: another one that is installed would be timed in its place.
    """
    folder = Path(commit)
    if not folder.is_dir():
        asked = ["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"]
        sha = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        if not sha:
            raise CannotTime(f"{commit} is neither a commit nor a folder")
        folder = BUILD / "base" / sha
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as scratch:  # it appears whole, or not at all
            tree, archive = Path(scratch, "tree"), ["git", "-C", str(ROOT), "archive", sha, SOURCES]
            tree.mkdir()
            packed = subprocess.run(archive, capture_output=True, check=False).stdout
            subprocess.run(["tar", "-x", "-C", str(tree)], input=packed, capture_output=True, check=False)
            checked(tree).rename(folder)
    return checked(folder)


def checked(tree: Path) -> Path:
    """A folder that holds the core.

    Raises:
        CannotTime: it does not.
    """
    if not (tree / SOURCES / "sphweft/__init__.py").is_file():
        raise CannotTime(f"{tree} holds no {SOURCES}/sphweft")
    return tree


def read_budgets(path: Path = BUDGETS) -> dict[str, dict[str, int]]:
    """Benchmark by benchmark."""
    return tomllib.loads(path.read_text())


def write_budgets(counts: Mapping[str, Mapping[str, int]]) -> None:
    """A line a benchmark, below what is said about them."""
    document = tomlkit.parse(BUDGETS.read_text())
    for name in list(document):
        del document[name]
    for name, figures in counts.items():
        document[name] = tomlkit.inline_table()
        document[name].update(figures)  # type: ignore[union-attr]
    BUDGETS.write_text(tomlkit.dumps(document))


def history(path: Path) -> dict[str, float | None]:
    """The median seconds of each benchmark in a file of pytest-benchmark; None where it was not timed."""
    try:
        return {
            str(row["name"]).partition("[")[2].rstrip("]"): (row.get("stats") or {}).get("median")
            for row in json.loads(path.read_bytes())["benchmarks"]
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # no such file, or none of its kind
        return {}


def shown(console: Console, timed: Sequence[Timed]) -> None:
    """Every benchmark that is not simply as fast as before, or all of them on one line."""
    table = Table("benchmark", "time beside the base's", "base beside itself", "", title="Times")
    for row in timed:
        if row.verdict != "not worse":
            ratios = [f"{each.ratio:.3f} ({each.low:.3f} to {each.high:.3f})" for each in (row.candidate, row.twin)]
            table.add_row(row.name, *ratios, row.verdict)
    if table.row_count:
        console.print(table)
    verdicts = [row.verdict for row in timed]
    console.print(", ".join(f"{verdicts.count(v)} {v}" for v in ("worse", "inconclusive", "not worse")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="HEAD", help="a commit, or a folder that holds packages/core/src")
    parser.add_argument("--candidate", type=Path, default=ROOT, help="a folder that holds packages/core/src")
    parser.add_argument("--counts", action="store_true", help="the exact tier alone")
    parser.add_argument("--write", action="store_true", help="write what is counted into the budgets")
    parser.add_argument("--only", nargs="+", metavar="BENCHMARK", help="time these alone")
    parser.add_argument("--history", type=Path, help="a file of pytest-benchmark that must be complete")
    given = parser.parse_args()
    if unknown := set(given.only or ()) - set(WORKLOADS):
        parser.error(f"--only: no benchmark is called {', '.join(sorted(unknown))}")
    try:
        candidate, base = checked(given.candidate), None if given.counts else tree_of(given.base)
        budgets = read_budgets()
    except (CannotTime, OSError, tomllib.TOMLDecodeError) as problem:
        parser.error(str(problem))
    console = Console(width=None if sys.stdout.isatty() else 140)
    counts, complaints = counts_of(candidate, list(WORKLOADS))
    if given.write and not complaints:
        write_budgets(counts)
        budgets = read_budgets()
    complaints += incomplete(list(budgets), dict.fromkeys(WORKLOADS, 1.0), "counts")
    complaints += overspent(budgets, counts)
    console.print(f"{len(counts)} benchmarks counted")
    if given.history:
        complaints += incomplete(list(budgets), history(given.history), "history")
    if base and not complaints:
        try:
            timed, problems = times_of(base, candidate, given.only or list(budgets))
        except CannotTime as problem:
            timed, problems = [], [f"times: {problem}"]
        shown(console, timed)
        complaints += problems + [f"times: {row.name} is worse" for row in timed if row.verdict == "worse"]
    for complaint in complaints:
        console.print(f"[bold red]{complaint}[/]", highlight=False)
    console.print("the gate is closed" if complaints else "the gate is open")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
