"""Kernels that change a component of a local vector: a module of their own, built with and without the option."""

# mypy: ignore-errors
# The annotations are Warp types held in variables, which mypy does not take for types.

import warp as wp

Doubles = wp.array(dtype=wp.float64)


@wp.kernel
def reassigned(x: Doubles, y: Doubles):
    i = wp.tid()
    v = wp.vec2d(x[i], wp.float64(1.0))
    v[0] = v[0] + x[i] * x[i]
    y[i] = v[0] * v[0]


@wp.kernel
def reassigned_in_loop(n: int, x: Doubles, y: Doubles):
    v = wp.vec2d()
    for j in range(n):
        v[0] = v[0] + x[j] * x[j]
    y[0] = v[0]


@wp.kernel
def added_to(x: Doubles, y: Doubles):
    i = wp.tid()
    v = wp.vec2d(x[i], wp.float64(1.0))
    v[0] += x[i] * x[i]
    y[i] = v[0] * v[0]


@wp.kernel
def added_to_in_loop(n: int, x: Doubles, y: Doubles):
    v = wp.vec2d()
    for j in range(n):
        v[0] += x[j] * x[j]
    y[0] = v[0]
