"""The core beside its contenders, by turns in one run, and the bars that it has to clear.

On a machine that does other things too, only ratios of one round mean anything. Each round times every contender once,
in another order; a bar is held against the median of the rounds' ratios.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from random import Random
from statistics import median
from typing import Any, NamedTuple

import torch
from contenders import BACKWARD, CONTENDERS, FORWARD, JVP, NO_GRADIENT, TANGENT, TWICE, Case
from rich.console import Console
from rich.table import Table

ONCE, AGAIN = "backward", "double backward"
DIFFERENCES = {ONCE: (BACKWARD, FORWARD), AGAIN: (TWICE, BACKWARD)}
"""Ways whose time is that of one without that of another."""


class Bar(NamedTuple):
    """What a ratio of times has to keep: sphweft's, divided by another.

    Attributes:
        count: particles.
        way: of sphweft.
        contender: whose time it is divided by.
        limit: the largest ratio that is good.
        other: the contender's way; left out, the same.
    """

    count: int
    way: str
    contender: str
    limit: float
    other: str = ""

    @property
    def beside(self) -> str:
        """What its time is divided by."""
        return f"{self.contender}, {self.other}" if self.other else self.contender


OPERATORS = ("density", "gradient")
OURS = "sphweft"
BARS = (
    Bar(16, NO_GRADIENT, "warpsphcore", 0.15),
    Bar(16, NO_GRADIENT, "plain torch", 0.9),
    Bar(16, BACKWARD, "warpsphcore", 0.3),
    Bar(16, TANGENT, "warpsphcore", 0.15),
    Bar(100_000, NO_GRADIENT, "warpsphcore", 1 / 4),
    Bar(100_000, NO_GRADIENT, "hand-written kernel", 1 / 0.7),
    Bar(100_000, ONCE, "warpsphcore", 1 / 4),
    Bar(100_000, JVP, OURS, 2.5, NO_GRADIENT),
    Bar(100_000, AGAIN, OURS, 4, ONCE),
)
COLD_LIMIT = 8.0
"""Seconds that the first call of an operator may take with nothing compiled, the import and the particles apart."""

COLD = """
import time, torch, sphweft
n = 16
ones, kinds = torch.ones(n), torch.zeros(n, dtype=torch.int32)
state = sphweft.ParticleState(torch.rand(n, 3), ones, ones, kinds, ones)
everybody = sphweft.AdjacencyList.from_pairs(*torch.ones(n, n).nonzero().T, n, n)
begin = time.perf_counter()
sphweft.{call}
print(time.perf_counter() - begin)
"""
CALLS = {"density": "density(state, everybody)", "gradient": "gradient(state, torch.rand(n, 3), everybody)"}

Times = dict[tuple[str, int, str, str], list[float]]
"""Seconds of each round, by operator, count, way and contender."""


def timed(call: Callable[[], Any], calls: int) -> float:
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def measure(counts: Sequence[int], rounds: int) -> Times:
    """Times everything that there is."""
    times: Times = {}
    for operator in OPERATORS:
        for count in counts:
            cases = [Case(operator, count, grad) for grad in (False, True)]
            ways: dict[tuple[str, str], Callable[[], Any]] = {
                (way, name): call
                for case in cases
                for name, contender in CONTENDERS.items()
                for way, call in contender(case).items()
            }
            number = {key: calls_for(call) for key, call in ways.items()}
            fewer = max(5, min(rounds, math.ceil(rounds * 2000 / count)))
            for at in range(fewer):
                for key in Random(at).sample(list(ways), len(ways)):
                    times.setdefault((operator, count, *key), []).append(timed(ways[key], number[key]))
    for operator, count, way, name in list(times):
        for difference, (whole, part) in DIFFERENCES.items():
            if way == whole:
                pairs = zip(times[operator, count, whole, name], times[operator, count, part, name], strict=True)
                times[operator, count, difference, name] = [a - b for a, b in pairs]
    return times


def calls_for(call: Callable[[], Any]) -> int:
    """How many calls take about 10 ms; it warms up as well."""
    for _ in range(3):
        call()
    return max(1, int(0.01 / timed(call, 1)))


def ratios(times: Times, operator: str, bar: Bar) -> list[float]:
    """Of each round."""
    ours = times.get((operator, bar.count, bar.way, OURS), [])
    theirs = times.get((operator, bar.count, bar.other or bar.way, bar.contender), [])
    return sorted(a / b for a, b in zip(ours, theirs, strict=False))


def spread(values: Sequence[float]) -> str:
    """The median, and the middle half."""
    return f"{median(values):.3f} ({values[len(values) // 4]:.3f} to {values[-1 - len(values) // 4]:.3f})"


def cold_seconds(operator: str) -> float:
    """Seconds of the first call in a process of its own, with an empty kernel cache."""
    with tempfile.TemporaryDirectory() as kernels:
        environment = {**os.environ, "WARP_CACHE_PATH": kernels}
        program = COLD.format(call=CALLS[operator])
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        return float(done.stdout.split()[-1])


def print_times(console: Console, times: Times) -> None:
    """Every time, in µs: median of the rounds."""
    names = [name for name in CONTENDERS if any(key[3] == name for key in times)]
    table = Table("operator", "particles", "way", *names, title="µs a call, median")
    for operator, count, way in dict.fromkeys(key[:3] for key in times):
        found = [times.get((operator, count, way, name)) for name in names]
        table.add_row(operator, f"{count}", way, *(f"{1e6 * median(t):,.0f}" if t else "" for t in found))
    console.print(table)


def print_bars(console: Console, times: Times, cold: dict[str, float]) -> int:
    """Every bar and what was measured; the number of those that are missed."""
    table = Table("what", "bar", "measured", "", title="Bars: time of sphweft, divided by another's")
    missed = 0

    def add(what: str, limit: str, measured: str, good: bool) -> None:
        nonlocal missed
        missed += not good
        table.add_row(what, limit, measured, "met" if good else "[bold red]missed[/]")

    for bar in BARS:
        for operator in OPERATORS:
            found = ratios(times, operator, bar)
            what = f"{operator}, {bar.count} particles, {bar.way} / {bar.beside}"
            if found:
                add(what, f"≤ {bar.limit:.3g}", spread(found), median(found) <= bar.limit)
            else:
                table.add_row(what, f"≤ {bar.limit:.3g}", "not measured", "")
    for operator, seconds in cold.items():
        add(
            f"{operator}, first call, nothing compiled",
            f"≤ {COLD_LIMIT:g} s",
            f"{seconds:.1f} s",
            seconds <= COLD_LIMIT,
        )
    console.print(table)
    return missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="+", default=[16, 10_000, 100_000], help="numbers of particles")
    parser.add_argument("--rounds", type=int, default=40, help="of the smallest ones; fewer where a call is long")
    parser.add_argument("--no-cold", action="store_true", help="leave out the first calls with nothing compiled")
    given = parser.parse_args()
    torch.set_num_threads(1)
    console = Console(width=None if sys.stdout.isatty() else 140)
    cold = {} if given.no_cold else {operator: cold_seconds(operator) for operator in OPERATORS}
    times = measure(given.counts, given.rounds)
    print_times(console, times)
    missed = print_bars(console, times, cold)
    console.print(f"{missed} missed" if missed else "every bar that was measured is met")


if __name__ == "__main__":
    main()
