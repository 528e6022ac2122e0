"""The full product: every operator, scheme, mode, function, dimension, direction and rank against the oracle.

    nox -s sweep

An item is what a kernel is compiled for; inside, it goes through every direction and rank. One or two populations,
periodic or not, volumes supplied or not change by turns.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from operator_rows import AXES, BY_SCHEME, FIELDLESS, assert_equal, assert_tangent_equal, exists, name_of


def kernels() -> list[dict[str, Any]]:
    """What kernels differ by; a scheme is one of gradients, divergences and curls alone, or of Laplacians."""
    names = ("operator", "scheme", "laplacian", "mode", "function", "dimension")
    product = [dict(zip(names, values, strict=True)) for values in itertools.product(*(AXES[name] for name in names))]

    def distinct(row: dict[str, Any]) -> bool:
        by_scheme = row["operator"] in BY_SCHEME or row["scheme"] == AXES["scheme"][0]
        return by_scheme and (row["operator"] == "laplacian" or row["laplacian"] == AXES["laplacian"][0])

    return [row for row in product if exists(row) and distinct(row)]


def rows_of(kernel: dict[str, Any], turn: int) -> list[dict[str, Any]]:
    """Every direction and rank on one kernel; density and covariance read no field, so that they have no rank."""
    ranks = AXES["trailing"] if kernel["operator"] not in FIELDLESS else [()]
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
    schemes, forms, ranks = len(AXES["scheme"]), len(AXES["laplacian"]), len(AXES["trailing"])
    each = len(AXES["mode"]) * len(AXES["function"]) * 3 * len(AXES["direction"])
    assert sizes == {
        "density": each,
        "interpolate": each * ranks,
        "gradient": each * ranks * schemes,
        "divergence": each * ranks * schemes,
        "curl": each * ranks * schemes * 2 // 3,
        "laplacian": each * ranks * forms,
        "covariance": each,
    }
