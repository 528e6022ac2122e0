"""The smoothing functions k(q), one table, and their derivatives to any order (Dehnen & Aly 2012; Price 2012)."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor


class Term(NamedTuple):
    """(edge - q)₊^power · P(q), P given by its coefficients, the constant first."""

    edge: float
    power: int
    polynomial: tuple[float, ...] = (1.0,)


class SmoothingFunction(NamedTuple):
    """k(q) as a sum of terms, and C_1, C_2, C_3, which make the integral of C_d k(r/h)/h^d one."""

    in_one_dimension: tuple[Term, ...]
    otherwise: tuple[Term, ...]
    constants: tuple[float, float, float]


def _spline(constants: tuple[float, float, float], *terms: tuple[float, float, int]) -> SmoothingFunction:
    """Σ factor (edge - q)₊^power, the same in every dimension."""
    row = tuple(Term(edge, power, (factor,)) for factor, edge, power in terms)
    return SmoothingFunction(row, row, constants)


PI = math.pi
SMOOTHING_FUNCTIONS = {
    "wendland2": SmoothingFunction(
        (Term(1, 3, (1, 3)),),
        (Term(1, 4, (1, 4)),),
        (5 / 4, 7 / PI, 21 / (2 * PI)),
    ),
    "wendland4": SmoothingFunction(
        (Term(1, 5, (1, 5, 8)),),
        (Term(1, 6, (1, 6, 35 / 3)),),
        (3 / 2, 9 / PI, 495 / (32 * PI)),
    ),
    "wendland6": SmoothingFunction(
        (Term(1, 7, (1, 7, 19, 21)),),
        (Term(1, 8, (1, 8, 25, 32)),),
        (55 / 32, 78 / (7 * PI), 1365 / (64 * PI)),
    ),
    "cubic_spline": _spline(
        (8 / 3, 80 / (7 * PI), 16 / PI),
        *((1, 1, 3), (-4, 1 / 2, 3)),
    ),
    "quartic_spline": _spline(
        (3125 / 768, 46875 / (2398 * PI), 15625 / (512 * PI)),
        *((1, 1, 4), (-5, 3 / 5, 4), (10, 1 / 5, 4)),
    ),
    "quintic_spline": _spline(
        (243 / 40, 15309 / (478 * PI), 2187 / (40 * PI)),
        *((1, 1, 5), (-6, 2 / 3, 5), (15, 1 / 3, 5)),
    ),
}
"""Every smoothing function by name. A new one is one more row."""


def constant(*, function: str, dimension: int) -> float:
    """C_d."""
    return SMOOTHING_FUNCTIONS[function].constants[dimension - 1]


def profile(q: Tensor, *, function: str, dimension: int, order: int = 0) -> Tensor:
    """The derivative of k(q) of some order, zero for q > 1.

    At an edge the derivative is that of the inner side: a pair at the cutoff interacts.

    Args:
        q: distance over support radius, any shape.
        function: a key of `SMOOTHING_FUNCTIONS`.
        dimension: 1, 2 or 3.
        order: 0 for k, 1 for k', 2 for k'', 3 for k'''.
    """
    total = torch.zeros_like(q)
    for edge, power, polynomial in _terms(function, dimension, order):
        value = (edge - q) ** power * sum(factor * q**exponent for exponent, factor in enumerate(polynomial))
        total = total + torch.where(q <= edge, value, 0.0)
    return total


def at_origin(*, function: str, dimension: int, order: int) -> float:
    """The derivative of k of some order at q = 0."""
    return sum(edge**power * polynomial[0] for edge, power, polynomial in _terms(function, dimension, order))


def require_hessian(*, function: str, dimension: int) -> None:
    """Sees to it that W has a Hessian at r = 0.

    Raises:
        ValueError: k'(0) is not zero, so W has a cusp there.
    """
    slope = at_origin(function=function, dimension=dimension, order=1)
    if abs(slope) > 1e-12:
        raise ValueError(f"{function} has no Hessian at the origin: its k'(0) is {slope:g}, it must be 0")


def _terms(function: str, dimension: int, order: int) -> tuple[Term, ...]:
    """The terms of the derivative of k of some order."""
    row = SMOOTHING_FUNCTIONS[function]
    terms = row.in_one_dimension if dimension == 1 else row.otherwise
    for _ in range(order):
        terms = tuple(_derivative(term) for term in terms)
    return terms


def _derivative(term: Term) -> Term:
    """d/dq (e - q)^n P = (e - q)^(n-1) [(e - q) P' - n P]; where n is 0, P' alone."""
    edge, power, polynomial = term
    slope = [exponent * factor for exponent, factor in enumerate(polynomial)][1:]  # P'
    if power == 0:
        return Term(edge, 0, tuple(slope) or (0.0,))
    bracket = [-power * factor for factor in polynomial]
    for exponent, factor in enumerate(slope):
        bracket[exponent] += edge * factor
        bracket[exponent + 1] -= factor
    return Term(edge, power - 1, tuple(bracket))
