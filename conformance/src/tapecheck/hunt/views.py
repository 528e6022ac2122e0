"""Views of arrays inside kernels, arrays of several dimensions, integer arithmetic for indices."""

# ruff: noqa: E741, RUF046, UP018
# mypy: ignore-errors

import numpy as np
import warp as wp

from tapecheck.hunt.trial import CSR, trial

X = wp.array(dtype=wp.float64)
X2 = wp.array2d(dtype=wp.float64)
X3 = wp.array3d(dtype=wp.float64)
V = wp.array(dtype=wp.vec3d)
I = wp.array(dtype=wp.int32)


@trial("a row of a matrix as a view, read", x=(4, 3))
def row_view(x: X2, y: X):
    i = wp.tid()
    row = x[i]
    y[i] = row[0] * row[1] + row[2] * row[2]


@trial("a row as a view, read in a loop of run-time length", x=(4, 3))
def row_view_loop(x: X2, y: X):
    i = wp.tid()
    row = x[i]
    s = wp.float64(0.0)
    for k in range(row.shape[0]):
        s += row[k] * row[k] * x[3 - i, 0]
    y[i] = s


@wp.func
def sum_of_squares(row: X):
    s = wp.float64(0.0)
    for k in range(row.shape[0]):
        s += row[k] * row[k]
    return s


@trial("a row as a view, passed to a function", x=(4, 3))
def row_view_to_func(x: X2, y: X):
    i = wp.tid()
    s = sum_of_squares(x[i])
    y[i] = s * s


@trial("a row of the output as a view, written", output=(4, 2), dim=4, x=(4,))
def row_view_written(x: X, y: X2):
    i = wp.tid()
    row = y[i]
    row[0] = x[i] * x[i]
    row[1] = x[i]


@wp.func
def write_row(row: X, a: wp.float64):
    row[0] = a * a
    row[1] = wp.sin(a)


@trial("a row of the output as a view, written by a function", output=(4, 2), dim=4, x=(4,))
def row_written_by_func(x: X, y: X2):
    i = wp.tid()
    write_row(y[i], x[i])


@trial("a plane of a three-dimensional array as a view", x=(4, 2, 3))
def plane_view(x: X3, y: X):
    i = wp.tid()
    plane = x[i]
    s = wp.float64(0.0)
    for a in range(plane.shape[0]):
        for b in range(plane.shape[1]):
            s += plane[a, b] * plane[a, b]
    y[i] = s


@trial("a view of a view", x=(4, 2, 3))
def view_of_view(x: X3, y: X):
    i = wp.tid()
    plane = x[i]
    row = plane[1]
    y[i] = row[0] * row[1] * row[2]


@trial("a row chosen in a branch", x=(4, 3), w=(4, 3))
def row_in_branch(x: X2, w: X2, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    if i % 2 == 0:
        row = x[i]
        s = row[0] * row[1]
    else:
        other = w[i]
        s = other[0] * other[2]
    y[i] = s * s


@trial("a column of coefficients in a loop", output=(4, 3), dim=(4, 3), x=(4, 3), w=(3, 3))
def dense_product(x: X2, w: X2, y: X2):
    i, j = wp.tid()
    s = wp.float64(0.0)
    for k in range(w.shape[0]):
        s += x[i, k] * w[k, j]
    y[i, j] = s


@trial("periodic indices by `%`, negative offsets", x=(6,), output=(6,))
def periodic_indices(x: X, y: X):
    i = wp.tid()
    n = x.shape[0]
    y[i] = x[(i + 1) % n] * x[(i - 1 + n) % n] - x[i] * x[i]


@trial("row and column from a flat index", x=(2, 3), output=(6,))
def flat_index(x: X2, y: X):
    t = wp.tid()
    i = t // 3
    j = t - i * 3
    y[t] = x[i, j] * x[1 - i, (j + 1) % 3]


@trial("indices by bit operations", x=(8,), output=(8,))
def bit_indices(x: X, y: X):
    i = wp.tid()
    y[i] = x[i ^ 1] * x[(i & 3) << 1] + x[i >> 1]


@trial("clamped indices by integer `min` and `max`", x=(6,), output=(6,))
def clamped_indices(x: X, y: X):
    i = wp.tid()
    left = wp.max(i - 1, 0)
    right = wp.min(i + 1, x.shape[0] - 1)
    y[i] = (x[right] - x[left]) * x[i]


@trial("an index from a float by `floor`", x=(6,), w=(4,))
def index_from_float(x: X, w: X, y: X):
    i = wp.tid()
    p = w[i] * wp.float64(2.0)
    k = int(wp.floor(p))
    f = p - wp.float64(k)
    y[i] = x[k] * (wp.float64(1.0) - f) + x[k + 1] * f


@trial("an index found by bisection in a `while` loop", fixed=(np.array([0.0, 0.8, 1.6, 2.4, 4.0]),), x=(6,), w=(4,))
def bisection(edges: X, x: X, w: X, y: X):
    i = wp.tid()
    p = w[i] * wp.float64(2.0)
    low = int(0)
    high = int(4)
    while high - low > 1:
        middle = (low + high) // 2
        if edges[middle] <= p:
            low = middle
        else:
            high = middle
    y[i] = x[low] * p


@wp.func
def locate(edges: X, p: wp.float64):
    low = int(0)
    high = int(4)
    while high - low > 1:
        middle = (low + high) // 2
        if edges[middle] <= p:
            low = middle
        else:
            high = middle
    return low


@trial("an index found by bisection in a function", fixed=(np.array([0.0, 0.8, 1.6, 2.4, 4.0]),), x=(6,), w=(4,))
def bisection_in_func(edges: X, x: X, w: X, y: X):
    i = wp.tid()
    p = w[i] * wp.float64(2.0)
    k = locate(edges, p)
    y[i] = x[k] * p


@trial("integer powers and quotients as factors", x=(6,), output=(6,))
def integer_factors(x: X, y: X):
    i = wp.tid()
    k = (i * i + 3) / 2
    y[i] = x[i] * wp.float64(k) / wp.float64(1 + i % 4)


@trial("vectors read through an index list", fixed=CSR, x=(6, 3))
def gathered_vectors(rows: I, near: I, x: V, y: X):
    i = wp.tid()
    a = near[rows[i]]
    b = near[rows[i] + 1]
    y[i] = wp.dot(x[a], wp.cross(x[b], x[i]))


@trial("double and single precision mixed by casts", x=(4,), w=(4,))
def mixed_precision(x: X, w: X, y: X):
    i = wp.tid()
    k = wp.float64(wp.float32(3.0)) * x[i]
    y[i] = k * w[i] + wp.float64(int(x[i] * wp.float64(0.1)))
