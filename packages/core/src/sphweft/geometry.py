"""The geometry of a pair: its separation, and the smoothing function's value and gradient, with closed-form adjoints.

Each function carries its own adjoint (`wp.func_grad`): the derivatives at r = 0 are then exact, the wrap into the
nearest image has none, and the reverse pass runs two to four times as fast as one that Warp derives. The adjoint of
the gradient needs the second derivative of the profile, and so on: one row of the table of profiles gives them all.
"""

from typing import Any, NamedTuple

import warp as wp

from sphweft.enums import SmoothingFunction, SupportMode
from sphweft.smoothing.functions import profile_functions


class PairFunctions(NamedTuple):
    """Warp functions of a pair; x_ij is its separation, dx_ij and dh tangents.

    Attributes:
        separation: `(x_i, x_j, period)` → x_ij, the nearest image where the period of an axis is positive. Its tangent
            is dx_i - dx_j.
        value: `(x_ij, h_i, h_j)` → W_ij of the support mode.
        gradient: `(x_ij, h_i, h_j)` → ∇_i W_ij of the support mode.
        value_tangent: `(x_ij, h_i, h_j, dx_ij, dh_i, dh_j)` → dW_ij.
        gradient_tangent: the same of ∇_i W_ij.
    """

    separation: Any
    value: Any
    gradient: Any
    value_tangent: Any
    gradient_tangent: Any


def pair_functions(
    function: SmoothingFunction, support_mode: SupportMode, dimension: int, scalar: Any, periodic: bool
) -> PairFunctions:
    """The geometry for one smoothing function, support mode, dimension, precision, and kind of domain."""
    value, gradient, *tangents = _kernel(function, dimension, scalar)
    return PairFunctions(
        _separation(dimension, scalar, periodic),
        _of_mode(value, support_mode, dimension, scalar),
        _of_mode(gradient, support_mode, dimension, scalar),
        *(_tangent_of_mode(tangent, support_mode, dimension, scalar) for tangent in tangents),
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


def _kernel(function: SmoothingFunction, dimension: int, scalar: Any) -> tuple[Any, Any, Any, Any]:
    """W(x, h) = C_d k(q)/h^d and ∇W(x, h) = C_d k'(q)/q x/h^(d+2) with q = |x|/h, h the full support; their tangents.

    What varies W, and what varies the factor of x in ∇W, stands once, and serves the adjoint and the tangent; both get
    q and 1/h, so that a pair's distance is computed, and differentiated, once.
    """
    vector = wp.types.vector(length=dimension, dtype=scalar)
    k, slope, curvature, constant = profile_functions(function, dimension, scalar)
    zero, one, order = scalar(0.0), scalar(1.0), scalar(float(dimension))
    axes = dimension

    @wp.func
    def scale(inverse: scalar):
        volume = constant * inverse
        for _ in range(wp.static(axes - 1)):
            volume = volume * inverse
        return volume

    @wp.func
    def factor(q: scalar, inverse: scalar):
        """∇W = factor x = ∂W/∂x."""
        return scale(inverse) * inverse * inverse * slope(q)

    @wp.func
    def widening(q: scalar, inverse: scalar):
        """∂W/∂h."""
        return -scale(inverse) * inverse * (order * k(q) + q * q * slope(q))

    @wp.func
    def variation(q: scalar, inverse: scalar):
        """∂factor/∂x = variation[0] x, ∂factor/∂h = variation[1]."""
        first, second = slope(q), curvature(q)
        cubed = scale(inverse) * inverse * inverse * inverse
        along = zero
        if q * q > zero:
            along = cubed * inverse * (second - first) / (q * q)
        return along, -cubed * (second + (order + one) * first)

    @wp.func
    def value(x: vector, h: scalar):
        inverse = one / h
        return scale(inverse) * k(wp.length(x) * inverse)

    @wp.func_grad(value)
    def value_adjoint(x: vector, h: scalar, seed: scalar):
        inverse = one / h
        q = wp.length(x) * inverse
        wp.adjoint[x] += seed * factor(q, inverse) * x
        wp.adjoint[h] += seed * widening(q, inverse)

    @wp.func
    def value_tangent(x: vector, h: scalar, dx: vector, dh: scalar):
        inverse = one / h
        q = wp.length(x) * inverse
        return factor(q, inverse) * wp.dot(x, dx) + widening(q, inverse) * dh

    @wp.func
    def gradient(x: vector, h: scalar):
        inverse = one / h
        return factor(wp.length(x) * inverse, inverse) * x

    @wp.func_grad(gradient)
    def gradient_adjoint(x: vector, h: scalar, seed: vector):
        inverse = one / h
        q = wp.length(x) * inverse
        along, wider = variation(q, inverse)
        towards = wp.dot(x, seed)
        wp.adjoint[x] += factor(q, inverse) * seed + along * towards * x
        wp.adjoint[h] += wider * towards

    @wp.func
    def gradient_tangent(x: vector, h: scalar, dx: vector, dh: scalar):
        inverse = one / h
        q = wp.length(x) * inverse
        along, wider = variation(q, inverse)
        return factor(q, inverse) * dx + (along * wp.dot(x, dx) + wider * dh) * x

    return value, gradient, value_tangent, gradient_tangent


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
