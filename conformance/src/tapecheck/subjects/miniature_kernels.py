"""The kernels of the miniature bridge, in one Warp module, in single and double precision."""

from typing import Any

import warp as wp


@wp.func
def pair_total(
    i: int,
    query: wp.array2d(dtype=Any),
    reference: wp.array2d(dtype=Any),
    masses: wp.array(dtype=Any),
    softening: Any,
):
    total = softening - softening
    for j in range(masses.shape[0]):
        across = query[i, 0] - reference[j, 0]
        along = query[i, 1] - reference[j, 1]
        total += masses[j] * wp.exp(-(across * across + along * along) / (softening * softening))
    return total


@wp.kernel
def pair_sum(
    query: wp.array2d(dtype=Any),
    reference: wp.array2d(dtype=Any),
    masses: wp.array(dtype=Any),
    kinds: wp.array(dtype=int),
    softening: Any,
    sums: wp.array(dtype=Any),
):
    i = wp.tid()
    total = pair_total(i, query, reference, masses, softening)
    if kinds[i] == 1:
        total = total + total
    sums[i] = total * total


@wp.kernel
def product(
    field: wp.array2d(dtype=Any),
    weight: wp.array2d(dtype=Any),
    waves: wp.array2d(dtype=Any),
    squares: wp.array(dtype=Any),
):
    i = wp.tid()
    waves[i, 0] = wp.sin(field[i, 0]) * weight[i, 0]
    waves[i, 1] = wp.sin(field[i, 1]) * weight[i, 1]
    squares[i] = field[i, 0] * field[i, 0] * weight[i, 0] + field[i, 1] * field[i, 1] * weight[i, 1]


@wp.kernel
def product_tangent(
    field: wp.array2d(dtype=Any),
    weight: wp.array2d(dtype=Any),
    d_field: wp.array2d(dtype=Any),
    d_weight: wp.array2d(dtype=Any),
    d_waves: wp.array2d(dtype=Any),
    d_squares: wp.array(dtype=Any),
):
    i = wp.tid()
    total = field[i, 0] - field[i, 0]
    for k in range(2):
        value = field[i, k]
        rate = wp.cos(value) * d_field[i, k] * weight[i, k]
        d_waves[i, k] = rate + wp.sin(value) * d_weight[i, k]
        total += (value + value) * d_field[i, k] * weight[i, k] + value * value * d_weight[i, k]
    d_squares[i] = total


for scalar in (wp.float32, wp.float64):
    row, table = wp.array(dtype=scalar), wp.array2d(dtype=scalar)
    wp.overload(pair_sum, [table, table, row, wp.array(dtype=int), scalar, row])
    wp.overload(product, [table, table, table, row])
    wp.overload(product_tangent, [table, table, table, table, table, row])
