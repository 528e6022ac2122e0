"""Which kinds of particles interact, by direction."""

from __future__ import annotations

import torch
from torch import Tensor

FLUID, BOUNDARY, GHOST, OTHER = 0, 1, 2, 3
EVERY = (FLUID, BOUNDARY, GHOST, OTHER)
REAL = (FLUID, BOUNDARY, OTHER)

DIRECTIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "unmasked": (EVERY, EVERY),
    "all_to_all": (EVERY, REAL),
    "fluid_to_fluid": ((FLUID,), (FLUID,)),
    "fluid_to_boundary": ((BOUNDARY,), (FLUID,)),
    "fluid_to_ghost": ((GHOST,), (FLUID,)),
    "boundary_to_fluid": ((FLUID,), (BOUNDARY,)),
    "boundary_to_boundary": ((BOUNDARY,), (BOUNDARY,)),
    "boundary_to_ghost": ((GHOST,), (BOUNDARY,)),
    "ghost_to_fluid": ((FLUID,), (GHOST,)),
    "ghost_to_boundary": ((BOUNDARY,), (GHOST,)),
    "all_to_ghost": ((GHOST,), REAL),
    "all_to_fluid": ((FLUID,), REAL),
    "all_to_boundary": ((BOUNDARY,), REAL),
    "fluid_to_all": (REAL, (FLUID,)),
    "boundary_to_all": (REAL, (BOUNDARY,)),
}
"""For each direction the kinds of queries that receive, and the kinds of references that contribute."""


def receives(kinds: Tensor, *, direction: str) -> Tensor:
    """Which queries receive anything at all; truth values of shape (N,) for kinds of shape (N,)."""
    return _is_one_of(kinds, DIRECTIONS[direction][0])


def contributes(kinds: Tensor, *, direction: str) -> Tensor:
    """Which references contribute to anything at all; truth values of shape (M,) for kinds of shape (M,)."""
    return _is_one_of(kinds, DIRECTIONS[direction][1])


def pair_mask(query_kinds: Tensor, reference_kinds: Tensor, *, direction: str) -> Tensor:
    """Which pairs a direction selects; truth values of shape (N, M)."""
    return receives(query_kinds, direction=direction)[:, None] & contributes(reference_kinds, direction=direction)[None]


def _is_one_of(kinds: Tensor, wanted: tuple[int, ...]) -> Tensor:
    found = torch.zeros_like(kinds, dtype=torch.bool)
    for kind in wanted:
        found = found | (kinds == kind)
    return found
