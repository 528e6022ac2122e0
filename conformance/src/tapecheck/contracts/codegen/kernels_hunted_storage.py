"""Kernels on structs, tiles, local arrays and unrolled loops, the traps among them followed by their safe form."""

# ruff: noqa: RUF046, UP018
# mypy: ignore-errors

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


@wp.kernel
def counted_by_while(n: int, x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    k = int(0)
    while k < n:
        s += x[k] * x[k]
        k += 1
    y[0] = s


@wp.kernel
def counted_by_range(n: int, x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    for k in range(n):
        s += x[k] * x[k]
    y[0] = s


@wp.kernel(module="unique")
def unrolled_cast(x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    for k in range(3):
        w = wp.float64(k) * x[0]
        s += w * x[k]
    y[0] = s


@wp.kernel
def unrolled_without_cast(x: Doubles, y: Doubles):
    weight = wp.vec3d(wp.float64(0.0), wp.float64(1.0), wp.float64(2.0))
    s = wp.float64(0.0)
    for k in range(3):
        s += weight[k] * x[0] * x[k]
    y[0] = s


@wp.kernel
def unrolled_without_last(x: Doubles, y: Doubles):
    y[0] = x[0] * x[1]


@wp.struct
class Particle:
    mass: wp.float64
    place: wp.vec2d


Particles = wp.array(dtype=Particle)


@wp.kernel
def struct_by_fields(x: Doubles, y: Doubles):
    p = Particle()
    p.mass = x[0] * x[1]
    p.place = wp.vec2d(x[1], x[0])
    y[0] = p.mass * wp.dot(p.place, p.place)


@wp.func
def filled(a: wp.float64, b: wp.float64):
    p = Particle()
    p.mass = a * b
    p.place = wp.vec2d(b, a)
    return p


@wp.kernel
def struct_filled_in_func(x: Doubles, y: Doubles):
    p = filled(x[0], x[1])
    y[0] = p.mass * wp.dot(p.place, p.place)


@wp.kernel
def struct_filled_in_loop(n: int, x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    for _ in range(n):
        p = Particle()
        p.mass = x[0] * x[1]
        p.place = wp.vec2d(x[1], x[0])
        s += p.mass * wp.dot(p.place, p.place)
    y[0] = s


@wp.kernel
def struct_constructed_in_loop(n: int, x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    for _ in range(n):
        p = Particle(x[0] * x[1], wp.vec2d(x[1], x[0]))
        s += p.mass * wp.dot(p.place, p.place)
    y[0] = s


@wp.kernel
def struct_by_constructor(x: Doubles, y: Doubles):
    p = Particle(x[0] * x[1], wp.vec2d(x[1], x[0]))
    y[0] = p.mass * wp.dot(p.place, p.place)


@wp.kernel
def structs_in_memory(t: Particles, x: Doubles, y: Doubles):
    t[0] = Particle(x[0] * x[1], wp.vec2d(x[1], x[0]))
    p = t[0]
    y[0] = p.mass * wp.dot(p.place, p.place)


@wp.kernel
def fields_in_memory(t: Particles, x: Doubles, y: Doubles):
    t[0].mass = x[0] * x[1]
    t[0].place = wp.vec2d(x[1], x[0])
    y[0] = t[0].mass * wp.dot(t[0].place, t[0].place)


@wp.kernel
def structs_not_in_memory(t: Particles, x: Doubles, y: Doubles):
    p = Particle(x[0] * x[1], wp.vec2d(x[1], x[0]))
    y[0] = p.mass * wp.dot(p.place, p.place)


@wp.kernel
def unrolled_continue(x: Doubles, y: Doubles):
    s = x[0]
    for k in range(3):
        if k == 1:
            continue
        s = s * x[k] + x[0]
    y[0] = s


@wp.kernel
def unrolled_if(x: Doubles, y: Doubles):
    s = x[0]
    for k in range(3):
        if k != 1:
            s = s * x[k] + x[0]
    y[0] = s
