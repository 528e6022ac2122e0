"""The smoothing functions as data, and their derivatives by exact polynomial algebra.

W(r, h) = C_d k(q) / h^d with q = r/h and h the full support radius. Every k is a sum of terms
a (c - q)₊^p P(q), so each derivative is again such a sum and its coefficients are rational: nothing is differentiated
by hand, and no digit is lost by expanding a power around the wrong end. Sources: Dehnen & Aly 2012 (Wendland
functions), Price 2012 (splines).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from sphweft.enums import SmoothingFunction

Polynomial = tuple[Fraction, ...]
"""Coefficients, lowest power first."""


class Term(NamedTuple):
    """(knot - q)₊^power · factor(q)."""

    knot: Fraction
    power: int
    factor: Polynomial


class Profile(NamedTuple):
    """A smoothing function in one dimension count: k as a sum of terms, and the constant C_d."""

    terms: tuple[Term, ...]
    constant: float


def _wendland(power: int, *factor: Fraction | int) -> tuple[Term, ...]:
    return (Term(Fraction(1), power, tuple(map(Fraction, factor))),)


def _spline(power: int, *knots: tuple[int, Fraction]) -> tuple[Term, ...]:
    return tuple(Term(knot, power, (Fraction(amplitude),)) for amplitude, knot in knots)


_PI = math.pi
_F = Fraction

_FUNCTIONS: dict[SmoothingFunction, tuple[tuple[Term, ...], tuple[Term, ...], tuple[float, float, float]]] = {
    # function: terms in one dimension, terms in two and three, C_1 C_2 C_3
    SmoothingFunction.WENDLAND2: (_wendland(3, 1, 3), _wendland(4, 1, 4), (5 / 4, 7 / _PI, 21 / (2 * _PI))),
    SmoothingFunction.WENDLAND4: (
        _wendland(5, 1, 5, 8),
        _wendland(6, 1, 6, _F(35, 3)),
        (3 / 2, 9 / _PI, 495 / (32 * _PI)),
    ),
    SmoothingFunction.WENDLAND6: (
        _wendland(7, 1, 7, 19, 21),
        _wendland(8, 1, 8, 25, 32),
        (55 / 32, 78 / (7 * _PI), 1365 / (64 * _PI)),
    ),
    SmoothingFunction.CUBIC_SPLINE: (
        *(_spline(3, (1, _F(1)), (-4, _F(1, 2))),) * 2,
        (8 / 3, 80 / (7 * _PI), 16 / _PI),
    ),
    SmoothingFunction.QUARTIC_SPLINE: (
        *(_spline(4, (1, _F(1)), (-5, _F(3, 5)), (10, _F(1, 5))),) * 2,
        (3125 / 768, 46875 / (2398 * _PI), 15625 / (512 * _PI)),
    ),
    SmoothingFunction.QUINTIC_SPLINE: (
        *(_spline(5, (1, _F(1)), (-6, _F(2, 3)), (15, _F(1, 3))),) * 2,
        (243 / 40, 15309 / (478 * _PI), 2187 / (40 * _PI)),
    ),
}


def profile(function: SmoothingFunction, dimension: int) -> Profile:
    """The profile of a smoothing function in one, two or three dimensions."""
    in_line, elsewhere, constants = _FUNCTIONS[function]
    return Profile(in_line if dimension == 1 else elsewhere, constants[dimension - 1])


def derivative(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """d/dq of a sum of terms."""
    return tuple(_term_derivative(term) for term in terms)


def _term_derivative(term: Term) -> Term:
    if not term.power:  # a step, whose jump is nobody's derivative
        return Term(term.knot, 0, slopes(term.factor) or (Fraction(0),))
    factor = _sum(_scaled(term.factor, -term.power), _product((term.knot, Fraction(-1)), slopes(term.factor)))
    return Term(term.knot, term.power - 1, factor)


def slopes(polynomial: Polynomial) -> Polynomial:
    """d/dq of a polynomial."""
    return tuple(n * c for n, c in enumerate(polynomial))[1:]


def over_q(terms: tuple[Term, ...]) -> tuple[Term, ...] | None:
    """The sum divided by q as a sum of terms, or None where the factors are not divisible by q."""
    if any(term.factor[0] for term in terms):
        return None
    return tuple(Term(term.knot, term.power, term.factor[1:]) for term in terms)


def inner_over_q(terms: tuple[Term, ...]) -> tuple[Fraction, Polynomial]:
    """The innermost knot, and the sum divided by q as one polynomial for q below it.

    Raises:
        ValueError: the sum does not vanish at q = 0, so that the function has no second derivative at the origin.
    """
    total: Polynomial = ()
    for term in terms:
        expanded = term.factor
        for _ in range(term.power):
            expanded = _product((term.knot, Fraction(-1)), expanded)
        total = _sum(total, expanded)
    if total[0]:
        raise ValueError("a smoothing function with k'(0) ≠ 0 has no Hessian at the origin")
    return min(term.knot for term in terms), total[1:]


def _sum(a: Polynomial, b: Polynomial) -> Polynomial:
    length = max(len(a), len(b))
    return tuple((a[n] if n < len(a) else Fraction(0)) + (b[n] if n < len(b) else Fraction(0)) for n in range(length))


def _scaled(a: Polynomial, by: int) -> Polynomial:
    return tuple(c * by for c in a)


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    result = [Fraction(0)] * (len(a) + len(b) - 1) if b else []
    for n, c in enumerate(a):
        for m, other in enumerate(b):
            result[n + m] += c * other
    return tuple(result)
