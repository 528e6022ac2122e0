"""What some releases lack or cannot compile: each kernel is tried in a process of its own."""

# mypy: ignore-errors

import warp as wp

from tapecheck.hunt.trial import trial, uniform

X = wp.array(dtype=wp.float64)
X2 = wp.array2d(dtype=wp.float64)
V = wp.array(dtype=wp.vec3d)


@trial("a slice of an array inside a kernel", x=(8,))
def array_slice(x: X, y: X):
    i = wp.tid()
    part = x[i : i + 3]
    y[i] = part[0] * part[1] + part[2]


@trial("a slice of a vector", x=(4, 3))
def vector_slice(x: V, y: X):
    i = wp.tid()
    part = x[i][0:2]
    y[i] = wp.dot(part, part) * part[1]


@trial("a slice of a vector assigned", x=(4, 3))
def vector_slice_assigned(x: V, y: X):
    i = wp.tid()
    v = wp.vec3d()
    v[0:2] = wp.vec2d(x[i][1] * x[i][2], x[i][0])
    y[i] = wp.dot(v, x[i])


@trial("a column of a matrix assigned and read", x=(4, 3))
def matrix_column(x: V, y: V):
    i = wp.tid()
    m = wp.outer(x[i], x[i])
    c = m[:, 1]
    y[i] = c * m[0, 0]


@trial("a local array", x=(4,))
def local_array(x: X, y: X):
    i = wp.tid()
    t = wp.zeros(shape=4, dtype=wp.float64)
    for k in range(4):
        t[k] = x[k] * x[i]
    y[i] = t[0] * t[1] + t[2] * t[3]


@trial("a local array filled in a loop of run-time length", fixed=(4,), x=(4,))
def local_array_dynamic(n: int, x: X, y: X):
    i = wp.tid()
    t = wp.zeros(shape=4, dtype=wp.float64)
    for k in range(n):
        t[k] = x[k] * x[i]
    y[i] = t[0] * t[1] + t[2] * t[3]


@trial("spatial vectors: dot and cross", x=(4, 3), w=(4, 3))
def spatial(x: V, w: V, y: V):
    i = wp.tid()
    a = wp.spatial_vectord(x[i][0], x[i][1], x[i][2], w[i][0], w[i][1], w[i][2])
    b = wp.spatial_vectord(w[i][0], w[i][1], w[i][2], x[i][2], w[3 - i][0], x[i][0])
    c = wp.spatial_cross(a, b) + wp.spatial_cross_dual(b, a)
    y[i] = wp.spatial_top(c) * wp.spatial_dot(a, b) + wp.spatial_bottom(c)


@trial("a tuple indexed by a constant", x=(4,))
def tuple_indexed(x: X, y: X):
    i = wp.tid()
    t = (x[i] * x[i], x[3 - i])
    y[i] = t[0] * t[1]


@trial("a chained comparison", x=(8,), output=(8,))
def chained_comparison(x: X, y: X):
    i = wp.tid()
    if wp.float64(0.6) < x[i] < wp.float64(1.2):
        y[i] = x[i] * x[i]
    else:
        y[i] = x[i] * wp.float64(3.0)


@trial("a negative index", x=(4, 3))
def negative_index(x: V, y: X):
    i = wp.tid()
    y[i] = x[i][-1] * x[i][0]


@trial("a power in place", x=uniform(4, low=1.1, high=1.4))
def power_in_place(x: X, y: X):
    i = wp.tid()
    s = x[i]
    s **= wp.float64(3.0)
    y[i] = s * x[i]


@trial("normal equations solved by Cholesky on tiles", output=(4,), tile=32, w=(4, 4), x=(4,))
def tile_cholesky_solved(w: X2, x: X, y: X):
    a = wp.tile_load(w, shape=(4, 4))
    b = wp.tile_load(x, shape=4)
    m = wp.tile_zeros(shape=(4, 4), dtype=wp.float64)
    wp.tile_matmul(a, wp.tile_transpose(a), m)
    wp.tile_store(y, wp.tile_cholesky_solve(wp.tile_cholesky(m), b))


@wp.struct
class Body:
    place: wp.vec3d


@trial("components of a vector in a struct", x=(4, 3))
def struct_vector_components(x: V, y: X):
    i = wp.tid()
    body = Body()
    body.place[0] = x[i][1]
    body.place[1] = x[i][2] * x[i][0]
    body.place[2] += x[i][0]
    y[i] = wp.dot(body.place, body.place)


@trial("components of vectors in memory added to", output=(2,), dim=4, x=(4, 3))
def atomic_components(x: V, y: V):
    i = wp.tid()
    for a in range(3):
        y[i % 2][a] += x[i][a] * x[i][(a + 1) % 3]


@trial("the variable of an unrolled loop cast to a double, then used as an index", x=(4,))
def unrolled_cast(x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(4):
        w = wp.float64(k) * x[i]
        s += w * x[k]
    y[i] = s
