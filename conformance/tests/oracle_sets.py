"""Particles that the tests of the oracle share."""

import torch

from tapecheck.oracles import Domain, Particles, Rules

MODES = ("gather", "scatter", "mean_support", "mean_kernel")
FUNCTIONS = ("wendland2", "wendland4", "wendland6", "cubic_spline", "quartic_spline", "quintic_spline")


def open_box(dimension):
    return Domain([-50.0] * dimension, [50.0] * dimension, [False] * dimension)


def random(*shape, seed=0):
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def irregular(dimension, *, per_axis=4, support=2.3, seed=0, spacing=1.0):
    """A lattice with noise, unequal supports, masses and densities; all fluid."""
    axes = [torch.arange(per_axis, dtype=torch.float64)] * dimension
    nodes = torch.stack(torch.meshgrid(*axes, indexing="ij"), -1).reshape(-1, dimension)
    count = len(nodes)
    return Particles(
        positions=spacing * (nodes + 0.4 * (random(count, dimension, seed=seed) - 0.5)),
        supports=spacing * support * (0.85 + 0.3 * random(count, seed=seed + 1)),
        masses=0.5 + random(count, seed=seed + 2),
        kinds=torch.zeros(count, dtype=torch.int64),
        densities=0.5 + random(count, seed=seed + 3),
    )


def lattice(dimension, reach):
    """Unit masses on the integer lattice, and one particle of support `reach` at a node of it."""
    axes = [torch.arange(-reach, reach + 1, dtype=torch.float64)] * dimension
    nodes = torch.stack(torch.meshgrid(*axes, indexing="ij"), -1).reshape(-1, dimension)
    return at(torch.zeros(1, dimension), support=reach), at(nodes, support=reach)


def at(positions, *, support=1.0, kinds=None):
    """Unit particles at some places."""
    positions = torch.as_tensor(positions, dtype=torch.float64)
    ones = torch.ones(len(positions), dtype=torch.float64)
    kinds = torch.zeros(len(positions), dtype=torch.int64) if kinds is None else torch.as_tensor(kinds)
    return Particles(positions, support * ones, ones, kinds, ones)


def setup(query, reference, domain=None, **rules):
    """The arguments that every operator takes."""
    domain = domain or open_box(query.positions.shape[1])
    return {"query": query, "reference": reference, "domain": domain, "rules": Rules(**rules)}
