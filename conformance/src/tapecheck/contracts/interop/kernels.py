"""Kernels of the family interop."""

from typing import Any

import warp as wp

vec1 = wp.types.vector(length=1, dtype=wp.float32)


@wp.kernel
def double_in_place(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = 2.0 * x[i]


@wp.kernel
def square(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]


@wp.kernel
def copy_table(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    i, j = wp.tid()
    y[i, j] = x[i, j]


@wp.kernel
def twice(x: wp.array(dtype=Any), y: wp.array(dtype=Any)):
    i = wp.tid()
    y[i] = x[i] + x[i]


for element in (wp.float32, wp.float64, vec1, wp.vec3, wp.vec2d, wp.mat22, wp.mat33d):
    wp.overload(twice, [wp.array(dtype=element), wp.array(dtype=element)])


@wp.struct
class Point:
    x: float
