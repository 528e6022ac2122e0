"""The arrays of the family's checks: three elements, all equal, so that one number says what an array holds."""

from typing import Any

from tapecheck.contracts.tape import kernels
from tapecheck.subjects.warp import WarpSubject


def leaves(wp: WarpSubject, *values: float) -> list[Any]:
    """Arrays that require a gradient, one for each value."""
    return [wp.full(3, value, dtype=float, requires_grad=True) for value in values]


def seed(wp: WarpSubject, value: float = 1.0) -> Any:
    """An incoming gradient."""
    return wp.full(3, value, dtype=float)


def factors(wp: WarpSubject, a: float, b: float) -> Any:
    """A struct with two arrays that require a gradient."""
    made = kernels.Factors()
    made.a, made.b = leaves(wp, a, b)
    made.weight = 5.0
    return made


def tree(wp: WarpSubject, *values: float) -> Any:
    """A struct in a struct in a struct: arrays a and b on the innermost level, c, then d on the outermost."""
    made = kernels.Tree()
    inner = made.branch.factors
    inner.a, inner.b, made.branch.c, made.d = leaves(wp, *values)
    return made


def values(array: Any) -> list[Any]:
    """What an array holds now: `numpy()` alone is a view of it on the CPU."""
    held: list[Any] = array.numpy().tolist()
    return held
