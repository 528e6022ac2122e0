"""The operators in three dimensions, each by what a pair of particles adds: in plain torch, and in Warp.

A pair's weight w is m_j W_ij or V_j W_ij, or V_j F_ij, where ∇_i W_ij = F_ij x_ij. Gradient, divergence and curl are of
the difference scheme, the Laplacian is Brookshaw's, the support is gathered, the smoothing function is wendland4.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import warp as wp
from particles import Tensors

CONSTANT = 495 / (32 * torch.pi)
"""Of wendland4 in three dimensions, W = C (1 - q)⁶ (1 + 6 q + 35/3 q²) / h³ and F = -56/3 C (1 - q)⁵ (1 + 5 q) / h⁵."""


class Operator(NamedTuple):
    """What distinguishes an operator.

    Attributes:
        name: of the function of `sphweft`.
        entry: shape of its value for one particle.
        term: `(w, x, i, j, f)` → what pairs add, shape (pairs, *entry): their weights and separations, the indices of
            query and reference particles, the field.
        warp_term: `(w, x, f_i, f_j)` → what one pair adds.
        field: whether it is of a field.
        volumes: whether V_j is in the weight, or m_j.
        slope: whether F_ij is in the weight, or W_ij.
    """

    name: str
    entry: tuple[int, ...]
    term: Callable[..., torch.Tensor]
    warp_term: Any
    field: bool = True
    volumes: bool = True
    slope: bool = True

    @property
    def scale(self) -> tuple[float, int]:
        """Constant of W or F, and the power of h that divides it."""
        return (-56 / 3 * CONSTANT, 5) if self.slope else (CONSTANT, 3)


@wp.func
def density_term(w: float, x: wp.vec3, f_i: wp.vec3, f_j: wp.vec3):
    return w


@wp.func
def interpolate_term(w: float, x: wp.vec3, f_i: wp.vec3, f_j: wp.vec3):
    return w * f_j


@wp.func
def gradient_term(w: float, x: wp.vec3, f_i: wp.vec3, f_j: wp.vec3):
    return wp.outer(f_j - f_i, w * x)


@wp.func
def divergence_term(w: float, x: wp.vec3, f_i: wp.vec3, f_j: wp.vec3):
    return wp.dot(f_j - f_i, w * x)


@wp.func
def curl_term(w: float, x: wp.vec3, f_i: wp.vec3, f_j: wp.vec3):
    return wp.cross(w * x, f_j - f_i)


@wp.func
def laplacian_term(w: float, x: wp.vec3, f_i: wp.vec3, f_j: wp.vec3):
    return 2.0 * w * (f_i - f_j)


@wp.func
def covariance_term(w: float, x: wp.vec3, f_i: wp.vec3, f_j: wp.vec3):
    return wp.outer(x, -w * x)


OPERATORS = {
    operator.name: operator
    for operator in (
        Operator("density", (), lambda w, x, i, j, f: w, density_term, field=False, volumes=False, slope=False),
        Operator("interpolate", (3,), lambda w, x, i, j, f: w[:, None] * f[j], interpolate_term, slope=False),
        Operator(
            "gradient",
            (3, 3),
            lambda w, x, i, j, f: (f[j] - f[i])[:, :, None] * (w[:, None] * x)[:, None, :],
            gradient_term,
        ),
        Operator("divergence", (), lambda w, x, i, j, f: w * ((f[j] - f[i]) * x).sum(1), divergence_term),
        Operator("curl", (3,), lambda w, x, i, j, f: torch.linalg.cross(w[:, None] * x, f[j] - f[i]), curl_term),
        Operator("laplacian", (3,), lambda w, x, i, j, f: (2 * w)[:, None] * (f[i] - f[j]), laplacian_term),
        Operator(
            "covariance",
            (3, 3),
            lambda w, x, i, j, f: x[:, :, None] * (-w[:, None] * x)[:, None, :],
            covariance_term,
            field=False,
        ),
    )
}


def pair_sum(operator: Operator, tensors: Tensors, pairs: torch.Tensor) -> torch.Tensor:
    """The operator in plain torch: gathered pairs and `index_add`."""
    i, j = pairs
    positions, masses = tensors["positions"], tensors["masses"]
    constant, power = operator.scale
    x, h = positions[i] - positions[j], tensors["supports"][i]
    q = x.square().sum(1).clamp(min=1e-30).sqrt() / h
    near = (1 - q).clamp(min=0)
    kernel = near**5 * (1 + 5 * q) if operator.slope else near**6 * (1 + q * (6 + q * (35 / 3)))
    amounts = masses / tensors["densities"] if operator.volumes else masses
    terms = operator.term(amounts[j] * (constant * kernel / h**power), x, i, j, tensors["values"])
    return masses.new_zeros(len(masses), *operator.entry).index_add(0, i, terms)


@wp.func
def kernel_value(q: float):
    t = wp.max(1.0 - q, 0.0)
    return t * t * t * t * t * t * (1.0 + q * (6.0 + q * (35.0 / 3.0)))


@wp.func
def kernel_slope(q: float):
    t = wp.max(1.0 - q, 0.0)
    return t * t * t * t * t * (1.0 + 5.0 * q)


ENTRIES = {(): wp.float32, (3,): wp.vec3, (3, 3): wp.mat33}
"""Warp's types."""


def pair_kernel(operator: Operator) -> Any:
    """A Warp kernel that can do this sum and nothing else.

    The loop is a function, and multiplies nothing by its sum: Warp's adjoint does not know the sum after a loop.
    """
    entry, term, volumes = ENTRIES[operator.entry], operator.warp_term, operator.volumes
    kernel = kernel_slope if operator.slope else kernel_value
    constant, power = operator.scale

    @wp.func
    def sum_of(
        i: int,
        positions: wp.array(dtype=wp.vec3),
        supports: wp.array(dtype=float),
        masses: wp.array(dtype=float),
        densities: wp.array(dtype=float),
        values: wp.array(dtype=wp.vec3),
        offsets: wp.array(dtype=int),
        counts: wp.array(dtype=int),
        neighbors: wp.array(dtype=int),
    ):
        total = entry(0.0)
        x_i = positions[i]
        f_i = values[i]
        h = supports[i]
        for at in range(offsets[i], offsets[i] + counts[i]):
            j = neighbors[at]
            x = x_i - positions[j]
            amount = masses[j] / densities[j] if volumes else masses[j]
            total += term(amount * kernel(wp.length(x) / h), x, f_i, values[j])
        return total

    @wp.kernel(module="unique")
    def hand_written(
        positions: wp.array(dtype=wp.vec3),
        supports: wp.array(dtype=float),
        masses: wp.array(dtype=float),
        densities: wp.array(dtype=float),
        values: wp.array(dtype=wp.vec3),
        offsets: wp.array(dtype=int),
        counts: wp.array(dtype=int),
        neighbors: wp.array(dtype=int),
        out: wp.array(dtype=entry),
    ):
        i = wp.tid()
        scale = wp.static(constant) / wp.pow(supports[i], wp.static(float(power)))
        out[i] = scale * sum_of(i, positions, supports, masses, densities, values, offsets, counts, neighbors)

    return hand_written
