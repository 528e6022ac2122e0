"""The geometry of a pair: its separation, and the forms of the smoothing function that are summed, with their tangents.

The value and the gradient carry their own adjoint (`wp.func_grad`): the derivatives at r = 0 are then exact, the wrap
into the nearest image has none, and the reverse pass runs two to four times as fast as one that Warp derives. A form's
adjoint needs the next derivative of the profile, and so on: one row of the table of profiles gives them all.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import warp as wp

from sphweft.enums import SmoothingFunction, SupportMode
from sphweft.smoothing.functions import ProfileFunctions, profile_functions


class PairFunctions(NamedTuple):
    """Warp functions of a pair; x_ij is its separation, dx_ij and dh tangents.

    Attributes:
        separation: `(x_i, x_j, period)` → x_ij, the nearest image where the period of an axis is positive. Its tangent
            is dx_i - dx_j.
        reach: `(h_i, h_j)` → how far apart a pair of the support mode interacts.
        geometry: `(x_ij, h_i, h_j)` → the form of the support mode.
        geometry_tangent: `(x_ij, h_i, h_j, dx_ij, dh_i, dh_j)` → its tangent.
    """

    separation: Any
    reach: Any
    geometry: Any
    geometry_tangent: Any


def pair_functions(
    form: str, function: SmoothingFunction, support_mode: SupportMode, dimension: int, scalar: Any, periodic: bool
) -> PairFunctions:
    """The geometry for one form of `FORMS`, smoothing function, support mode, dimension, precision, kind of domain."""
    kernel, tangent = FORMS[form](_radial(profile_functions(function, dimension, scalar), dimension, scalar))
    return PairFunctions(
        _separation(dimension, scalar, periodic),
        _reach(support_mode, scalar),
        _of_mode(kernel, support_mode, dimension, scalar),
        _tangent_of_mode(tangent, support_mode, dimension, scalar),
    )


def _separation(dimension: int, scalar: Any, periodic: bool) -> Any:
    vector = wp.types.vector(length=dimension, dtype=scalar)
    zero, half, axes = scalar(0.0), scalar(0.5), dimension

    @wp.func
    def nearest(a: vector, b: vector, period: vector):
        x = a - b
        if periodic:
            for axis in range(wp.static(axes)):
                if period[axis] > zero:
                    x[axis] = x[axis] - period[axis] * wp.floor(x[axis] / period[axis] + half)
        return x

    @wp.func_grad(nearest)
    def adjoint(a: vector, b: vector, period: vector, seed: vector):
        wp.adjoint[a] += seed
        wp.adjoint[b] += -seed

    return nearest


class Radial(NamedTuple):
    """What forms are made of, as Warp functions of q = r/h and 1/h: `size` and, of most, how it varies.

    A variation is two numbers, (a, b): ∂/∂x = a x and ∂/∂h = b.

    Attributes:
        dimension, scalar: of all of them.
        value: W, and its variation.
        factor: ∇W = factor x, and its variation.
        laplacian: W'' + (d - 1) W'/r, zero at r = 0, and its variation.
    """

    dimension: int
    scalar: Any
    value: tuple[Any, Any]
    factor: tuple[Any, Any]
    laplacian: tuple[Any, Any]


def _radial(profile: ProfileFunctions, dimension: int, scalar: Any) -> Radial:
    """W(x, h) = C_d k(q)/h^d and what follows from it; h is the full support."""
    k, slope, slope_rate, curvature, curvature_rate, constant = profile
    zero, one, order, others = scalar(0.0), scalar(1.0), scalar(float(dimension)), scalar(float(dimension - 1))
    axes = dimension

    @wp.func
    def scale(inverse: scalar):
        volume = constant * inverse
        for _ in range(wp.static(axes - 1)):
            volume = volume * inverse
        return volume

    @wp.func
    def value(q: scalar, inverse: scalar):
        return scale(inverse) * k(q)

    @wp.func
    def factor(q: scalar, inverse: scalar):
        return scale(inverse) * inverse * inverse * slope(q)

    @wp.func
    def value_variation(q: scalar, inverse: scalar):
        return factor(q, inverse), -scale(inverse) * inverse * (order * k(q) + q * q * slope(q))

    @wp.func
    def factor_variation(q: scalar, inverse: scalar):
        first, second = slope(q), curvature(q)
        cubed = scale(inverse) * inverse * inverse * inverse
        along = zero
        if q * q > zero:
            along = cubed * inverse * (second - first) / (q * q)
        return along, -cubed * (second + (order + one) * first)

    @wp.func
    def laplacian(q: scalar, inverse: scalar):
        return wp.where(q > zero, scale(inverse) * inverse * inverse * (curvature(q) + others * slope(q)), zero)

    @wp.func
    def laplacian_variation(q: scalar, inverse: scalar):
        cubed = scale(inverse) * inverse * inverse * inverse
        rate = curvature_rate(q) + others * slope_rate(q)
        along = zero
        wider = zero
        if q > zero:
            along = cubed * inverse * rate / q
            wider = -cubed * ((order + one + one) * (curvature(q) + others * slope(q)) + q * rate)
        return along, wider

    return Radial(
        dimension, scalar, (value, value_variation), (factor, factor_variation), (laplacian, laplacian_variation)
    )


def _scalar_form(dimension: int, scalar: Any, size: Any, variation: Any) -> tuple[Any, Any]:
    """A number that hangs on the distance alone, and its tangent."""
    vector, one = wp.types.vector(length=dimension, dtype=scalar), scalar(1.0)

    @wp.func
    def form(x: vector, h: scalar):
        inverse = one / h
        return size(wp.length(x) * inverse, inverse)

    @wp.func_grad(form)
    def adjoint(x: vector, h: scalar, seed: scalar):
        inverse = one / h
        along, wider = variation(wp.length(x) * inverse, inverse)
        wp.adjoint[x] += seed * along * x
        wp.adjoint[h] += seed * wider

    @wp.func
    def tangent(x: vector, h: scalar, dx: vector, dh: scalar):
        inverse = one / h
        along, wider = variation(wp.length(x) * inverse, inverse)
        return along * wp.dot(x, dx) + wider * dh

    return form, tangent


def _value(radial: Radial) -> tuple[Any, Any]:
    """W_ij."""
    return _scalar_form(radial.dimension, radial.scalar, *radial.value)


def _laplacian(radial: Radial) -> tuple[Any, Any]:
    """The radial Laplacian, skipped at r = 0."""
    return _scalar_form(radial.dimension, radial.scalar, *radial.laplacian)


def _flux(radial: Radial) -> tuple[Any, Any]:
    """F = ∇W_ij · x_ij / r² (Brookshaw 1985), skipped at r = 0."""
    zero, scalar = radial.scalar(0.0), radial.scalar
    factor, variation = radial.factor

    @wp.func
    def size(q: scalar, inverse: scalar):
        return wp.where(q > zero, factor(q, inverse), zero)

    @wp.func
    def apart(q: scalar, inverse: scalar):
        along, wider = variation(q, inverse)
        return wp.where(q > zero, along, zero), wp.where(q > zero, wider, zero)

    return _scalar_form(radial.dimension, scalar, size, apart)


def _gradient(radial: Radial) -> tuple[Any, Any]:
    """∇_i W_ij."""
    scalar, one = radial.scalar, radial.scalar(1.0)
    vector = wp.types.vector(length=radial.dimension, dtype=scalar)
    factor, variation = radial.factor

    @wp.func
    def gradient(x: vector, h: scalar):
        inverse = one / h
        return factor(wp.length(x) * inverse, inverse) * x

    @wp.func_grad(gradient)
    def adjoint(x: vector, h: scalar, seed: vector):
        inverse = one / h
        q = wp.length(x) * inverse
        along, wider = variation(q, inverse)
        towards = wp.dot(x, seed)
        wp.adjoint[x] += factor(q, inverse) * seed + along * towards * x
        wp.adjoint[h] += wider * towards

    @wp.func
    def tangent(x: vector, h: scalar, dx: vector, dh: scalar):
        inverse = one / h
        q = wp.length(x) * inverse
        along, wider = variation(q, inverse)
        return factor(q, inverse) * dx + (along * wp.dot(x, dx) + wider * dh) * x

    return gradient, tangent


def _moment(radial: Radial) -> tuple[Any, Any]:
    """-x_ij ⊗ ∇_i W_ij."""
    scalar, vector = radial.scalar, wp.types.vector(length=radial.dimension, dtype=radial.scalar)
    gradient, gradient_tangent = _gradient(radial)

    @wp.func
    def moment(x: vector, h: scalar):
        return -wp.outer(x, gradient(x, h))

    @wp.func
    def tangent(x: vector, h: scalar, dx: vector, dh: scalar):
        return -wp.outer(dx, gradient(x, h)) - wp.outer(x, gradient_tangent(x, h, dx, dh))

    return moment, tangent


def _projection(radial: Radial) -> tuple[Any, Any]:
    """F [I - (d + 2) n nᵀ], n = x_ij/r (Español & Revenga 2003), skipped at r = 0."""
    scalar, one, zero = radial.scalar, radial.scalar(1.0), radial.scalar(0.0)
    dimension, weight = radial.dimension, radial.scalar(float(radial.dimension + 2))
    vector, matrix = wp.types.vector(dimension, scalar), wp.types.matrix((dimension, dimension), scalar)
    factor, variation = radial.factor
    nothing = matrix(zero)

    @wp.func
    def projection(x: vector, h: scalar):
        inverse = one / h
        r = wp.length(x)
        form = nothing
        if r > zero:
            n = x / r
            form = factor(r * inverse, inverse) * (wp.identity(wp.static(dimension), scalar) - weight * wp.outer(n, n))
        return form

    @wp.func
    def tangent(x: vector, h: scalar, dx: vector, dh: scalar):
        inverse = one / h
        r = wp.length(x)
        form = nothing
        if r > zero:
            n = x / r
            dn = (dx - wp.dot(n, dx) * n) / r
            along, wider = variation(r * inverse, inverse)
            change = along * wp.dot(x, dx) + wider * dh
            turned = weight * factor(r * inverse, inverse) * (wp.outer(dn, n) + wp.outer(n, dn))
            form = change * (wp.identity(wp.static(dimension), scalar) - weight * wp.outer(n, n)) - turned
        return form

    return projection, tangent


FORMS: dict[str, Callable[[Radial], tuple[Any, Any]]] = {
    "value": _value,
    "gradient": _gradient,
    "laplacian": _laplacian,
    "flux": _flux,
    "projection": _projection,
    "moment": _moment,
}
"""What is summed over pairs, and its tangent."""


def _reach(mode: SupportMode, scalar: Any) -> Any:
    gather, scatter, mean_support = (mode == each for each in list(SupportMode)[:3])
    half = scalar(0.5)

    @wp.func
    def reach(h_i: scalar, h_j: scalar):
        if gather:
            found = h_i
        elif scatter:
            found = h_j
        elif mean_support:
            found = half * (h_i + h_j)
        else:
            found = wp.max(h_i, h_j)
        return found

    return reach


def _of_mode(kernel: Any, mode: SupportMode, dimension: int, scalar: Any) -> Any:
    vector, half = wp.types.vector(length=dimension, dtype=scalar), scalar(0.5)
    gather, scatter = mode == SupportMode.GATHER, mode == SupportMode.SCATTER
    mean_support = mode == SupportMode.MEAN_SUPPORT

    @wp.func
    def of_mode(x: vector, h_i: scalar, h_j: scalar):
        if gather:
            value = kernel(x, h_i)
        elif scatter:
            value = kernel(x, h_j)
        elif mean_support:
            value = kernel(x, half * (h_i + h_j))
        else:
            value = half * (kernel(x, h_i) + kernel(x, h_j))
        return value

    return of_mode


def _tangent_of_mode(tangent: Any, mode: SupportMode, dimension: int, scalar: Any) -> Any:
    vector, half = wp.types.vector(length=dimension, dtype=scalar), scalar(0.5)
    gather, scatter = mode == SupportMode.GATHER, mode == SupportMode.SCATTER
    mean_support = mode == SupportMode.MEAN_SUPPORT

    @wp.func
    def of_mode(x: vector, h_i: scalar, h_j: scalar, dx: vector, dh_i: scalar, dh_j: scalar):
        if gather:
            value = tangent(x, h_i, dx, dh_i)
        elif scatter:
            value = tangent(x, h_j, dx, dh_j)
        elif mean_support:
            value = tangent(x, half * (h_i + h_j), dx, half * (dh_i + dh_j))
        else:
            value = half * (tangent(x, h_i, dx, dh_i) + tangent(x, h_j, dx, dh_j))
        return value

    return of_mode
