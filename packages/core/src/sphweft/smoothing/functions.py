"""The profile k(q) of a smoothing function and what follows from it, as Warp functions of one precision."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import warp as wp

from sphweft.enums import SmoothingFunction
from sphweft.smoothing.table import Term, derivative, inner_over_q, over_q, profile


class ProfileFunctions(NamedTuple):
    """Warp functions of q = r/h, all zero for q ≥ 1.

    Attributes:
        value: k.
        slope: k'/q, finite at q = 0.
        curvature: k''.
        constant: C_d of the scalar type.
    """

    value: Any
    slope: Any
    curvature: Any
    constant: Any


def profile_functions(function: SmoothingFunction, dimension: int, scalar: Any) -> ProfileFunctions:
    """The Warp functions of a smoothing function for one dimension and one scalar type."""
    terms, constant = profile(function, dimension)
    first = derivative(terms)
    return ProfileFunctions(
        _total(terms, scalar), _slope(first, scalar), _total(derivative(first), scalar), scalar(constant)
    )


def _slope(first: tuple[Term, ...], scalar: Any) -> Any:
    divided = over_q(first)
    if divided:
        return _total(divided, scalar)
    outer = _total(first, scalar)
    knot, inside = inner_over_q(first)
    inner, innermost = _polynomial(inside, scalar), scalar(float(knot))

    @wp.func
    def slope(q: scalar):
        ratio = inner(q)
        if q >= innermost:
            ratio = outer(q) / q
        return ratio

    return slope


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
    knot, zero = scalar(float(term.knot)), scalar(0.0)
    power, factor = _power(term.power, scalar), _polynomial(term.factor, scalar)

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
