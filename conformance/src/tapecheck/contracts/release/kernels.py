"""Kernels of the family release."""

from typing import Any

import warp as wp

marked_constant = wp.constant(2.0)
plain_constant = 2.0
closed_over = 2.0


@wp.kernel
def constants(y: wp.array(dtype=float)):
    y[0] = marked_constant
    y[1] = plain_constant
    y[2] = wp.static(closed_over)


@wp.kernel
def store(x: Any, y: wp.array(dtype=Any)):
    y[0] = x


STORED = ("bool", "int32", "int64", "uint32", "float16", "float32", "float64", "vec3", "vec3d", "mat22")
overloads = {name: wp.overload(store, [getattr(wp, name), wp.array(dtype=getattr(wp, name))]) for name in STORED}


@wp.kernel(enable_backward=False)
def square_without_adjoint(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]
