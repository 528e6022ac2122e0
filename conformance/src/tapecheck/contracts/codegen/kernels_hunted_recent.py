"""Kernels on tiles and local arrays, which not every release compiles, each followed by its safe form."""

import warp as wp

Doubles = wp.array(dtype=wp.float64)


@wp.func
def squared(a: wp.float64):
    return a * a


@wp.kernel
def least_of_tile(x: Doubles, y: Doubles):
    t = wp.tile_load(x, shape=4)
    wp.tile_store(y, wp.tile_min(t))


@wp.kernel
def least_unrolled(x: Doubles, y: Doubles):
    best = x[0]
    for k in range(1, 4):
        best = wp.min(best, x[k])
    y[0] = best


@wp.kernel
def product_of_tile(x: Doubles, y: Doubles):
    t = wp.tile_load(x, shape=4)
    wp.tile_store(y, wp.tile_reduce(wp.mul, t))


@wp.kernel
def product_unrolled(x: Doubles, y: Doubles):
    product = x[0]
    for k in range(1, 4):
        product *= x[k]
    y[0] = product


@wp.kernel
def tile_sum_squared(n: int, x: Doubles, y: Doubles):
    s = wp.tile_zeros(shape=1, dtype=wp.float64)
    for k in range(n):
        s += wp.tile_sum(wp.tile_load(x, shape=2, offset=2 * k))
    wp.tile_store(y, wp.tile_map(squared, s))


@wp.kernel
def tile_sum_at_once(n: int, x: Doubles, y: Doubles):
    s = wp.tile_sum(wp.tile_load(x, shape=4))
    wp.tile_store(y, wp.tile_map(squared, s))


@wp.kernel
def local_array(x: Doubles, y: Doubles):
    t = wp.zeros(shape=2, dtype=wp.float64)
    t[0] = x[0] * x[1]
    t[1] = x[1]
    y[0] = t[0] * t[1]


@wp.kernel
def local_vector(x: Doubles, y: Doubles):
    t = wp.vec2d(x[0] * x[1], x[1])
    y[0] = t[0] * t[1]
