"""One call of an operator for every row of choices: what the core finds, what the oracle says, and the sum of the
absolute terms that the error is measured by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import torch

import sphweft
from tapecheck import oracles

AXES: dict[str, list[Any]] = {
    "operator": ["density", "interpolate", "gradient", "divergence", "curl", "laplacian", "covariance"],
    "scheme": list(sphweft.GradientScheme),
    "laplacian": list(sphweft.LaplacianScheme),
    "mode": list(sphweft.SupportMode),
    "function": list(sphweft.SmoothingFunction),
    "dimension": [1, 2, 3],
    "direction": list(sphweft.InteractionDirection),
    "trailing": [(), (2,), (2, 3), (1, 2, 1)],
    "populations": ["one", "two"],
    "periodic": [False, True],
    "volumes": [False, True],
}
TOLERANCE = 1e-12
BY_SCHEME = ("gradient", "divergence", "curl")
"""Operators with a gradient's coefficient."""
FIELDLESS = ("density", "covariance")


def exists(choices: dict[str, Any]) -> bool:
    """There is no curl in one dimension."""
    return (choices["operator"], choices["dimension"]) != ("curl", 1)


def name_of(row: dict[str, Any]) -> str:
    """The choices, a word each."""
    words = {**row, "trailing": f"rank{len(row['trailing'])}"} if "trailing" in row else row
    return "-".join(getattr(value, "name", str(value)).lower() for value in words.values())


def uniform(generator: torch.Generator, *shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=generator, dtype=torch.float64)


def population(
    generator: torch.Generator, count: int, dimension: int, others: oracles.Particles | None = None
) -> oracles.Particles:
    """Irregular particles, out of the box as well, where it is periodic.

    A position is drawn again while it puts a pair, of these or with others, at the edge of a support: there (1 - q)ⁿ
    has lost digits before anybody sums it.
    """
    made = oracles.Particles(
        positions=3 * uniform(generator, count, dimension) - 1,
        supports=0.3 + 0.15 * uniform(generator, count),
        masses=0.5 + uniform(generator, count),
        kinds=torch.randint(0, 4, (count,), generator=generator, dtype=torch.int32),
        densities=1 + uniform(generator, count),
    )
    for at in range(count):
        while at_an_edge(made, at, others or made):
            made.positions[at] = 3 * uniform(generator, dimension) - 1
    return made


def at_an_edge(particles: oracles.Particles, at: int, others: oracles.Particles) -> bool:
    """Whether a particle and another one are apart by a support radius of either, or by their mean, to within 1 %."""
    apart = particles.positions[at] - others.positions
    own, theirs = particles.supports[at].expand(len(apart)), others.supports
    return any(
        bool((x.norm(dim=1) / h - 1).abs().min() < 0.01)
        for x in (apart, apart - torch.floor(apart + 0.5))
        for h in (own, theirs, (own + theirs) / 2)
    )


class Row(NamedTuple):
    """The tensors of a row."""

    choices: dict[str, Any]
    query: oracles.Particles
    reference: oracles.Particles
    field: torch.Tensor
    query_field: torch.Tensor
    volumes: torch.Tensor | None

    @property
    def box(self) -> tuple[list[float], list[float], list[bool]]:
        dimension = self.choices["dimension"]
        return [0.0] * dimension, [1.0] * dimension, [self.choices["periodic"]] * dimension

    def alone(self, at: int) -> Row:
        """With that reference and no other."""
        kept = {name: tensor[at : at + 1] for name, tensor in vars(self.reference).items()}
        volumes = None if self.volumes is None else self.volumes[at : at + 1]
        return self._replace(reference=replace(self.reference, **kept), field=self.field[at : at + 1], volumes=volumes)

    @property
    def symmetric(self) -> bool:
        return self.choices["operator"] in BY_SCHEME and self.choices["scheme"] == sphweft.GradientScheme.SYMMETRIC

    @property
    def names(self) -> list[str]:
        """The tensors that the operator reads and can be differentiated by."""
        operator, symmetric, mode = self.choices["operator"], self.symmetric, self.choices["mode"]
        own = ["positions"] + ["supports"] * (mode != sphweft.SupportMode.SCATTER) + ["densities"] * symmetric
        theirs = ["positions"] + ["supports"] * (mode != sphweft.SupportMode.GATHER)
        if self.volumes is None:
            theirs += ["masses"] + ["densities"] * (operator != "density")
        one = self.reference is self.query
        names = [f"reference.{name}" for name in dict.fromkeys([*theirs, *own] if one else theirs)]
        names += [] if one else [f"query.{name}" for name in own]
        names += ["field"] * (operator not in FIELDLESS) + ["volumes"] * (self.volumes is not None)
        naive = self.choices["scheme"] == sphweft.GradientScheme.NAIVE
        two_sided = operator == "laplacian" or (operator in BY_SCHEME and not naive)
        return names + ["query_field"] * (two_sided and not one)

    @property
    def tensors(self) -> list[torch.Tensor]:
        """These tensors."""
        return [getattr(getattr(self, head), tail) if tail else getattr(self, head) for head, tail in self._paths]

    @property
    def _paths(self) -> list[tuple[str, str]]:
        return [(head, tail) for head, _, tail in (name.partition(".") for name in self.names)]

    def holding(self, *tensors: torch.Tensor) -> Row:
        """The row with others in their place."""
        given = dict(zip(self.names, tensors, strict=True))
        sides = {}
        for side in ("query", "reference"):
            own = {name.partition(".")[2]: tensor for name, tensor in given.items() if name.startswith(f"{side}.")}
            sides[side] = replace(getattr(self, side), **own)
        if self.reference is self.query:
            sides["query"] = sides["reference"]
        fields = {name: tensor for name, tensor in given.items() if "." not in name}
        if self.reference is self.query and "field" in fields:
            fields["query_field"] = fields["field"]
        return self._replace(**sides, **fields)


def made(choices: dict[str, Any], queries: int = 14, references: int = 11) -> Row:
    """The row's tensors, the same every time."""
    generator = torch.Generator().manual_seed(7)
    query = population(generator, queries, choices["dimension"])
    one = choices["populations"] == "one"
    reference = query if one else population(generator, references, choices["dimension"], query)
    trailing = choices["trailing"]
    dot = choices["operator"] == "laplacian" and choices["laplacian"] == sphweft.LaplacianScheme.DOT
    if dot or choices["operator"] in ("divergence", "curl"):
        trailing = (*trailing, choices["dimension"])
    field = uniform(generator, len(reference.masses), *trailing) - 0.5
    query_field = field if one else uniform(generator, len(query.masses), *trailing) - 0.5
    row = Row(choices, query, reference, field, query_field, None)
    supplied = choices["volumes"] and choices["operator"] != "density" and not row.symmetric
    return row._replace(volumes=0.1 + uniform(generator, len(reference.masses))) if supplied else row


def core_call(row: Row) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call of `sphweft`, every pair listed."""
    choices = row.choices
    counts = len(row.query.masses), len(row.reference.masses)
    options: dict[str, Any] = {
        "domain": sphweft.DomainDescription(*row.box),
        "reference": None if row.reference is row.query else sphweft.ParticleState(**vars(row.reference)),
        "properties": sphweft.OperationProperties(
            choices["function"], choices["mode"], choices["scheme"], choices["direction"], choices["laplacian"]
        ),
        "corrections": sphweft.Corrections(reference_volumes=row.volumes),
    }
    if choices["operator"] not in FIELDLESS:
        options["values"] = row.field
    if choices["operator"] in (*BY_SCHEME, "laplacian"):
        options["query_values"] = row.query_field
    adjacency = sphweft.AdjacencyList.from_pairs(*torch.ones(*counts).nonzero().T, *counts)
    operation = sphweft.Operation[choices["operator"].upper()]
    return (operation, sphweft.ParticleState(**vars(row.query)), adjacency), options


def by_the_core(row: Row) -> torch.Tensor:
    """What `sphweft` finds; of the covariance the matrix."""
    arguments, options = core_call(row)
    found = sphweft.warp_operation(*arguments, **options)
    return found[0] if row.choices["operator"] == "covariance" else found


def tangent_by_the_core(row: Row, *directions: torch.Tensor) -> torch.Tensor:
    """What its explicit directional derivative finds, for a direction a tensor."""
    arguments, options = core_call(row)
    given = dict(zip(row.names, directions, strict=True))
    particles = {
        side: sphweft.ParticleTangents(
            **{name.partition(".")[2]: v for name, v in given.items() if name.startswith(f"{side}.")}
        )
        for side in ("query", "reference")
    }
    if row.reference is row.query:
        particles = {"query": particles["reference"]}
    others = {"field": "values", "query_field": "query_values", "volumes": "reference_volumes"}
    tangents = {f"{word}_tangent": given[name] for name, word in others.items() if name in given}
    if row.reference is row.query and "values_tangent" in tangents and "query_values" in options:
        tangents["query_values_tangent"] = tangents["values_tangent"]
    sides = {f"{side}_tangents": tangent for side, tangent in particles.items()}
    return sphweft.warp_operation_jvp(*arguments, **options, **sides, **tangents)


def by_the_oracle(row: Row) -> torch.Tensor:
    """What plain torch finds; of the covariance the matrix."""
    choices, operator = row.choices, row.choices["operator"]
    words = {name: choices[name].name.lower() for name in ("function", "mode", "direction", "scheme", "laplacian")}
    options: dict[str, Any] = {
        "query": row.query,
        "reference": row.reference,
        "domain": oracles.Domain(*row.box),
        "rules": oracles.Rules(words["function"], words["mode"], words["direction"]),
    }
    if operator == "density":
        return oracles.density(**options)
    options["volumes"] = row.volumes
    if operator == "covariance":
        return oracles.covariance(**options)[0]
    options["reference_field"] = row.field
    if operator == "interpolate":
        return oracles.interpolate(**options)
    options |= {"query_field": row.query_field, "scheme": words["scheme" if operator in BY_SCHEME else "laplacian"]}
    found: torch.Tensor = getattr(oracles, operator)(**options)
    return found


def assert_equal(choices: dict[str, Any]) -> None:
    """The core's value is the oracle's within the tolerance times the sum of the absolute terms."""
    row = made(choices)
    found, expected = by_the_core(row), by_the_oracle(row)
    assert found.shape == expected.shape
    terms = sum(by_the_oracle(row.alone(at)).abs() for at in range(len(row.reference.masses)))
    error = (found - expected).abs()
    assert (error <= TOLERANCE * terms).all(), f"off by {float((error / terms).max()):.1e} of the absolute terms"


def directions_of(row: Row, salt: int = 11) -> list[torch.Tensor]:
    """A direction a tensor."""
    generator = torch.Generator().manual_seed(salt)
    return [uniform(generator, *tensor.shape) - 0.5 for tensor in row.tensors]


def assert_tangent_equal(choices: dict[str, Any]) -> None:
    """The core's directional derivative is that of the oracle, and the transpose of the core's own gradient."""
    row = made(choices)
    tensors, directions = tuple(row.tensors), tuple(directions_of(row))
    found = tangent_by_the_core(row, *directions)
    _, expected = torch.func.jvp(lambda *given: by_the_oracle(row.holding(*given)), tensors, directions)
    scale = float(expected.abs().max()) or 1.0
    assert float((found - expected).abs().max()) <= 1e-11 * scale, "not the oracle's derivative"
    leaves = [tensor.clone().requires_grad_() for tensor in tensors]
    output = by_the_core(row.holding(*leaves))
    seed = uniform(torch.Generator().manual_seed(12), *output.shape) - 0.5
    gradients = torch.autograd.grad(output, leaves, seed)
    pairs = [(g * v).flatten() for g, v in zip(gradients, directions, strict=True)]
    forward, terms = (seed * found).flatten(), torch.cat([*pairs, (seed * found).flatten()]).abs().sum()
    assert abs(float(forward.sum() - torch.cat(pairs).sum())) <= 1e-12 * float(terms), "not the gradient's transpose"
