"""Time against the number of particles: every operator, and the search, in three dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from contenders import BACKWARD, NO_GRADIENT, Case, ours
from operators import OPERATORS
from particles import particle_tensors
from search import searches
from timing import Bar, Calls, Times, Timing, by_turns

SEARCH = "search"
UNORDERED = ", no order"
LARGE, LARGER = 100_000, 1_000_000
BARS = [Bar(Timing(LARGER, way), Timing(LARGE, way), 12) for way in (NO_GRADIENT, BACKWARD, SEARCH)]


def measure(operators: Sequence[str], counts: Sequence[int], rounds: int) -> dict[str, Times]:
    """Of each operator, and of the search, at all counts by turns: particles by cell, and for comparison in no order.

    In no order the particles of the largest counts do not fit into the processor's cache, and most neighbours of each
    are read from memory; the first of the operators shows what that costs.
    """
    calls = {name: operator_calls(name, counts, by_cell=True) for name in operators}
    calls[SEARCH] = search_calls(counts, by_cell=True)
    calls[f"{operators[0]}{UNORDERED}"] = operator_calls(operators[0], counts, by_cell=False)
    calls[f"{SEARCH}{UNORDERED}"] = search_calls(counts, by_cell=False)
    return {name: by_turns(each, rounds) for name, each in calls.items()}


def operator_calls(name: str, counts: Sequence[int], by_cell: bool) -> Calls:
    calls = {}
    for count in counts:
        for grad, way in ((False, NO_GRADIENT), (True, BACKWARD)):
            tensors = particle_tensors(count, grad=grad, by_cell=by_cell)
            calls[Timing(count, way)] = ours(Case(OPERATORS[name], count, tensors, grad, by_cell))[way]
    return calls


def search_calls(counts: Sequence[int], by_cell: bool) -> Calls:
    return {Timing(count, SEARCH): searches(count, 3, by_cell)["sphweft"] for count in counts}


def plot(times: Mapping[str, Times], path: Path) -> None:
    """A panel for the value and one for its gradient, the search in both; the same file for the same times."""
    settings = {"svg.hashsalt": "sphweft", "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}
    with matplotlib.rc_context(settings):
        figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
        for panel, way in zip(panels, (NO_GRADIENT, BACKWARD), strict=True):
            for number, (name, each) in enumerate((n, each) for n, each in times.items() if UNORDERED not in n):
                curve = {key.count: 1e3 * median(t) for key, t in each.items() if key.way in (way, SEARCH)}
                dashes = "--" if name == SEARCH else "-"
                panel.loglog(
                    *zip(*sorted(curve.items()), strict=True), dashes, color=f"C{number}", marker=".", label=name
                )
            panel.set(title=way, xlabel="particles")
        panels[0].set_ylabel("time of a call [ms], one thread")
        panels[0].legend()
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
