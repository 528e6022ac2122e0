"""The particles of the benchmarks: at random in a cube without periodic sides, single precision."""

import math
from functools import cache

import torch

import sphweft

NEIGHBORS = {2: 25, 3: 50}
"""About how many a particle has, by dimension; where there are few particles, all of them."""
FIELDS = ("positions", "supports", "masses", "kinds", "densities")
LEAVES = ("positions", "supports", "masses")
"""With respect to what gradients are taken."""

Tensors = dict[str, torch.Tensor]


def support_radius(count: int, dimension: int) -> float:
    """That gives the number of neighbours."""
    ball = math.pi if dimension == 2 else 4 / 3 * math.pi
    return min((NEIGHBORS[dimension] / count / ball) ** (1 / dimension), 0.6)


def particle_tensors(count: int, dimension: int = 3, grad: bool = False, by_cell: bool = False) -> Tensors:
    """What the particles are, and a vector field `values`; the same for the same arguments.

    They are in no order, or by cells of the search, so that who is near in space is so in memory.
    """
    generator = torch.Generator().manual_seed(count)
    positions = torch.rand(count, dimension, generator=generator)
    tensors = {
        "positions": positions[cell_order(positions)] if by_cell else positions,
        "supports": torch.full((count,), support_radius(count, dimension)),
        "masses": torch.full((count,), 1 / count),
        "kinds": torch.zeros(count, dtype=torch.int32),
        "densities": torch.ones(count),
        "values": torch.rand(count, dimension, generator=generator),
    }
    for name in LEAVES:
        tensors[name].requires_grad_(grad)
    return tensors


def cell_order(positions: torch.Tensor) -> torch.Tensor:
    """The particles by cells as wide as a support, those along the last axis farthest apart."""
    width = support_radius(*positions.shape)
    cells, keys = (positions / width).long(), torch.zeros(len(positions), dtype=torch.int64)
    for axis in reversed(range(positions.shape[1])):
        keys = keys * (int(1 / width) + 1) + cells[:, axis]
    return keys.argsort(stable=True)


def state_of(tensors: Tensors) -> sphweft.ParticleState:
    return sphweft.ParticleState(*(tensors[name] for name in FIELDS))


@cache
def adjacency_of(count: int, by_cell: bool = False) -> sphweft.AdjacencyList:
    """In three dimensions."""
    return sphweft.neighbor_list(state_of(particle_tensors(count, by_cell=by_cell)))


@cache
def pairs_of(count: int) -> torch.Tensor:
    """The same pairs, query above reference, sorted by query, int64, shape (2, pairs)."""
    adjacency = adjacency_of(count)
    queries = torch.repeat_interleave(torch.arange(count), adjacency.counts)
    return torch.stack([queries, adjacency.neighbors.long()])
