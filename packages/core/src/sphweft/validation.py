"""Checks that read values back: only where a caller asks for them."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from sphweft.bridge.spec import SPHContext
from sphweft.errors import InputError
from sphweft.neighbors.search import NeighborList
from sphweft.state import ParticleState


def check_values(context: SPHContext, fields: Mapping[str, torch.Tensor]) -> None:
    """Refuses values that no operator can use.

    Raises:
        InputError: naming the argument, the population, and the first particle concerned.
    """
    _check_particles("query", context.query)
    if context.source is not context.query:
        _check_particles("reference", context.source)
    for name, value in fields.items():
        _all_good(name, torch.isfinite(value).flatten(1).all(1) if value.ndim > 1 else torch.isfinite(value), "finite")
    if context.domain is not None and context.periodic:
        half = min(side for side in context.domain.periods if side) / 2
        for side, state in (("query", context.query), ("reference", context.source)):
            expected = f"at most half the shortest periodic side, {half:g}"
            _all_good(f"{side}.supports", state.supports <= half, expected)
    listed = context.adjacency
    if isinstance(listed, NeighborList) and listed.must_rebuild(context.query, context.reference):
        found = f"one whose particles have moved or grown by more than its margin, {listed.margin:g}"
        raise InputError("adjacency", "a list of every pair within reach", found, "make it anew with neighbor_list")


def _check_particles(side: str, state: ParticleState) -> None:
    _all_good(f"{side}.positions", torch.isfinite(state.positions).all(1), "finite")
    _all_good(f"{side}.supports", torch.isfinite(state.supports) & (state.supports > 0), "finite and positive")
    _all_good(f"{side}.masses", torch.isfinite(state.masses), "finite")
    _all_good(f"{side}.kinds", (state.kinds >= 0) & (state.kinds <= 3), "from 0 to 3")
    if state.densities is not None:
        _all_good(f"{side}.densities", torch.isfinite(state.densities) & (state.densities != 0), "finite, not zero")


def _all_good(argument: str, good: torch.Tensor, expected: str) -> None:
    if not bool(good.all()):
        first = int((~good).nonzero()[0, 0])
        raise InputError(argument, f"values that are {expected}", f"another one at particle {first}")
