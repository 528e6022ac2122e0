"""Kernels whose adjoints lack something, for the faulty adjoints of the hunted kernels; `place` is (3, 2)."""

# mypy: ignore-errors

import warp as wp

from tapecheck.contracts.codegen.kernels_hunted_storage import Particles

Doubles = wp.array(dtype=wp.float64)


@wp.kernel
def place_lost(x: Doubles, y: Doubles):
    y[0] = x[0] * x[1] * wp.float64(13.0)


@wp.kernel
def place_lost_in_loop(n: int, x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    for _ in range(n):
        s += x[0] * x[1] * wp.float64(13.0)
    y[0] = s


@wp.kernel
def place_lost_in_memory(t: Particles, x: Doubles, y: Doubles):
    y[0] = x[0] * x[1] * wp.float64(13.0)


@wp.kernel
def unrolled_break(x: Doubles, y: Doubles):
    y[0] = x[0] * x[0] + x[0]
