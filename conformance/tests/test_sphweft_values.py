"""The core's operators and their tangents equal the oracle's, over a pairwise covering array of what shapes them."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from operator_rows import AXES, assert_equal, assert_tangent_equal, exists, name_of


def covering() -> list[dict[str, Any]]:
    """Rows in which every pair of values of any two axes occurs, found greedily from a fixed seed."""
    names = list(AXES)
    missing = {((a, x), (b, y)) for a, b in itertools.combinations(names, 2) for x in AXES[a] for y in AXES[b]}
    missing.discard((("operator", "curl"), ("dimension", 1)))
    draw, rows = random.Random(0), []
    while missing:
        (a, x), (b, y) = min(missing, key=str)
        best: tuple[int, dict[str, Any]] = (-1, {})
        for _ in range(40):
            row = {name: draw.choice(values) for name, values in AXES.items()} | {a: x, b: y}
            if not exists(row):
                continue
            covered = sum(pair in missing for pair in itertools.combinations(row.items(), 2))
            best = max(best, (covered, row), key=lambda entry: entry[0])
        missing -= set(itertools.combinations(best[1].items(), 2))
        rows.append(best[1])
    return rows


@pytest.mark.parametrize("row", covering(), ids=name_of)
def test_forward_equals_the_oracle(row: dict[str, Any]) -> None:
    assert_equal(row)


@pytest.mark.parametrize("row", covering(), ids=name_of)
def test_tangent_equals_the_oracles(row: dict[str, Any]) -> None:
    assert_tangent_equal(row)
