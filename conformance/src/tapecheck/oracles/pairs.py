"""Every pair of a query and a reference particle: distance, selection, and the smoothing function's forms.

Arrays are dense, query first. Everything here has exact first and second derivatives, those at r = 0 included.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from tapecheck.oracles import smoothing
from tapecheck.oracles.geometry import Domain, minimum_image, require_nearest_image
from tapecheck.oracles.kinds import pair_mask


@dataclass(frozen=True, eq=False)
class Particles:
    """A population of particles, in double precision.

    Attributes:
        positions: [m], shape (n, d).
        supports: full support radii [m], shape (n,).
        masses: [kg], shape (n,).
        kinds: fluid 0, boundary 1, ghost 2, other 3; integers, shape (n,).
        densities: [kg/m^d], shape (n,); only where an operator reads them.
    """

    positions: Tensor
    supports: Tensor
    masses: Tensor
    kinds: Tensor
    densities: Tensor | None = None


@dataclass(frozen=True)
class Rules:
    """What shapes every operator alike.

    Attributes:
        function: the smoothing function, a key of `smoothing.SMOOTHING_FUNCTIONS`.
        support_mode: gather, scatter, mean_support or mean_kernel.
        direction: a key of `kinds.DIRECTIONS`.
        calibration: the lattice factor that divides W and all its derivatives.
    """

    function: str = "wendland2"
    support_mode: str = "gather"
    direction: str = "all_to_all"
    calibration: float = 1.0


@dataclass(frozen=True, eq=False)
class Part:
    """One of the kernels whose weighted sum is that of a pair.

    Attributes:
        weight: its weight.
        support: h [m], shape (N, M).
        by_query: ∂h/∂h_i.
    """

    weight: float
    support: Tensor
    by_query: float


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs.

    Attributes:
        x: x_ij [m], shape (N, M, d).
        r: |x_ij| [m], shape (N, M); zero with zero derivative where the two coincide.
        apart: r > 0, shape (N, M).
        selected: the pairs that interact, shape (N, M): r ≤ search radius, and of the right kinds.
        parts: the kernels whose weighted sum is that of a pair.
        rules: what was asked for.
    """

    x: Tensor
    r: Tensor
    apart: Tensor
    selected: Tensor
    parts: tuple[Part, ...]
    rules: Rules

    @property
    def dimension(self) -> int:
        return self.x.shape[-1]

    @property
    def count(self) -> Tensor:
        """How many pairs of each query interact, itself included; integers of shape (N,)."""
        return self.selected.sum(1)

    @property
    def unit(self) -> Tensor:
        """x_ij / r, zero where r = 0; shape (N, M, d)."""
        return self.x * self.apart[..., None] / torch.where(self.apart, self.r, 1.0)[..., None]

    def of_query(self, values: Tensor, otherwise: float = 0.0) -> Tensor:
        """Values of the queries, (N, *field), at each interacting pair, (N, M, *field)."""
        return self._where_selected(values[:, None], otherwise)

    def of_reference(self, values: Tensor, otherwise: float = 0.0) -> Tensor:
        """Values of the references, (M, *field), at each interacting pair, (N, M, *field)."""
        return self._where_selected(values[None], otherwise)

    def value(self) -> Tensor:
        """W = C k(q)/h^d [m^-d], shape (N, M)."""
        return self._kernel(lambda h: self._k(h) / h**self.dimension)

    def gradient(self) -> Tensor:
        """∇_i W = x̂ C k'(q)/h^(d+1) [m^-(d+1)], shape (N, M, d); zero where r = 0."""
        return self.x * self._kernel(lambda h: self._slope(h) / h ** (self.dimension + 2))[..., None]

    def radial_laplacian(self) -> Tensor:
        """W'' + (d - 1) W'/r [m^-(d+2)], the trace of the Hessian, shape (N, M)."""
        d = self.dimension
        return self._kernel(lambda h: (self._curvature(h) + (d - 1) * self._slope(h)) / h ** (d + 2))

    def hessian(self) -> Tensor:
        """x̂x̂ᵀ W'' + (I - x̂x̂ᵀ) W'/r [m^-(d+2)], shape (N, M, d, d); I W''(0) where r = 0.

        Raises:
            ValueError: the smoothing function has none at the origin.
        """
        d = self.dimension
        smoothing.require_hessian(function=self.rules.function, dimension=d)
        outer = self.unit[..., :, None] * self.unit[..., None, :]
        identity = torch.eye(d, dtype=self.x.dtype, device=self.x.device)
        along = self._kernel(lambda h: self._curvature(h) / h ** (d + 2))[..., None, None]
        across = self._kernel(lambda h: self._slope(h) / h ** (d + 2))[..., None, None]
        return outer * along + (identity - outer) * across  # where r = 0, x̂ is zero and k'/q is k''(0)

    def support_derivative(self) -> Tensor:
        """∂W/∂h_i, by -C (d k + q k')/h^(d+1) [m^-(d+1)], shape (N, M)."""
        d = self.dimension

        def by_support(h: Tensor) -> Tensor:
            return -(d * self._k(h) + self._q_squared(h) * self._slope(h)) / h ** (d + 1)

        return self._kernel(by_support, by_query=True)

    def _kernel(self, form: Callable[[Tensor], Tensor], by_query: bool = False) -> Tensor:
        """C/L Σ weight · form(h), over the parts within their own support, at the interacting pairs."""
        factor = smoothing.constant(function=self.rules.function, dimension=self.dimension) / self.rules.calibration
        total = torch.zeros_like(self.r)
        for part in self.parts:
            weight = part.weight * (part.by_query if by_query else 1.0)
            total = total + factor * weight * torch.where(self.r <= part.support, form(part.support), 0.0)
        return self._where_selected(total, 0.0)

    # At r = 0 q has no derivative, but k, k'/q and k'' have: there they are the first terms of Taylor's series,
    # k = k(0) + k''(0) q²/2, q² being differentiable everywhere. The third derivative at the origin is taken as zero.

    def _k(self, h: Tensor) -> Tensor:
        taylor = self._at_origin(0) + self._at_origin(2) * self._q_squared(h) / 2
        return torch.where(self.apart, self._profile(h, 0), taylor)

    def _slope(self, h: Tensor) -> Tensor:
        """k'(q)/q, at the origin k''(0)."""
        q = torch.where(self.apart, self.r / h, 1.0)
        return torch.where(self.apart, self._profile(h, 1) / q, self._at_origin(2))

    def _curvature(self, h: Tensor) -> Tensor:
        return torch.where(self.apart, self._profile(h, 2), self._at_origin(2))

    def _q_squared(self, h: Tensor) -> Tensor:
        return (self.x**2).sum(-1) / h**2

    def _profile(self, h: Tensor, order: int) -> Tensor:
        return smoothing.profile(self.r / h, function=self.rules.function, dimension=self.dimension, order=order)

    def _at_origin(self, order: int) -> float:
        return smoothing.at_origin(function=self.rules.function, dimension=self.dimension, order=order)

    def _where_selected(self, values: Tensor, otherwise: float) -> Tensor:
        """Replaces what belongs to pairs that do not interact, so that it cannot reach a result or a derivative."""
        selected = self.selected.reshape(*self.selected.shape, *[1] * (values.ndim - 2))
        return torch.where(selected, values, otherwise)


def pair_up(*, query: Particles, reference: Particles, domain: Domain, rules: Rules) -> Pairs:
    """All pairs of two populations.

    Raises:
        ValueError: a support is larger than half a period, or the calibration is not finite and positive.
        TypeError: the positions are not in double precision.
    """
    for name, particles in (("query", query), ("reference", reference)):
        if particles.positions.dtype != torch.float64:
            raise TypeError(f"the oracle works in double precision; {name} positions are {particles.positions.dtype}")
    require_factor(rules.calibration)
    x = minimum_image(query.positions, reference.positions, domain)
    squared = (x**2).sum(-1)
    apart = squared > 0
    r = torch.where(apart, torch.sqrt(torch.where(apart, squared, 1.0)), 0.0)
    own, other = query.supports[:, None].expand_as(r), reference.supports[None].expand_as(r)
    parts, radius = _supports(own, other, rules.support_mode)
    require_nearest_image(radius, domain)
    selected = (r <= radius) & pair_mask(query.kinds, reference.kinds, direction=rules.direction)
    return Pairs(x, r, apart, selected, parts, rules)


def near(*, query: Particles, reference: Particles, domain: Domain, support_mode: str, margin: float = 0.0) -> Tensor:
    """The pairs with r ≤ search radius + margin, query above reference, int64, shape (2, pairs), of whatever kinds.

    Raises:
        ValueError: a search radius, with margin, is larger than half a period.
    """
    x = minimum_image(query.positions, reference.positions, domain)
    r = torch.sqrt((x**2).sum(-1))
    _, radius = _supports(query.supports[:, None].expand_as(r), reference.supports[None].expand_as(r), support_mode)
    require_nearest_image(radius + margin, domain)
    return (r <= radius + margin).nonzero().T


def require_factor(calibration: float) -> None:
    """Sees to it that a lattice factor can divide.

    Raises:
        ValueError: it is not finite and positive.
    """
    if not (math.isfinite(calibration) and calibration > 0):
        raise ValueError(f"the calibration factor must be finite and positive, it is {calibration}")


def _supports(own: Tensor, other: Tensor, mode: str) -> tuple[tuple[Part, ...], Tensor]:
    """The parts of a pair's kernel and its search radius, for h_i and h_j [m], shape (N, M)."""
    if mode == "gather":
        return (Part(1.0, own, 1.0),), own
    if mode == "scatter":
        return (Part(1.0, other, 0.0),), other
    if mode == "mean_support":
        mean = (own + other) / 2
        return (Part(1.0, mean, 0.5),), mean
    if mode == "mean_kernel":
        return (Part(0.5, own, 1.0), Part(0.5, other, 0.0)), torch.maximum(own, other)
    raise ValueError(f"unknown support mode {mode!r}: gather, scatter, mean_support or mean_kernel")
