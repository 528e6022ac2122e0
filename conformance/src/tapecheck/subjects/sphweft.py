"""The core of this repository, seen through its public names alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import torch

import sphweft
import sphweft.inspect
from sphweft.bridge import OperatorSpec, SPHContext, launch_operator
from tapecheck import oracles
from tapecheck.contract import Judged
from tapecheck.subjects.core import Core
from tapecheck.subjects.probe import BridgeSubject, Probe
from tapecheck.subjects.sph import OPERATORS as WORDS
from tapecheck.subjects.sph import VOCABULARY, Operators
from tapecheck.subjects.sphweft_core import CORE, without_cache
from tapecheck.subjects.sphweft_kernels import SPRINGS, SPRINGS_WITH_TANGENT
from tapecheck.subjects.sphweft_operators import OPERATORS as SPH

RULES = oracles.Rules(function="wendland4", support_mode="mean_kernel", direction="all_to_all")
PROPERTIES = sphweft.OperationProperties(
    sphweft.SmoothingFunction.WENDLAND4, sphweft.SupportMode.MEAN_KERNEL, sphweft.GradientScheme.SYMMETRIC
)
SIDE = 4.0


@dataclass(frozen=True)
class SphweftSubject(BridgeSubject):
    """The core in all three roles: a bridge, an SPH implementation, a mechanism.

    Attributes:
        operators: the SPH implementation.
        core: the mechanism.
    """

    operators: Operators = SPH
    core: Core = CORE
    judged: frozenset[Judged] = field(default=frozenset({"bridge", "sph", "core"}), init=False)

    def missing(self, needs: Iterable[str]) -> str | None:
        """The first of the needs that it does not offer, or None."""
        given = list(needs)
        words = [need for need in given if need in VOCABULARY]
        return self.operators.missing(words) or super().missing(need for need in given if need not in VOCABULARY)


def subject() -> SphweftSubject:
    """Every operator in one, two and three dimensions, the checks of values, and an operator of a third party."""
    probes = [
        Probe(
            name=f"{name}-{dimension}d",
            call=call,
            inputs=partial(_inputs, arguments=arguments, dimension=dimension),
            reference=reference,
            differentiable=differentiable,
            any_rank=("values",),
            values=("values",) if "values" in arguments else (),
            tangent=TANGENTS.get(name),
        )
        for name, call, reference, arguments, differentiable in OPERATORS
        for dimension in (1, 2, 3)
    ]
    density, arguments = OPERATORS[0][1], OPERATORS[0][3]
    probes.append(
        Probe(
            name="density-validated",
            call=partial(density, validate="full"),
            inputs=partial(_inputs, arguments=arguments, dimension=2),
            reference=OPERATORS[0][2],
            finite=("positions", "supports", "masses"),
        )
    )
    return SphweftSubject(
        tuple(probes),
        without_cache=without_cache,
        counters=lambda: {"views": sphweft.inspect.cached_view_count()},
        packages=("sphweft",),
    )


def _inputs(size: int, dtype: torch.dtype, *, arguments: str, dimension: int) -> tuple[Any, ...]:
    """Irregular particles in a periodic box, all pairs listed: what is out of reach must contribute nothing."""
    generator = torch.Generator().manual_seed(size)

    def uniform(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=generator, dtype=torch.float64).to(dtype)

    made = {
        "positions": 2 * uniform(size, dimension) - 0.5,
        "supports": 1.2 + 0.3 * uniform(size),
        "masses": 0.5 + uniform(size),
        "kinds": torch.zeros(size, dtype=torch.int32),
        "densities": 1 + uniform(size),
        "values": uniform(size, 2) - 0.5,
        "charges": 0.5 + uniform(size),
        "adjacency": _everybody(size),
        "stiffness": 1.5,
    }
    return tuple(made[name] for name in arguments.split())


@cache
def _everybody(size: int) -> sphweft.AdjacencyList:
    query, reference = torch.ones(size, size).nonzero().T
    return sphweft.AdjacencyList.from_pairs(query, reference, size, size)


def _domain(positions: torch.Tensor) -> tuple[list[float], list[float], list[bool]]:
    dimension = positions.shape[1]
    return [0.0] * dimension, [SIDE] * dimension, [True] * dimension


def _density(
    positions: torch.Tensor,
    supports: torch.Tensor,
    masses: torch.Tensor,
    kinds: torch.Tensor,
    adjacency: Any,
    validate: Any = "metadata",
) -> Any:
    state = sphweft.ParticleState(positions, supports, masses, kinds)
    domain = sphweft.DomainDescription(*_domain(positions))
    return sphweft.density(state, adjacency, domain=domain, properties=PROPERTIES, validate=validate)


def _interpolate(
    positions: Any, supports: Any, masses: Any, kinds: Any, densities: Any, values: Any, adjacency: Any
) -> Any:
    state = sphweft.ParticleState(positions, supports, masses, kinds, densities)
    domain = sphweft.DomainDescription(*_domain(positions))
    return sphweft.interpolate(state, values, adjacency, domain=domain, properties=PROPERTIES)


def _gradient(
    positions: Any, supports: Any, masses: Any, kinds: Any, densities: Any, values: Any, adjacency: Any
) -> Any:
    state = sphweft.ParticleState(positions, supports, masses, kinds, densities)
    domain = sphweft.DomainDescription(*_domain(positions))
    return sphweft.gradient(state, values, adjacency, domain=domain, properties=PROPERTIES)


def _tangent(names: str, operation: str, inputs: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The explicit directional derivative of an operator, by the order of its arguments."""
    given, along = (dict(zip(names.split(), each, strict=True)) for each in (inputs, tangents))
    adjacency, values = given.pop("adjacency"), given.pop("values", None)
    directions = {name: along.get(name) for name in ("positions", "supports", "masses", "densities")}
    return sphweft.warp_operation_jvp(
        sphweft.Operation[operation],
        sphweft.ParticleState(**given),
        adjacency,
        values=values,
        values_tangent=along.get("values"),
        query_tangents=sphweft.ParticleTangents(**directions),
        domain=sphweft.DomainDescription(*_domain(given["positions"])),
        properties=PROPERTIES,
    )


def _springs_of(spec: OperatorSpec) -> Callable[..., Any]:
    def springs(
        positions: Any, supports: Any, masses: Any, kinds: Any, adjacency: Any, charges: Any, stiffness: float
    ) -> Any:
        state = sphweft.ParticleState(positions, supports, masses, kinds)
        context = SPHContext(state, PROPERTIES, adjacency=adjacency)
        return launch_operator(spec, context, charges=charges, stiffness=stiffness)

    return springs


def _oracle(
    function: Callable[..., Any], positions: Any, supports: Any, masses: Any, kinds: Any, densities: Any, **o: Any
) -> Any:
    particles = oracles.Particles(positions, supports, masses, kinds, densities)
    return function(query=particles, reference=particles, domain=oracles.Domain(*_domain(positions)), rules=RULES, **o)


def _density_oracle(positions: Any, supports: Any, masses: Any, kinds: Any, *_: Any) -> Any:
    return _oracle(oracles.density, positions, supports, masses, kinds, None)


def _interpolate_oracle(
    positions: Any, supports: Any, masses: Any, kinds: Any, densities: Any, values: Any, _: Any
) -> Any:
    return _oracle(oracles.interpolate, positions, supports, masses, kinds, densities, reference_field=values)


def _gradient_oracle(
    positions: Any, supports: Any, masses: Any, kinds: Any, densities: Any, values: Any, _: Any
) -> Any:
    return _oracle(
        oracles.gradient,
        positions,
        supports,
        masses,
        kinds,
        densities,
        scheme="symmetric",
        reference_field=values,
        query_field=values,
    )


def _springs_oracle(
    positions: Any, supports: Any, masses: Any, kinds: Any, _: Any, charges: Any, stiffness: float
) -> Any:
    x = positions[:, None] - positions[None]
    product = stiffness * charges[:, None] * charges[None]
    return (product[..., None] * x).sum(1), (0.5 * product * (x * x).sum(-1)).sum(1)


FIELD = "positions supports masses kinds densities values adjacency"
OPERATORS: tuple[tuple[str, Callable[..., Any], Callable[..., Any], str, tuple[str, ...] | None], ...] = (
    ("density", _density, _density_oracle, "positions supports masses kinds adjacency", None),
    ("interpolate", _interpolate, _interpolate_oracle, FIELD, None),
    ("gradient", _gradient, _gradient_oracle, FIELD, None),
    *(
        (
            name,
            _springs_of(spec),
            _springs_oracle,
            "positions supports masses kinds adjacency charges stiffness",
            ("positions", "charges"),
        )
        for name, spec in (("springs", SPRINGS), ("springs-with-tangent", SPRINGS_WITH_TANGENT))
    ),
)
"""Name, call, the oracle's call, the arguments of both, and which of them have a gradient where not every float has."""

TANGENTS = {
    name: partial(_tangent, arguments, name.upper())
    for name, _, _, arguments, _ in OPERATORS
    if name in SPH.knows(*WORDS)
}
