"""Which kinds of particles a direction lets receive and contribute: the table, once."""

from __future__ import annotations

from functools import cache

from sphweft.enums import InteractionDirection as D
from sphweft.enums import ParticleKind

FLUID, BOUNDARY, GHOST, OTHER = ParticleKind
EVERY = (FLUID, BOUNDARY, GHOST, OTHER)
SOLID = (FLUID, BOUNDARY, OTHER)
"""Every kind but ghosts, which mirror others and would count them twice."""

_TABLE: dict[D, tuple[tuple[ParticleKind, ...], tuple[ParticleKind, ...]]] = {
    # direction: queries that receive, references that contribute
    D.UNMASKED: (EVERY, EVERY),
    D.FLUID_TO_FLUID: ((FLUID,), (FLUID,)),
    D.FLUID_TO_BOUNDARY: ((BOUNDARY,), (FLUID,)),
    D.BOUNDARY_TO_FLUID: ((FLUID,), (BOUNDARY,)),
    D.BOUNDARY_TO_BOUNDARY: ((BOUNDARY,), (BOUNDARY,)),
    D.FLUID_TO_GHOST: ((GHOST,), (FLUID,)),
    D.GHOST_TO_FLUID: ((FLUID,), (GHOST,)),
    D.BOUNDARY_TO_GHOST: ((GHOST,), (BOUNDARY,)),
    D.GHOST_TO_BOUNDARY: ((BOUNDARY,), (GHOST,)),
    D.ALL_TO_ALL: (EVERY, SOLID),
    D.ALL_TO_GHOST: ((GHOST,), SOLID),
    D.ALL_TO_FLUID: ((FLUID,), SOLID),
    D.ALL_TO_BOUNDARY: ((BOUNDARY,), SOLID),
    D.FLUID_TO_ALL: (SOLID, (FLUID,)),
    D.BOUNDARY_TO_ALL: (SOLID, (BOUNDARY,)),
}


@cache
def selection(direction: D) -> tuple[int, int]:
    """Kinds of queries that receive, and kinds of references that contribute, a bit a kind."""
    receiving, contributing = (sum(1 << kind for kind in kinds) for kinds in _TABLE[direction])
    return receiving, contributing
