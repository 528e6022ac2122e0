"""The full product: every operator, scheme, mode, function, dimension, direction and rank against the oracle.

    nox -s sweep

An item is what a kernel is compiled for; inside, it goes through every direction and rank. One or two populations,
periodic or not, volumes supplied or not change by turns.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from operator_rows import AXES, assert_equal, assert_tangent_equal, name_of


def kernels() -> list[dict[str, Any]]:
    """What kernels differ by; a scheme is one of gradients alone."""
    names = ("operator", "scheme", "mode", "function", "dimension")
    product = [dict(zip(names, values, strict=True)) for values in itertools.product(*(AXES[name] for name in names))]
    return [row for row in product if row["operator"] == "gradient" or row["scheme"] == AXES["scheme"][0]]


def rows_of(kernel: dict[str, Any], turn: int) -> list[dict[str, Any]]:
    """Every direction and rank on one kernel; density reads no field, so that it has no rank."""
    ranks = AXES["trailing"] if kernel["operator"] != "density" else [()]
    product = list(itertools.product(AXES["direction"], ranks))
    fixed = kernel | {"periodic": bool(turn & 1), "volumes": bool(turn & 2)}
    return [
        fixed | {"direction": direction, "trailing": trailing, "populations": AXES["populations"][at % 2]}
        for at, (direction, trailing) in enumerate(product, start=turn)
    ]


KERNELS = kernels()


@pytest.mark.parametrize("turn", range(len(KERNELS)), ids=[name_of(kernel) for kernel in KERNELS])
def test_every_direction_and_rank(turn: int) -> None:
    for row in rows_of(KERNELS[turn], turn):
        assert_equal(row)


@pytest.mark.parametrize("turn", range(len(KERNELS)), ids=[name_of(kernel) for kernel in KERNELS])
def test_every_tangent(turn: int) -> None:
    for row in rows_of(KERNELS[turn], turn):
        assert_tangent_equal(row)


def test_size(capsys) -> None:
    sizes = {
        operator: sum(len(rows_of(k, 0)) for k in KERNELS if k["operator"] == operator) for operator in AXES["operator"]
    }
    with capsys.disabled():
        print(f"\n{sum(sizes.values())} combinations of {len(KERNELS)} kinds of kernel: {sizes}")
    schemes, others = len(AXES["scheme"]), len(AXES["mode"]) * len(AXES["function"]) * 3 * len(AXES["direction"])
    ranks = len(AXES["trailing"])
    assert sizes == {"density": others, "interpolate": others * ranks, "gradient": others * ranks * schemes}
