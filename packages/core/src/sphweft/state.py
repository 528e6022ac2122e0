"""What an operator is given: particles, a domain, the choice of discretisation, supplied volumes and corrections.

Every object checks its own metadata (shapes, dtypes, devices) when it is made and never looks at a value;
`validate="full"` of an operator does that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch

from sphweft.enums import GradientScheme, InteractionDirection, LaplacianScheme, SmoothingFunction, SupportMode
from sphweft.errors import InputError, of_type, same_device, tensor_of
from sphweft.transforms import varies

FLOATING = (torch.float32, torch.float64)


@dataclass(frozen=True, eq=False)
class ParticleState:
    """A population of n particles in d dimensions. All floating tensors have one dtype, float32 or float64.

    Attributes:
        positions: [m], shape (n, d), d = 1, 2 or 3; in a periodic domain they may lie outside the box.
        supports: full support radii h [m], shape (n,).
        masses: [kg in three dimensions], shape (n,).
        kinds: int32, shape (n,), values of `ParticleKind`.
        densities: [mass over volume], shape (n,); needed by operators that use m/ρ, unless volumes are supplied.

    Raises:
        InputError: a tensor is missing or has the wrong type, shape, dtype or device.
    """

    positions: torch.Tensor
    supports: torch.Tensor
    masses: torch.Tensor
    kinds: torch.Tensor
    densities: torch.Tensor | None = None

    def __post_init__(self) -> None:
        positions = tensor_of("positions", self.positions, FLOATING, "(n, d) with d = 1, 2 or 3")
        if positions.ndim != 2 or not 1 <= positions.shape[1] <= 3:
            raise InputError("positions", "shape (n, d) with d = 1, 2 or 3", f"shape {tuple(positions.shape)}")
        shape = positions.shape[:1]
        for name in ("supports", "masses", "kinds", "densities"):
            value = getattr(self, name)
            if value is None and name == "densities":
                continue
            dtypes = (torch.int32,) if name == "kinds" else (positions.dtype,)
            tensor_of(name, value, dtypes, f"({shape[0]},)")
            if value.shape != shape:
                raise InputError(name, f"shape {tuple(shape)}, one a row of positions", f"shape {tuple(value.shape)}")
            same_device(name, value, positions, "positions")

    @property
    def count(self) -> int:
        """The number of particles n."""
        return self.positions.shape[0]

    @property
    def dimension(self) -> int:
        """The number of dimensions d."""
        return self.positions.shape[1]


@dataclass(frozen=True, eq=False)
class ParticleTangents:
    """A direction in which a population varies; None for what does not. Shapes and dtypes are the state's.

    Attributes:
        positions: shape (n, d).
        supports: shape (n,).
        masses: shape (n,).
        densities: shape (n,).
    """

    positions: torch.Tensor | None = None
    supports: torch.Tensor | None = None
    masses: torch.Tensor | None = None
    densities: torch.Tensor | None = None

    def by_field(self, side: str) -> dict[str, torch.Tensor]:
        """Those that are there, by the fields of the flat layout on that side."""
        return {f"{side}_{name}": tangent for name, tangent in vars(self).items() if tangent is not None}


@dataclass(frozen=True, eq=False)
class DomainDescription:
    """A box, periodic axis by axis.

    Attributes:
        minimum: lower corner [m], one value an axis.
        maximum: upper corner [m].
        periodic: whether opposite faces are one, an axis each.

    Raises:
        InputError: lengths differ, a side is not positive, a periodic one is not finite, or a bound is differentiated
            by, which no operator can be.
    """

    minimum: Sequence[float]
    maximum: Sequence[float]
    periodic: Sequence[bool]
    _tensors: dict[tuple[torch.dtype, torch.device], tuple[torch.Tensor, ...]] = field(
        default_factory=dict, init=False, repr=False
    )

    def __post_init__(self) -> None:
        for name, kind in (("minimum", float), ("maximum", float), ("periodic", bool)):
            values = getattr(self, name)
            _constant(name, values)
            try:
                object.__setattr__(self, name, tuple(kind(value) for value in values))
            except (TypeError, ValueError):
                raise InputError(name, f"a sequence of {kind.__name__}s, one an axis", repr(values)) from None
        if not len(self.minimum) == len(self.maximum) == len(self.periodic):
            lengths = f"lengths {len(self.minimum)}, {len(self.maximum)}, {len(self.periodic)}"
            raise InputError("minimum, maximum, periodic", "one value an axis each", lengths)
        if not all(low < high for low, high in zip(self.minimum, self.maximum, strict=True)):
            raise InputError("maximum", f"above the minimum {self.minimum} on every axis", str(self.maximum))
        if not all(map(math.isfinite, self.periods)):
            raise InputError("minimum, maximum", "finite on a periodic axis", f"{self.minimum}, {self.maximum}")

    @property
    def dimension(self) -> int:
        """The number of axes."""
        return len(self.minimum)

    @cached_property
    def periods(self) -> tuple[float, ...]:
        """The length of each side that is periodic, 0 for the others [m]."""
        rows = zip(self.minimum, self.maximum, self.periodic, strict=True)
        return tuple(high - low if wraps else 0.0 for low, high, wraps in rows)

    def tensors(self, dtype: torch.dtype, device: torch.device) -> tuple[torch.Tensor, ...]:
        """Minimum, maximum and periodicity (1 or 0) as tensors of shape (1, d), the same objects on every call."""
        key = (dtype, device)
        if key not in self._tensors:
            rows = (self.minimum, self.maximum, [float(flag) for flag in self.periodic])
            with torch.inference_mode(False):  # else no later call could save them for its backward pass
                self._tensors[key] = tuple(torch.tensor([row], dtype=dtype, device=device) for row in rows)
        return self._tensors[key]

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_tensors": {}}


def _constant(name: str, bounds: object) -> None:
    """Refuses bounds that carry a gradient or a tangent, which a float would drop silently."""
    for bound in bounds if isinstance(bounds, (tuple, list)) else (bounds,):
        if isinstance(bound, torch.Tensor) and (bound.requires_grad or varies(bound)):
            remedy = "detach it, or differentiate by positions instead"
            raise InputError(name, "constants, since no operator is differentiable by them", "a varying one", remedy)


def check_together(query: ParticleState, reference: ParticleState, domain: DomainDescription | None) -> None:
    """Refuses two populations and a box that cannot be used in one call.

    Raises:
        InputError: dimensions, dtypes or devices differ.
    """
    of_type("query", query, ParticleState)
    if reference is not query:
        of_type("reference", reference, ParticleState)
        if reference.dimension != query.dimension:
            raise InputError("reference", f"{query.dimension} dimensions, as query", f"{reference.dimension}")
        if reference.positions.dtype != query.positions.dtype:
            actual = f"dtype {reference.positions.dtype}"
            raise InputError("reference", f"dtype {query.positions.dtype}, as query", actual)
        same_device("reference", reference.positions, query.positions, "query")
    if domain is not None:
        of_type("domain", domain, DomainDescription)
    if domain is not None and domain.dimension != query.dimension:
        raise InputError("domain", f"{query.dimension} axes, as the positions", f"{domain.dimension}")


@dataclass(frozen=True)
class OperationProperties:
    """How a sum over neighbours is discretised.

    Attributes:
        smoothing_function: the smoothing function W.
        support_mode: whose support radius a pair uses.
        gradient_scheme: the coefficient of gradient, divergence and curl.
        laplacian_scheme: how second derivatives are formed.
        direction: which kinds of particles contribute to which.
    """

    smoothing_function: SmoothingFunction = SmoothingFunction.WENDLAND4
    support_mode: SupportMode = SupportMode.GATHER
    gradient_scheme: GradientScheme = GradientScheme.DIFFERENCE
    direction: InteractionDirection = InteractionDirection.ALL_TO_ALL
    laplacian_scheme: LaplacianScheme = LaplacianScheme.BROOKSHAW

    def __post_init__(self) -> None:
        for name, kind in (
            ("smoothing_function", SmoothingFunction),
            ("support_mode", SupportMode),
            ("gradient_scheme", GradientScheme),
            ("direction", InteractionDirection),
            ("laplacian_scheme", LaplacianScheme),
        ):
            of_type(name, getattr(self, name), kind)

    @property
    def masked(self) -> bool:
        """Whether any kind of particle is left out."""
        return self.direction is not InteractionDirection.UNMASKED

    @cached_property
    def specialisation(self) -> tuple[int, int, int, bool]:
        """What kernels differ by."""
        return int(self.smoothing_function), int(self.support_mode), int(self.gradient_scheme), self.masked


@dataclass(frozen=True, eq=False)
class CRKState:
    """The reproducing-kernel correction of a population of n particles: W^R = a (1 + b·x) W (Frontiere et al. 2017).

    Attributes:
        a: shape (n,).
        b: shape (n, d).
        gradient_of_a: shape (n, d).
        gradient_of_b: derivative axis first, shape (n, d, d).
    """

    a: torch.Tensor
    b: torch.Tensor
    gradient_of_a: torch.Tensor
    gradient_of_b: torch.Tensor


@dataclass(frozen=True, eq=False)
class Corrections:
    """What corrects the sums of a call; None where a thing is not used.

    Attributes:
        query_volumes: [volume], shape (N,).
        reference_volumes: [volume], shape (M,), instead of m/ρ.
        query_crk: the query side's reproducing-kernel correction.
        reference_crk: the reference side's.
        query_omega: grad-h factor Ω, shape (N,).
        reference_omega: the same of the reference side, shape (M,).
        renormalization: matrices L, shape (N, d, d).
    """

    query_volumes: torch.Tensor | None = None
    reference_volumes: torch.Tensor | None = None
    query_crk: CRKState | None = None
    reference_crk: CRKState | None = None
    query_omega: torch.Tensor | None = None
    reference_omega: torch.Tensor | None = None
    renormalization: torch.Tensor | None = None
