"""An implementation of SPH, seen through an adapter: one function that takes a call and gives its result.

    def run(call: Call) -> torch.Tensor:
        query, reference = mine.Particles(…), mine.Particles(…)
        if call.operator == "density":
            return mine.density(query, reference, call.pairs)
        …

    operators = Operators(run, lacks=frozenset({"symmetric", "mean_kernel"}), packages=("mine",))

The words are those of `tapecheck.oracles`, lower case; what an implementation has no word for, it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from tapecheck.contract import Judged, did_you_mean
from tapecheck.lazy import oracles, torch

OPERATORS = ("density", "interpolate", "gradient", "divergence", "curl", "laplacian", "covariance")
SCHEMES = ("symmetric", "difference", "summation", "naive")
LAPLACIANS = ("brookshaw", "dot", "naive")
SCHEMES_OF = {"gradient": SCHEMES, "divergence": SCHEMES, "curl": SCHEMES, "laplacian": LAPLACIANS}
"""The schemes that an operator on both sides' values knows."""
SUPPORT_MODES = ("mean_kernel", "mean_support", "gather", "scatter")
FUNCTIONS = ("wendland4", "wendland2", "wendland6", "cubic_spline", "quartic_spline", "quintic_spline")
DIRECTIONS = (
    *("unmasked", "all_to_all", "fluid_to_fluid", "fluid_to_boundary", "fluid_to_ghost"),
    *("boundary_to_fluid", "boundary_to_boundary", "boundary_to_ghost", "ghost_to_fluid", "ghost_to_boundary"),
    *("all_to_ghost", "all_to_fluid", "all_to_boundary", "fluid_to_all", "boundary_to_all"),
)
PRODUCT = "Hessian product of density"
SEARCH = "neighbour search"
WALK = "operators without a list"
VOLUMES = "supplied volumes"
VOCABULARY = frozenset(
    {PRODUCT, SEARCH, WALK, VOLUMES, *OPERATORS, *SCHEMES, *LAPLACIANS, *SUPPORT_MODES, *FUNCTIONS, *DIRECTIONS}
)
"""What a check may need; of schemes, modes and functions it takes the first that is known."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Call:
    """One call of an operator, in two dimensions, in double precision, kinds in int32.

    Attributes:
        operator: which.
        query: the N particles that receive.
        reference: the M particles that contribute; the same object where the populations are one.
        domain: the box.
        rules: smoothing function, support mode, direction.
        pairs: indices of the pairs that may be in reach, query above reference, int64, shape (2, pairs); None asks the
            implementation to find them itself.
        scheme: the coefficient of a gradient, a divergence or a curl, or the form of a Laplacian.
        query_field: shape (N, *field), where the operator reads it.
        reference_field: shape (M, *field), where the operator reads it.
        reference_volumes: [m²], shape (M,), instead of masses over densities.
    """

    operator: str
    query: oracles.Particles
    reference: oracles.Particles
    domain: oracles.Domain
    rules: oracles.Rules
    pairs: torch.Tensor | None
    scheme: str = ""
    query_field: torch.Tensor | None = None
    reference_field: torch.Tensor | None = None
    reference_volumes: torch.Tensor | None = None

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """Everything that belongs to a particle, by name: `query.positions`, `reference_field`."""
        sides = {"query": self.query} | ({} if self.reference is self.query else {"reference": self.reference})
        found = {
            f"{side}.{name}": tensor for side, particles in sides.items() for name, tensor in vars(particles).items()
        }
        found |= {name: getattr(self, name) for name in ("query_field", "reference_field", "reference_volumes")}
        return {name: tensor for name, tensor in found.items() if tensor is not None}

    def replacing(self, tensors: Mapping[str, torch.Tensor]) -> Call:
        """The same call with some of them replaced, by those names."""
        query, reference = (
            replace(
                getattr(self, side), **{n.partition(".")[2]: t for n, t in tensors.items() if n.startswith(f"{side}.")}
            )
            for side in ("query", "reference")
        )
        fields = {name: tensor for name, tensor in tensors.items() if "." not in name}
        return replace(self, query=query, reference=query if self.reference is self.query else reference, **fields)  # type: ignore[arg-type]


class Listed(NamedTuple):
    """What a neighbour search gives.

    Attributes:
        pairs: indices, query above reference, int64, shape (2, pairs), in the order of the search.
        must_rebuild: `(query, reference)` → whether a pair that is not listed may have come within reach.
    """

    pairs: torch.Tensor
    must_rebuild: Callable[[oracles.Particles, oracles.Particles], bool]


Search: TypeAlias = "Callable[[oracles.Particles, oracles.Particles, oracles.Domain, str, float], Listed]"
Run: TypeAlias = "Callable[[Call], torch.Tensor]"
HessianProduct: TypeAlias = "Callable[[Call, torch.Tensor, torch.Tensor], torch.Tensor]"


@dataclass(frozen=True)
class Operators:
    """An implementation.

    Attributes:
        run: gives an operator's result, of the shape that the one in `tapecheck.oracles` has, of the covariance the
            matrix alone. It hands on the very
            tensors that it gets: gradients and changes in place are judged through it.
        lacks: the words of `VOCABULARY` that it does not know.
        packages: import names of the packages that it is made of.
        hessian_product: gives Σ_j m_j H_ij (v_i - u_j), shape (N, d), for a call of density and the vectors v of the
            queries and u of the references.
        search: finds the pairs of queries and references (the same object where the populations are one) in a box, for
            a support mode, with a margin by which the radius is enlarged; in one, two and three dimensions.
        walks: whether `run` finds neighbours itself where a call has no pairs.
    """

    run: Run
    lacks: frozenset[str] = frozenset()
    packages: tuple[str, ...] = ()
    hessian_product: HessianProduct | None = None
    search: Search | None = None
    walks: bool = False

    def __post_init__(self) -> None:
        for word in self.lacks - VOCABULARY:
            raise ValueError(f"unknown word {word!r}{did_you_mean(word, VOCABULARY)}")

    def missing(self, needs: Iterable[str]) -> str | None:
        """The first of the needs that it lacks, or None."""
        given = {PRODUCT: self.hessian_product, SEARCH: self.search, WALK: self.walks or None}
        lacks = self.lacks | {word for word, what in given.items() if what is None}
        return next((need for need in needs if need in lacks), None)

    def knows(self, *words: str) -> list[str]:
        """Those of some words that it knows."""
        return [word for word in words if word not in self.lacks]


@dataclass(frozen=True)
class SphSubject:
    """An implementation that is judged by contracts of SPH alone."""

    operators: Operators
    judged: frozenset[Judged] = frozenset({"sph"})
    owner: str = "this implementation"

    @property
    def packages(self) -> tuple[str, ...]:
        """Import names of the packages that it is made of."""
        return self.operators.packages

    def missing(self, needs: Iterable[str]) -> str | None:
        """The first of the needs that it lacks, or None."""
        return self.operators.missing(needs)

    def running(self, wrap: Callable[[Run], Run]) -> SphSubject:
        """The same subject with every call going through something else."""
        return replace(self, operators=replace(self.operators, run=wrap(self.operators.run)))
