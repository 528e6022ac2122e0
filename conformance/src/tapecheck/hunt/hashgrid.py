"""Neighbours from a hash grid, queried in single precision as it demands, summed in double."""

# ruff: noqa: RUF046, UP018
# mypy: ignore-errors

from typing import Any

import numpy as np
import warp as wp

from tapecheck.hunt.trial import trial, uniform

X = wp.array(dtype=wp.float64)
V = wp.array(dtype=wp.vec3d)
PLACES = uniform(6, 3, low=0.0, high=2.0)
KEPT: list[Any] = []


def grid(subject: Any, inputs: dict[str, Any]) -> tuple[Any, ...]:
    """A grid over the places, with cells as wide as a query reaches."""
    built = subject.HashGrid(8, 8, 8)
    built.build(subject.array(np.asarray(inputs["x"], dtype=np.float32), dtype=subject.vec3), 4.0)
    KEPT[:] = [built]
    return (built.id,)


@wp.func
def single(p: wp.vec3d):
    return wp.vec3(float(p[0]), float(p[1]), float(p[2]))


@trial("density over a query", output=(6,), prepare=grid, x=PLACES, m=(6,))
def grid_density(grid: wp.uint64, x: V, m: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for j in wp.hash_grid_query(grid, single(x[i]), 4.0):
        d = x[i] - x[j]
        s += m[j] * wp.exp(-wp.dot(d, d))
    y[i] = s


@trial("forces over a query, oneself skipped by `continue`", output=(6,), prepare=grid, x=PLACES)
def grid_forces(grid: wp.uint64, x: V, y: V):
    i = wp.tid()
    f = wp.vec3d()
    for j in wp.hash_grid_query(grid, single(x[i]), 4.0):
        if j == i:
            continue
        d = x[i] - x[j]
        r = wp.length(d)
        if r < wp.float64(1.7):
            f += d * wp.exp(-r) / r
    y[i] = f


@trial("a query walked by `hash_grid_query_next` in a `while` loop", output=(6,), prepare=grid, x=PLACES, m=(6,))
def grid_query_next(grid: wp.uint64, x: V, m: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    query = wp.hash_grid_query(grid, single(x[i]), 4.0)
    j = int(0)
    while wp.hash_grid_query_next(query, j):
        d = x[i] - x[j]
        s += m[j] * wp.exp(-wp.dot(d, d))
    y[i] = s


@wp.func
def sums(grid: wp.uint64, x: V, m: X, i: int):
    s = wp.float64(0.0)
    w = wp.float64(0.0)
    for j in wp.hash_grid_query(grid, single(x[i]), 4.0):
        d = x[i] - x[j]
        a = wp.exp(-wp.dot(d, d))
        s += m[j] * a
        w += a
    return s, w


@trial("the quotient of two sums of a function's query", output=(6,), prepare=grid, x=PLACES, m=(6,))
def grid_quotient(grid: wp.uint64, x: V, m: X, y: X):
    i = wp.tid()
    s, w = sums(grid, x, m, i)
    y[i] = s / w


@trial(
    "two queries, the second one uses the sum of the first from a function", output=(6,), prepare=grid, x=PLACES, m=(6,)
)
def grid_twice(grid: wp.uint64, x: V, m: X, y: X):
    i = wp.tid()
    s, w = sums(grid, x, m, i)
    t = wp.float64(0.0)
    for j in wp.hash_grid_query(grid, single(x[i]), 4.0):
        t += (m[j] - s) * (m[j] - s) * wp.length_sq(x[j])
    y[i] = t / w


@trial("particles walked in the grid's order by `hash_grid_point_id`", output=(6,), prepare=grid, x=PLACES, m=(6,))
def grid_point_order(grid: wp.uint64, x: V, m: X, y: X):
    i = wp.hash_grid_point_id(grid, wp.tid())
    s = wp.float64(0.0)
    for j in wp.hash_grid_query(grid, single(x[i]), 4.0):
        s += m[j] * m[i] * wp.length_sq(x[i] - x[j])
    y[i] = s


@trial("pairs scattered from a query", output=(6,), prepare=grid, x=PLACES, m=(6,))
def grid_scatter(grid: wp.uint64, x: V, m: X, y: V):
    i = wp.tid()
    for j in wp.hash_grid_query(grid, single(x[i]), 4.0):
        if j > i:
            f = (x[i] - x[j]) * m[i] * m[j]
            wp.atomic_add(y, i, f)
            wp.atomic_sub(y, j, f)
