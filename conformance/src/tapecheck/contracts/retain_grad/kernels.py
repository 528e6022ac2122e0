"""The kernels of the family, in one Warp module: a process compiles it once. Those with tiles are in `tile_kernels`."""

# Kernels are translated by Warp, whose stubs type the Python scope only.

import warp as wp


@wp.kernel
def double(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 2.0 * x[i]


@wp.kernel
def triple(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 3.0 * x[i]


@wp.kernel
def triple_from(x: wp.array(dtype=float), first: int, y: wp.array(dtype=float)):
    i = wp.tid()
    y[first + i] = 3.0 * x[i]


@wp.kernel
def double_then_triple(a: wp.array(dtype=float), b: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 2.0 * a[i]
    y[i] = 3.0 * b[i]


@wp.kernel
def double_then_triple_in_a_loop(a: wp.array(dtype=float), b: wp.array(dtype=float), y: wp.array(dtype=float)):
    for i in range(y.shape[0]):
        y[i] = 2.0 * a[i]
        y[i] = 3.0 * b[i]


@wp.kernel
def add_assign(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] += 2.0 * x[i]


@wp.kernel
def subtract_assign(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] -= 2.0 * x[i]


@wp.kernel
def atomic_add(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(y, i, 2.0 * x[i])


@wp.kernel
def atomic_sub(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_sub(y, i, 2.0 * x[i])


@wp.kernel
def vector_by_index(x: wp.array(dtype=float), y: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    y[i][0] = 2.0 * x[i]
    y[i][1] = 3.0 * x[i]
    y[i][2] = 4.0 * x[i]


@wp.kernel
def vector_by_name(x: wp.array(dtype=float), y: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    y[i].x = 2.0 * x[i]
    y[i].y = 3.0 * x[i]
    y[i].z = 4.0 * x[i]


@wp.kernel
def vector_built_first(x: wp.array(dtype=float), y: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    v = wp.vec3()
    v[0] = 2.0 * x[i]
    v[1] = 3.0 * x[i]
    v[2] = 4.0 * x[i]
    y[i] = v


@wp.kernel
def matrix_by_index(x: wp.array(dtype=float), y: wp.array(dtype=wp.mat22)):
    i = wp.tid()
    y[i][0, 0] = 2.0 * x[i]
    y[i][0, 1] = 3.0 * x[i]
    y[i][1, 0] = 4.0 * x[i]
    y[i][1, 1] = 5.0 * x[i]


@wp.kernel
def vector_then_component(a: wp.array(dtype=float), b: wp.array(dtype=float), y: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    y[i] = wp.vec3(a[i], a[i], a[i])
    y[i][1] = 3.0 * b[i]


@wp.kernel
def double_into_grid(x: wp.array(dtype=float), y: wp.array2d(dtype=float)):
    i, j = wp.tid()
    y[i, j] = 2.0 * x[i]


@wp.kernel
def double_into_row(x: wp.array(dtype=float), y: wp.array2d(dtype=float)):
    i, j = wp.tid()
    row = y[i]
    row[j] = 2.0 * x[i]


@wp.struct
class Output:
    y: wp.array(dtype=float)


@wp.kernel
def double_into_field(x: wp.array(dtype=float), output: Output):
    i = wp.tid()
    output.y[i] = 2.0 * x[i]


@wp.kernel
def triple_into_field(x: wp.array(dtype=float), output: Output):
    i = wp.tid()
    output.y[i] = 3.0 * x[i]
