"""Loops of run-time length on either side of the known limit: what becomes of a value that a loop has made."""

# ruff: noqa: E741, RUF046, UP018
# mypy: ignore-errors

import warp as wp

from tapecheck.hunt.trial import CSR, trial

X = wp.array(dtype=wp.float64)
I = wp.array(dtype=wp.int32)


@wp.struct
class Sums:
    first: wp.float64
    second: wp.float64


@wp.func
def total(rows: I, near: I, x: X, i: int):
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]] * x[i]
    return s


@trial("sum times an input, after the loop", fixed=CSR, x=(6,))
def sum_times_input(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]] * x[near[k]]
    y[i] = s * x[i]


@trial("sum divided by the number of neighbours read from the rows", fixed=CSR, x=(6,))
def mean_by_rows(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]] * x[near[k]]
    y[i] = s / wp.float64(rows[i + 1] - rows[i])


@trial("input divided by the sum, after the loop", fixed=CSR, x=(6,))
def input_over_sum(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.5)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]]
    y[i] = x[i] / s


@trial("sum kept in a field of a local struct, stored", fixed=CSR, x=(6,))
def sum_in_struct(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    sums = Sums()
    for k in range(rows[i], rows[i + 1]):
        sums.first += x[near[k]] * x[i]
        sums.second += x[near[k]] * x[near[k]]
    y[i] = sums.first + wp.float64(2.0) * sums.second


@trial("sum put into a field of a struct after the loop", fixed=CSR, x=(6,))
def sum_into_struct(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]] * x[i]
    sums = Sums()
    sums.first = s
    sums.second = x[i]
    y[i] = wp.float64(3.0) * sums.first + sums.second


@trial("sum tested by an `if` that chooses between inputs", fixed=CSR, x=(6,))
def sum_as_condition(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]]
    if s > wp.float64(1.0):
        y[i] = x[i] * x[i]
    else:
        y[i] = x[i]


@trial("sum of a function's loop tested by an `if`", fixed=CSR, x=(6,))
def func_sum_as_condition(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = total(rows, near, x, i)
    if s > wp.float64(1.0):
        y[i] = s * s * x[i]
    else:
        y[i] = x[i]


@trial("sum stored to an array, read again, squared", fixed=CSR, scratch={"t": (4,)}, x=(6,))
def sum_stored_and_read(rows: I, near: I, t: X, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]] * x[i]
    t[i] = s
    y[i] = t[i] * t[i]


@trial("sum added up in an array, read after the loop, squared", fixed=CSR, scratch={"t": (4,)}, x=(6,))
def sum_in_array(rows: I, near: I, t: X, x: X, y: X):
    i = wp.tid()
    for k in range(rows[i], rows[i + 1]):
        t[i] += x[near[k]] * x[i]
    y[i] = t[i] * t[i]


@trial("powers stored step by step in an array, each read back", output=(6,), dim=1, fixed=(5,), x=(1,))
def powers_in_array(n: int, x: X, y: X):
    y[0] = x[0]
    for k in range(n):
        y[k + 1] = y[k] * x[0]


@trial("powers stored step by step in scratch, each read back", fixed=(4,), scratch={"t": (4, 6)}, x=(6,))
def powers_in_scratch(n: int, t: wp.array2d(dtype=wp.float64), x: X, y: X):
    i = wp.tid()
    t[i, 0] = x[i]
    for k in range(n):
        t[i, k + 1] = t[i, k] * x[k]
    y[i] = t[i, n]


@trial("index of the nearest neighbour, read after its loop", fixed=CSR, x=(6,), w=(6,))
def nearest_after_loop(rows: I, near: I, x: X, w: X, y: X):
    i = wp.tid()
    best = wp.float64(1.0e9)
    found = int(0)
    for k in range(rows[i], rows[i + 1]):
        d = wp.abs(x[near[k]] - wp.float64(0.7))
        if d < best:
            best = d
            found = near[k]
    y[i] = x[found] * w[found]


@wp.func
def nearest(rows: I, near: I, x: X, i: int):
    best = wp.float64(1.0e9)
    found = int(0)
    for k in range(rows[i], rows[i + 1]):
        d = wp.abs(x[near[k]] - wp.float64(0.7))
        if d < best:
            best = d
            found = near[k]
    return found


@trial("index of the nearest neighbour from a function", fixed=CSR, x=(6,), w=(6,))
def nearest_from_func(rows: I, near: I, x: X, w: X, y: X):
    i = wp.tid()
    found = nearest(rows, near, x, i)
    y[i] = x[found] * w[found]


@trial("largest neighbour by `max`, stored", fixed=CSR, x=(6,))
def largest_stored(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    best = wp.float64(-1.0e9)
    for k in range(rows[i], rows[i + 1]):
        best = wp.max(best, x[near[k]])
    y[i] = best


@trial("largest neighbour by an `if`, stored", fixed=CSR, x=(6,))
def largest_by_if(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    best = wp.float64(-1.0e9)
    for k in range(rows[i], rows[i + 1]):
        if x[near[k]] > best:
            best = x[near[k]]
    y[i] = best


@wp.func
def largest(rows: I, near: I, x: X, i: int):
    best = wp.float64(-1.0e9)
    for k in range(rows[i], rows[i + 1]):
        best = wp.max(best, x[near[k]])
    return best


@trial("largest neighbour by `max` in a function, squared", fixed=CSR, x=(6,))
def largest_from_func(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    best = largest(rows, near, x, i)
    y[i] = best * best


@trial("last value that a loop assigned, stored", fixed=CSR, x=(6,))
def last_value(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    last = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        last = x[near[k]] * x[near[k]]
    y[i] = last


@trial("inner sum squared in the outer loop's body", fixed=CSR, x=(6,))
def inner_sum_squared(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        j = near[k] % 4
        inner = wp.float64(0.0)
        for m in range(rows[j], rows[j + 1]):
            inner += x[near[m]] * x[i]
        s += inner * inner
    y[i] = s


@trial("inner sum linear in the outer loop's body", fixed=CSR, x=(6,))
def inner_sum_linear(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        j = near[k] % 4
        inner = wp.float64(0.0)
        for m in range(rows[j], rows[j + 1]):
            inner += x[near[m]] * x[i]
        s += inner
    y[i] = s


@trial("inner sum times an input in the outer loop's body", fixed=CSR, x=(6,))
def inner_sum_weighted(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        j = near[k] % 4
        inner = wp.float64(0.0)
        for m in range(rows[j], rows[j + 1]):
            inner += x[near[m]]
        s += inner * x[near[k]]
    y[i] = s


@trial("sum of a function's loop squared in a loop", fixed=CSR, x=(6,))
def func_sum_squared_in_loop(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        inner = total(rows, near, x, near[k] % 4)
        s += inner * inner
    y[i] = s


@trial("a length computed by a loop bounds the next loop", fixed=CSR, x=(6,))
def length_from_loop(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    n = int(0)
    for k in range(rows[i], rows[i + 1]):
        if near[k] > 1:
            n += 1
    s = wp.float64(0.0)
    for k in range(n):
        s += x[k] * x[k] * x[i]
    y[i] = s


@trial("sum read by `where` after the loop", fixed=CSR, x=(6,))
def sum_in_where(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]] * x[i]
    y[i] = wp.where(s > wp.float64(1.0), s, x[i])


@trial("sum limited by `min` after the loop", fixed=CSR, x=(6,))
def sum_in_min(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]] * x[i]
    y[i] = wp.min(s, wp.float64(2.0)) + wp.abs(s)


@trial("left by `break` on the value of a neighbour", fixed=CSR, x=(6,))
def break_on_value(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        d = x[near[k]]
        if d > wp.float64(1.2):
            break
        s += d * d * x[i]
    y[i] = s


@trial("left by `break` when the sum is large enough", fixed=CSR, x=(6,))
def break_on_sum(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]] * x[near[k]]
        if s > wp.float64(1.5):
            break
    y[i] = s


@trial("skips a term by the value of the sum so far", fixed=CSR, x=(6,))
def skip_on_sum(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        if s < wp.float64(1.5):
            s += x[near[k]] * x[near[k]]
    y[i] = s


@trial("the sum in vector form, its length after the loop", fixed=CSR, x=(6, 3))
def length_of_vector_sum(rows: I, near: I, x: wp.array(dtype=wp.vec3d), y: X):
    i = wp.tid()
    s = wp.vec3d()
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]] - wp.float64(0.5) * x[i]
    y[i] = wp.length(s)


@trial("the sum in matrix form, applied to a vector after the loop", fixed=CSR, x=(6, 3))
def matrix_sum_applied(rows: I, near: I, x: wp.array(dtype=wp.vec3d), y: wp.array(dtype=wp.vec3d)):
    i = wp.tid()
    m = wp.mat33d()
    for k in range(rows[i], rows[i + 1]):
        m += wp.outer(x[near[k]], x[near[k]])
    y[i] = m * x[i]


@trial("the sum in matrix form, applied to a constant vector", fixed=CSR, x=(6, 3))
def matrix_sum_on_constant(rows: I, near: I, x: wp.array(dtype=wp.vec3d), y: wp.array(dtype=wp.vec3d)):
    i = wp.tid()
    m = wp.mat33d()
    for k in range(rows[i], rows[i + 1]):
        m += wp.outer(x[near[k]], x[near[k]])
    y[i] = m * wp.vec3d(wp.float64(1.0), wp.float64(2.0), wp.float64(3.0))
