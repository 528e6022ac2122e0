"""Plots the history that pytest-benchmark kept: `trend.py FOLDER` writes `trend.svg` there.

A line is the median of each way's benchmarks, relative to the oldest file. Runs at different times on a machine that
does other things too differ by much more than code does: it is shown, and judges nothing.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from statistics import median

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
from gate import history


def way_of(name: str) -> str:
    """A benchmark's name without its operator."""
    return name.partition("-")[2]


def main(folder: Path) -> None:
    kept = {file.stem: history(file) for file in sorted(folder.glob("*.json"))}
    first = next(iter(kept.values()))
    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    for way, names in groupby(sorted(first, key=way_of), way_of):
        group = list(names)
        line = [
            median([now[name] / first[name] for name in group if now.get(name) and first[name]] or [float("nan")])  # type: ignore[operator]
            for now in kept.values()
        ]
        axes.plot(range(len(kept)), line, marker="o", label=way)
    axes.set(ylabel="time, relative to the oldest run", xticks=range(len(kept)), ylim=(0, None))
    axes.set_xticklabels(kept, rotation=30, ha="right", fontsize=7)
    axes.legend(fontsize=7, ncols=2)
    figure.savefig(folder / "trend.svg")
    print(folder / "trend.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
