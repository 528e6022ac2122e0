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
from particles import adjacency_of, particle_tensors
from search import searches
from timing import Bar, Times, Timing, by_turns

SEARCH = "search"
LARGE, LARGER = 100_000, 1_000_000
BARS = [Bar(Timing(LARGER, way), Timing(LARGE, way), 12) for way in (NO_GRADIENT, BACKWARD, SEARCH)]


def measure(operators: Sequence[str], counts: Sequence[int], rounds: int) -> dict[str, Times]:
    """Of each operator, and of the search, at all counts by turns."""
    times = {}
    for name in operators:
        calls = {}
        for count in counts:
            for grad, way in ((False, NO_GRADIENT), (True, BACKWARD)):
                case = Case(OPERATORS[name], count, particle_tensors(count, grad=grad), grad)
                calls[Timing(count, way)] = ours(case)[way]
        times[name] = by_turns(calls, rounds)
    adjacency_of.cache_clear()
    calls = {Timing(count, SEARCH): searches(count, 3)["sphweft"] for count in counts}
    return {**times, SEARCH: by_turns(calls, rounds)}


def plot(times: Mapping[str, Times], path: Path) -> None:
    """A panel for the value and one for its gradient, the search in both; the same file for the same times."""
    settings = {"svg.hashsalt": "sphweft", "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}
    with matplotlib.rc_context(settings):
        figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
        for panel, way in zip(panels, (NO_GRADIENT, BACKWARD), strict=True):
            for number, (name, each) in enumerate(times.items()):
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
