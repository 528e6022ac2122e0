"""The arrays that the checks of the family start from."""

from typing import Any

from tapecheck.subjects.warp import WarpSubject

SEED = [1.0, 2.0, 3.0, 4.0]
"""A seed that tells the elements apart."""


def leaves(wp: WarpSubject, count: int, size: int = 4) -> list[Any]:
    """Arrays of ones that need a gradient."""
    return [wp.ones(size, dtype=float, requires_grad=True) for _ in range(count)]


def output(wp: WarpSubject, size: int = 4, **options: Any) -> Any:
    """An array of zeros with a gradient buffer of its own."""
    return wp.zeros(size, dtype=float, requires_grad=True, **options)


def times(factor: float, values: list[float] = SEED) -> list[float]:
    return [factor * value for value in values]
