"""The core beside its contenders, by turns in one run, and the bars that it has to clear."""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import contenders
import memory
import scaling
import search
import torch
from contenders import BACKWARD, FORWARD, JVP, NO_GRADIENT, TANGENT, TWICE
from operators import OPERATORS
from scaling import LARGE, SEARCH
from timing import CONSOLE, OURS, Bar, Times, Timing, by_turns, print_bars, print_times

ONCE, AGAIN = "backward", "double backward"
DIFFERENCES = {ONCE: (BACKWARD, FORWARD), AGAIN: (TWICE, BACKWARD)}
"""Ways whose time is that of one without that of another."""

TORCH, KERNEL, PEER = "plain torch", "hand-written kernel", "warpsphcore"


def beside(count: int, way: str, contender: str, limit: float, threads: int = 1) -> Bar:
    return Bar(Timing(count, way, OURS, threads), Timing(count, way, contender, threads), limit)


def two_threads(count: int, way: str, limit: float) -> Bar:
    return Bar(Timing(count, way, threads=2), Timing(count, way), limit)


BARS = [
    beside(16, NO_GRADIENT, PEER, 0.15),
    beside(16, NO_GRADIENT, TORCH, 0.9),
    beside(16, BACKWARD, PEER, 0.3),
    beside(16, TANGENT, PEER, 0.15),
    beside(LARGE, NO_GRADIENT, PEER, 1 / 4),
    beside(LARGE, NO_GRADIENT, KERNEL, 1 / 0.7),
    beside(LARGE, ONCE, PEER, 1 / 4),
    beside(LARGE, ONCE, TORCH, 1 / 1.5),
    beside(LARGE, ONCE, TORCH, 1 / 1.5, threads=2),
    Bar(Timing(LARGE, JVP), Timing(LARGE, NO_GRADIENT), 2.5),
    Bar(Timing(LARGE, AGAIN), Timing(LARGE, ONCE), 4),
    two_threads(LARGE, NO_GRADIENT, 1 / 1.5),
    two_threads(LARGE, ONCE, 1 / 1.5),
    two_threads(1000, NO_GRADIENT, 1.05),  # never slower, but for the noise of one run
    two_threads(1000, ONCE, 1.05),
]
SEARCH_BARS = [beside(LARGE, SEARCH, "SciPy", 1), beside(LARGE, SEARCH, PEER, 1 / 10)]

COLD_LIMIT = 8.0
"""Seconds that the first call of an operator may take with nothing compiled, the import and the particles apart."""
COLD = """
import time, torch, sphweft
n = 16
ones, kinds = torch.ones(n), torch.zeros(n, dtype=torch.int32)
state = sphweft.ParticleState(torch.rand(n, 3), ones, ones, kinds, ones)
everybody = sphweft.AdjacencyList.from_pairs(*torch.ones(n, n).nonzero().T, n, n)
field = {field}
begin = time.perf_counter()
sphweft.{name}(state, *field, everybody)
print(time.perf_counter() - begin)
"""


def measure(name: str, count: int, rounds: int) -> Times:
    """Everything that the contenders of an operator's bars can do; on more threads what the bars name."""
    bars = [bar for bar in BARS if bar.time.count == count]
    named = {timing for bar in bars for timing in bar[:2]}
    single = {timing.contender for timing in named}
    several = {
        (way, timing.contender, timing.threads)
        for timing in named
        for way in DIFFERENCES.get(timing.way, (timing.way,))
        if timing.threads > 1
    }
    found = contenders.all_ways(OPERATORS[name], count)
    calls = {Timing(count, *key): call for key, call in found.items() if key[1] in single}
    calls |= {Timing(count, way, who, threads): found[way, who] for way, who, threads in several}
    times = by_turns(calls, max(5, min(rounds, math.ceil(rounds * 500 / count))))
    for timing in list(times):
        for difference, (whole, part) in DIFFERENCES.items():
            if timing.way == whole:
                pairs = zip(times[timing], times[timing._replace(way=part)], strict=True)
                times[timing._replace(way=difference)] = [a - b for a, b in pairs]
    return times


def measure_search(dimension: int) -> Times:
    search.check(dimension)
    calls = search.searches(LARGE, dimension)
    return by_turns({Timing(LARGE, SEARCH, name): call for name, call in calls.items()}, 9)


def cold_seconds(name: str) -> float:
    """Seconds of the first call in a process of its own, with an empty kernel cache."""
    field = "(torch.rand(n, 3),)" if OPERATORS[name].field else "()"
    with tempfile.TemporaryDirectory() as kernels:
        return float(output_of(["-c", COLD.format(name=name, field=field)], WARP_CACHE_PATH=kernels).split()[-1])


def output_of(arguments: Sequence[str], **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout


def print_cold(names: Sequence[str]) -> int:
    """The first calls; the number of those that take too long."""
    seconds = {name: cold_seconds(name) for name in names}
    missed = [name for name, each in seconds.items() if each > COLD_LIMIT]
    CONSOLE.print(f"First call, nothing compiled, bar ≤ {COLD_LIMIT:g} s:")
    CONSOLE.print(", ".join(f"{name} {each:.1f} s{' **missed**' * (name in missed)}" for name, each in seconds.items()))
    return len(missed)


def print_memory() -> int:
    """The peak; 1 if it is too high."""
    pairs, before, peak = output_of([str(Path(memory.__file__))]).split()[-3:]
    missed = float(peak) > memory.LIMIT
    CONSOLE.print(
        f"Search, forward and backward of the gradient, {int(pairs):,} pairs: peak {float(peak):.2f} GiB, "
        f"{float(before):.2f} of them before, bar ≤ {memory.LIMIT:g}{' **missed**' * missed}"
    )
    return missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    counts = [16, 1000, 10_000, LARGE, 1_000_000]
    parser.add_argument("--counts", type=int, nargs="+", default=counts, help="numbers of particles")
    parser.add_argument("--operators", nargs="+", default=list(OPERATORS), choices=OPERATORS, help="which ones")
    parser.add_argument("--rounds", type=int, default=40, help="of the smallest ones; fewer where a call is long")
    parser.add_argument("--no-cold", action="store_true", help="leave out first calls, and peak memory")
    parser.add_argument("--plot", type=Path, help="where the curves go, a file of SVG")
    given = parser.parse_args()
    torch.set_num_threads(1)
    missed = 0
    if not given.no_cold:  # before anything else: a process begins with the peak memory of the one that starts it
        missed += print_memory() + print_cold(given.operators)

    times: dict[str, Times] = {}
    bars = [bar for bar in BARS if bar.time.count in given.counts]
    for name in given.operators:
        contenders.check(OPERATORS[name])
        times[name] = {}
        for count in sorted({bar.time.count for bar in bars}):
            times[name] |= measure(name, count, given.rounds)
    print_times("Operators", times)
    missed += print_bars("Bars: time of sphweft, divided by another's", bars, times)

    if LARGE in given.counts:
        found = {f"{dimension}-D": measure_search(dimension) for dimension in (2, 3)}
        print_times("Search", found)
        missed += print_bars("Bars of the search", SEARCH_BARS, found)

    if curve := sorted(count for count in given.counts if count >= 1000):
        curves = scaling.measure(given.operators, curve, rounds=5)
        print_times("Curves", curves)
        bars = [bar for bar in scaling.BARS if {bar.time.count, bar.other.count} <= set(curve)]
        missed += print_bars("Bars of growth", bars, curves)
        if given.plot:
            scaling.plot(curves, given.plot)
    CONSOLE.print(f"{missed} missed" if missed else "every bar that was measured is met")


if __name__ == "__main__":
    main()
