"""The profile k(q) of a smoothing function and what follows from it, as Warp functions of one precision."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import warp as wp

from sphweft.enums import SmoothingFunction
from sphweft.smoothing.table import Term, derivative, inner_over_q, over_q, profile, slopes


class ProfileFunctions(NamedTuple):
    """Warp functions of q = r/h, all zero for q ≥ 1.

    Attributes:
        value: k.
        slope: k'/q, finite at q = 0.
        slope_rate: its derivative.
        curvature: k''.
        curvature_rate: its derivative.
        constant: C_d of the scalar type.
    """

    value: Any
    slope: Any
    slope_rate: Any
    curvature: Any
    curvature_rate: Any
    constant: Any


def profile_functions(function: SmoothingFunction, dimension: int, scalar: Any) -> ProfileFunctions:
    """The Warp functions of a smoothing function for one dimension and one scalar type, with exact adjoints."""
    terms, constant = profile(function, dimension)
    first = derivative(terms)
    second = derivative(first)
    return ProfileFunctions(
        _with_adjoint(_total(terms, scalar), _total(first, scalar), scalar),
        *_slope(first, scalar),
        *_with_derivative(second, scalar),
        scalar(constant),
    )


def _with_derivative(terms: tuple[Term, ...], scalar: Any) -> tuple[Any, Any]:
    """A sum of terms and its derivative, both with exact adjoints."""
    first = derivative(terms)
    rate = _with_adjoint(_total(first, scalar), _total(derivative(first), scalar), scalar)
    return _with_adjoint(_total(terms, scalar), rate, scalar), rate


def _with_adjoint(value: Any, rate: Any, scalar: Any) -> Any:
    """The function, its adjoint by its derivative, where Warp's own would go through every power and product."""

    @wp.func_grad(value)
    def adjoint(q: scalar, seed: scalar):
        wp.adjoint[q] += seed * rate(q)

    return value


def _slope(first: tuple[Term, ...], scalar: Any) -> tuple[Any, Any]:
    divided = over_q(first)
    if divided:
        return _with_derivative(divided, scalar)
    knot, inside = inner_over_q(first)
    innermost, inner, inner_rate = scalar(float(knot)), _polynomial(inside, scalar), _polynomial(slopes(inside), scalar)
    outer, outer_rate = _with_derivative(first, scalar)

    @wp.func
    def slope(q: scalar):
        ratio = inner(q)
        if q >= innermost:
            ratio = outer(q) / q
        return ratio

    @wp.func
    def rate(q: scalar):
        change = inner_rate(q)
        if q >= innermost:
            change = (outer_rate(q) - outer(q) / q) / q
        return change

    return _with_adjoint(slope, rate, scalar), rate


def _total(terms: Sequence[Term], scalar: Any) -> Any:
    own = _term(terms[0], scalar)
    if len(terms) == 1:
        return own
    others = _total(terms[1:], scalar)

    @wp.func
    def total(q: scalar):
        return own(q) + others(q)

    return total


def _term(term: Term, scalar: Any) -> Any:
    knot, zero, factor = scalar(float(term.knot)), scalar(0.0), _polynomial(term.factor, scalar)
    if not term.power:

        @wp.func
        def step(q: scalar):
            return wp.where(q < knot, factor(q), zero)

        return step
    power = _power(term.power, scalar)

    @wp.func
    def value(q: scalar):
        return power(wp.max(knot - q, zero)) * factor(q)

    return value


def _polynomial(coefficients: Sequence[Fraction], scalar: Any) -> Any:
    constant = scalar(float(coefficients[0]))
    if len(coefficients) == 1:

        @wp.func
        def alone(q: scalar):
            return constant

        return alone
    rest = _polynomial(coefficients[1:], scalar)

    @wp.func
    def horner(q: scalar):
        return constant + q * rest(q)

    return horner


def _power(exponent: int, scalar: Any) -> Any:
    if exponent == 1:

        @wp.func
        def itself(t: scalar):
            return t

        return itself
    lower = _power(exponent - 1, scalar)

    @wp.func
    def raised(t: scalar):
        return t * lower(t)

    return raised
