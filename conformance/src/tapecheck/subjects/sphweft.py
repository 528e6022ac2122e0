"""The core of this repository, seen through its public names alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, partial
from inspect import Parameter, Signature, signature
from typing import Any, NamedTuple

import torch

import sphweft
import sphweft.inspect
from sphweft.bridge import OperatorSpec, SPHContext, launch_operator
from tapecheck import oracles
from tapecheck.contract import Judged
from tapecheck.subjects.core import Core
from tapecheck.subjects.probe import BridgeSubject, Probe
from tapecheck.subjects.sph import VOCABULARY, Operators
from tapecheck.subjects.sphweft_core import CORE, sliced, taped, without_cache
from tapecheck.subjects.sphweft_kernels import SPRINGS, SPRINGS_WITH_TANGENT
from tapecheck.subjects.sphweft_operators import OPERATORS

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

    operators: Operators = OPERATORS
    core: Core = CORE
    judged: frozenset[Judged] = field(default=frozenset({"bridge", "sph", "core"}), init=False)

    def missing(self, needs: Iterable[str]) -> str | None:
        """The first of the needs that it does not offer, or None."""
        given = list(needs)
        words = [need for need in given if need in VOCABULARY]
        return self.operators.missing(words) or super().missing(need for need in given if need not in VOCABULARY)


class Row(NamedTuple):
    """Probes of one operator.

    Attributes:
        operator: its name, the core's and the oracle's.
        arguments: the names of the call's.
        dimensions: of space, a probe each.
        variant: what else the probes are called.
        laplacian: the scheme of a Laplacian.
        vectors: whether the field is one of vectors.
        finite: as of `Probe`; where there are some, the core looks at values.
        within: as of `Probe`.
    """

    operator: str
    arguments: str
    dimensions: tuple[int, ...] = (1, 2, 3)
    variant: str = ""
    laplacian: str = "brookshaw"
    vectors: bool = False
    finite: tuple[str, ...] = ()
    within: Callable[[], AbstractContextManager[Any]] = nullcontext


PARTICLES = "positions supports masses kinds adjacency"
DENSE = "positions supports masses kinds densities adjacency"
FIELD = "positions supports masses kinds densities values adjacency"
ROWS = (
    Row("density", PARTICLES),
    Row("interpolate", FIELD),
    Row("gradient", FIELD),
    Row("divergence", FIELD, (3,), vectors=True),
    Row("curl", FIELD, (2, 3), vectors=True),
    Row("laplacian", FIELD, (1,), "naive", laplacian="naive"),
    Row("laplacian", FIELD, (2,), "brookshaw"),
    Row("laplacian", FIELD, (3,), "dot", laplacian="dot", vectors=True),
    Row("covariance", DENSE, (1, 2)),
    Row("density", PARTICLES, (2,), "validated", finite=("positions", "supports", "masses")),
    *(
        Row(operator, arguments, (2,), variant, within=within)
        for operator, arguments in (("gradient", FIELD), ("covariance", DENSE))
        for variant, within in (("taped", taped), ("sliced", sliced))
    ),
)
"""A dimension and an operator are each covered with others, not all with all: every pair is four kernels to compile."""


def subject() -> SphweftSubject:
    """Every operator, the checks of values, adjoints by the tape and in slices, and an operator of a third party."""
    springs = [
        Probe(
            name=f"{name}-{dimension}d",
            call=_springs_of(spec),
            inputs=partial(_inputs, f"{PARTICLES} charges stiffness".split(), dimension),
            reference=_springs_oracle,
            differentiable=("positions", "charges"),
        )
        for name, spec in (("springs", SPRINGS), ("springs-with-tangent", SPRINGS_WITH_TANGENT))
        for dimension in (1, 2, 3)
    ]
    return SphweftSubject(
        (*(_probe(row, dimension) for row in ROWS for dimension in row.dimensions), *springs),
        without_cache=without_cache,
        counters=lambda: {"views": sphweft.inspect.cached_view_count()},
        packages=("sphweft",),
    )


def _probe(row: Row, dimension: int) -> Probe:
    """One operator in one dimension: the core's call, the oracle's, and the explicit directional derivative."""
    names = row.arguments.split()
    properties = replace(PROPERTIES, laplacian_scheme=sphweft.LaplacianScheme[row.laplacian.upper()])
    box = [0.0] * dimension, [SIDE] * dimension, [True] * dimension

    def state_of(given: Sequence[Any]) -> dict[str, Any]:
        named = dict(zip(names, given, strict=True))
        rest: dict[str, Any] = {name: named.pop(name) for name in ("adjacency", "values") if name in named}
        domain = sphweft.DomainDescription(*box)
        return {"query": sphweft.ParticleState(**named), "domain": domain, "properties": properties, **rest}

    def call(*given: Any) -> Any:
        return getattr(sphweft, row.operator)(**state_of(given), validate="full" if row.finite else "metadata")

    def reference(*given: Any) -> Any:
        named = dict(zip(names, given, strict=True))
        values, _ = named.pop("values", None), named.pop("adjacency")
        particles, operator = oracles.Particles(**named), getattr(oracles, row.operator)
        options = {
            "scheme": row.laplacian if row.operator == "laplacian" else "symmetric",
            "reference_field": values,
            "query_field": values,
        }
        read = {name: value for name, value in options.items() if name in signature(operator).parameters}
        return operator(query=particles, reference=particles, domain=oracles.Domain(*box), rules=RULES, **read)

    for function in (call, reference):
        parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]

    def tangent(inputs: Sequence[Any], tangents: Sequence[Any]) -> Any:
        along = dict(zip(names, tangents, strict=True))
        directions = {name: along.get(name) for name in ("positions", "supports", "masses", "densities")}
        return sphweft.warp_operation_jvp(
            sphweft.Operation[row.operator.upper()],
            **state_of(inputs),
            values_tangent=along.get("values"),
            query_tangents=sphweft.ParticleTangents(**directions),
        )

    return Probe(
        name="-".join(filter(None, (row.operator, row.variant, f"{dimension}d"))),
        call=call,
        inputs=partial(_inputs, names, dimension, width=dimension if row.vectors else 2),
        reference=reference,
        finite=row.finite,
        any_rank=("values",),
        values=("values",) if "values" in names else (),
        tangent=tangent,
        within=row.within,
    )


def _inputs(names: Sequence[str], dimension: int, size: int, dtype: torch.dtype, width: int = 0) -> tuple[Any, ...]:
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
        "values": uniform(size, width) - 0.5,
        "charges": 0.5 + uniform(size),
        "adjacency": _everybody(size),
        "stiffness": 1.5,
    }
    return tuple(made[name] for name in names)


@cache
def _everybody(size: int) -> sphweft.AdjacencyList:
    query, reference = torch.ones(size, size).nonzero().T
    return sphweft.AdjacencyList.from_pairs(query, reference, size, size)


def _springs_of(spec: OperatorSpec) -> Callable[..., Any]:
    def springs(
        positions: Any, supports: Any, masses: Any, kinds: Any, adjacency: Any, charges: Any, stiffness: float
    ) -> Any:
        state = sphweft.ParticleState(positions, supports, masses, kinds)
        context = SPHContext(state, PROPERTIES, adjacency=adjacency)
        return launch_operator(spec, context, charges=charges, stiffness=stiffness)

    return springs


def _springs_oracle(
    positions: Any, supports: Any, masses: Any, kinds: Any, _: Any, charges: Any, stiffness: float
) -> Any:
    x = positions[:, None] - positions[None]
    product = stiffness * charges[:, None] * charges[None]
    return (product[..., None] * x).sum(1), (0.5 * product * (x * x).sum(-1)).sum(1)
