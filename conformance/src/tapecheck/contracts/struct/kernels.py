"""The structs and kernels of the family, in one Warp module: a process compiles it once."""

import warp as wp


@wp.struct
class Source:
    x: wp.array(dtype=float)


@wp.struct
class Outer:
    inner: Source


@wp.struct
class Sink:
    y: wp.array(dtype=float)


@wp.struct
class Weighted:
    x: wp.array(dtype=float)
    weight: wp.array(dtype=float)


@wp.struct
class Scaling:
    factor: float
    direction: wp.vec3
    power: int


@wp.kernel
def square(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]


@wp.kernel
def square_field(source: Source, y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = source.x[i] * source.x[i]


@wp.kernel
def square_nested_field(outer: Outer, y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = outer.inner.x[i] * outer.inner.x[i]


@wp.kernel
def square_into_field(x: wp.array(dtype=float), sink: Sink):
    i = wp.tid()
    sink.y[i] = x[i] * x[i]


@wp.kernel
def weigh(weighted: Weighted, y: wp.array(dtype=float)):
    i = wp.tid()
    if weighted.weight:
        y[i] = weighted.x[i] * weighted.weight[i]
    else:
        y[i] = weighted.x[i]


@wp.kernel
def scale_by_fields(x: wp.array(dtype=float), scaling: Scaling, y: wp.array(dtype=float)):
    i = wp.tid()
    if scaling.power == 2:
        y[i] = scaling.factor * scaling.direction[1] * x[i] * x[i]
    else:
        y[i] = scaling.factor * scaling.direction[1] * x[i]
