"""Calls timed by turns in one run, bars on ratios of their times, and tables of both.

On a machine that does other things too, only ratios of one round mean anything. Each round times every call once, in
another order; a bar is held against the median of the rounds' ratios.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from random import Random
from statistics import median
from typing import Any, NamedTuple

import torch
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

OURS = "sphweft"
CONSOLE = Console(width=400)
"""Wide enough that no row is broken, so that the tables are Markdown."""


class Timing(NamedTuple):
    """Of what a time is: a way of doing something to so many particles, by whom, on how many threads."""

    count: int
    way: str
    contender: str = OURS
    threads: int = 1


class Bar(NamedTuple):
    """The largest good ratio of two times."""

    time: Timing
    other: Timing
    limit: float

    @property
    def beside(self) -> str:
        """What its time is divided by, as far as it differs."""
        time, other = self.time, self.other
        parts = [other.contender] if other.contender != time.contender else ["its own"]
        parts += [f"{other.count:,}"] if other.count != time.count else []
        parts += [other.way] if other.way != time.way else []
        parts += [threads_of(other)] if other.threads != time.threads else []
        return ", ".join(parts)

    def ratios(self, times: Times) -> list[float]:
        """Of each round, sorted; none where one of the two was not measured."""
        return sorted(a / b for a, b in zip(times.get(self.time, []), times.get(self.other, []), strict=False))


Times = dict[Timing, list[float]]
"""Seconds of each round."""
Calls = dict[Timing, Callable[[], Any]]


def by_turns(calls: Calls, rounds: int) -> Times:
    numbers = {timing: calls_for(call) for timing, call in calls.items()}
    times: Times = {timing: [] for timing in calls}
    for at in range(rounds):
        for timing in Random(at).sample(list(calls), len(calls)):
            torch.set_num_threads(timing.threads)
            times[timing].append(timed(calls[timing], numbers[timing]))
    torch.set_num_threads(1)
    return times


def calls_for(call: Callable[[], Any]) -> int:
    """How many calls take about 10 ms; it warms up as well."""
    call()
    seconds = timed(call, 1)
    if seconds < 0.01:
        seconds = timed(call, 3)
    return max(1, int(0.01 / seconds))


def timed(call: Callable[[], Any], calls: int) -> float:
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def spread(values: Sequence[float]) -> str:
    """The median, and half the width of the middle half; values are sorted."""
    half = (values[-1 - len(values) // 4] - values[len(values) // 4]) / 2
    return f"{median(values):.3f} ± {half:.3f}"


def threads_of(timing: Timing) -> str:
    return "one thread" if timing.threads == 1 else f"{timing.threads} threads"


def print_times(title: str, times: Mapping[str, Times]) -> None:
    """Every time, by what it is of: µs a call, the median of the rounds."""
    table = Table("particles", "way", "by", *times, title=f"{title}: µs a call", box=MARKDOWN)
    for timing in sorted(dict.fromkeys(key for each in times.values() for key in each), key=lambda key: key.count):
        by = timing.contender + (f", {threads_of(timing)}" if timing.threads > 1 else "")
        found = (each.get(timing) for each in times.values())
        table.add_row(f"{timing.count:,}", timing.way, by, *(f"{1e6 * median(t):,.0f}" if t else "" for t in found))
    CONSOLE.print(table)


def print_bars(title: str, bars: Sequence[Bar], times: Mapping[str, Times]) -> int:
    """Every bar and what was measured; the number of those that are missed."""
    table = Table("particles", "way", "divided by", "bar", *times, title=title, box=MARKDOWN)
    missed = 0
    for bar in bars:
        cells = []
        for each in times.values():
            found = bar.ratios(each)
            good = not found or median(found) <= bar.limit
            missed += not good
            cells.append((spread(found) if found else "not measured") + ("" if good else " **missed**"))
        way = bar.time.way + (f", {threads_of(bar.time)}" if bar.time.threads > 1 else "")
        table.add_row(f"{bar.time.count:,}", way, bar.beside, f"≤ {bar.limit:.3g}", *cells)
    CONSOLE.print(table)
    return missed
