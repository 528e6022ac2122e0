"""The neighbour search beside SciPy's k-d tree and `warpsphcore`'s hash map: all pairs of the same particles.

How a pair is listed differs: SciPy's `query_pairs` gives each once, the others give both of its directions and each
particle's pair with itself. The pairs found are the same, so that pairs per second compare as the times do.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
import warp as wp
from particles import FIELDS, particle_tensors, state_of, support_radius
from scipy.spatial import cKDTree

import sphweft
from sphweft.runtime import silence

Search = Callable[[], Any]


def searches(count: int, dimension: int, by_cell: bool = False) -> dict[str, Search]:
    """By who does it; what it makes of the positions is part of it."""
    tensors = particle_tensors(count, dimension, by_cell=by_cell)
    state, points, radius = state_of(tensors), tensors["positions"].numpy(), support_radius(count, dimension)
    calls: dict[str, Search] = {
        "sphweft": lambda: sphweft.neighbor_list(state),
        "SciPy": lambda: cKDTree(points).query_pairs(radius, output_type="ndarray"),
    }
    try:
        peer: Any = importlib.import_module("warpSPHCore")
    except ImportError:
        return calls
    with silence():
        wp.init()
    corners, open_sides = (torch.zeros(dimension), torch.ones(dimension)), torch.zeros(dimension, dtype=torch.bool)
    domain = peer.DomainDescription(*corners, open_sides, dimension)
    particles = peer.ParticleState(*(tensors[name] for name in FIELDS))
    return {**calls, "warpsphcore": lambda: peer.radiusSearchCompactHashMap(particles, domain)}


def check(dimension: int, count: int = 1000) -> None:
    """Raises an AssertionError unless all find the same pairs."""
    found = {name: search() for name, search in searches(count, dimension).items()}
    listed = found["sphweft"]
    queries = torch.repeat_interleave(torch.arange(count), listed.counts)
    ours = pair_set(queries, listed.neighbors)
    assert ours == pair_set(*torch.from_numpy(found["SciPy"]).T), f"SciPy finds other pairs, {dimension}-D"
    if "warpsphcore" in found:
        other = found["warpsphcore"]
        assert ours == pair_set(other.i, other.j), f"warpsphcore finds other pairs, {dimension}-D"


def pair_set(i: torch.Tensor, j: torch.Tensor) -> set[tuple[int, int]]:
    """Unordered, of two particles."""
    return {(min(pair), max(pair)) for pair in zip(i.tolist(), j.tolist(), strict=True) if pair[0] != pair[1]}
