"""Kernels of the traps that the hunt found, each followed by its safe form: the same arguments, the same values."""

# ruff: noqa: RUF046, UP018
# mypy: ignore-errors

import warp as wp

Doubles = wp.array(dtype=wp.float64)
Integers = wp.array(dtype=wp.int32)


@wp.kernel
def added_before_continue(n: int, x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    for k in range(n):
        s += x[k] * x[k]
        if k % 2 == 1:
            continue
        s += x[k]
    y[0] = s


@wp.kernel
def added_before_if(n: int, x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    for k in range(n):
        s += x[k] * x[k]
        if k % 2 == 0:
            s += x[k]
    y[0] = s


@wp.kernel
def weighted_by_count(n: int, x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    count = int(0)
    for k in range(n):
        count += 1
        s += x[k] * wp.float64(count)
    y[0] = s


@wp.kernel
def weighted_by_variable(n: int, x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    for k in range(n):
        s += x[k] * wp.float64(k + 1)
    y[0] = s


@wp.kernel
def stored_by_count(n: int, x: Doubles, y: Doubles):
    count = int(0)
    for k in range(n):
        if k != 1:
            y[count] = x[k] * x[k]
            count += 1


@wp.func
def count_before(k: int):
    count = int(0)
    for m in range(k):
        if m != 1:
            count += 1
    return count


@wp.kernel
def stored_by_func(n: int, x: Doubles, y: Doubles):
    for k in range(n):
        if k != 1:
            y[count_before(k)] = x[k] * x[k]


@wp.kernel
def linked_list(n: int, after: Integers, x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    j = int(0)
    for k in range(n):
        s += x[j] * x[j] * wp.float64(k + 1)
        j = after[j]
    y[0] = s


@wp.func
def follow(after: Integers, steps: int):
    j = int(0)
    for _ in range(steps):
        j = after[j]
    return j


@wp.kernel
def linked_list_by_func(n: int, after: Integers, x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    for k in range(n):
        j = follow(after, k)
        s += x[j] * x[j] * wp.float64(k + 1)
    y[0] = s


@wp.kernel
def least_found_in_loop(n: int, x: Doubles, y: Doubles):
    best = wp.float64(100.0)
    found = int(0)
    for k in range(n):
        if x[k] < best:
            best = x[k]
            found = k
    y[0] = x[found] * x[found]


@wp.func
def index_of_least(n: int, x: Doubles):
    best = wp.float64(100.0)
    found = int(0)
    for k in range(n):
        if x[k] < best:
            best = x[k]
            found = k
    return found


@wp.kernel
def least_found_in_func(n: int, x: Doubles, y: Doubles):
    found = index_of_least(n, x)
    y[0] = x[found] * x[found]


@wp.kernel
def added_below_limit(n: int, x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    for k in range(n):
        if s < wp.float64(4.0):
            s += x[k]
    y[0] = s


@wp.func
def reached(k: int, x: Doubles):
    s = wp.float64(0.0)
    for m in range(k):
        if s < wp.float64(4.0):
            s += x[m]
    return s


@wp.kernel
def added_below_limit_by_func(n: int, x: Doubles, y: Doubles):
    s = wp.float64(0.0)
    for k in range(n):
        if reached(k, x) < wp.float64(4.0):
            s += x[k]
    y[0] = s


@wp.struct
class Body:
    place: wp.vec2d


@wp.kernel
def struct_components(x: Doubles, y: Doubles):
    body = Body()
    body.place[0] = x[0] * x[1]
    body.place[1] = x[1]
    y[0] = wp.dot(body.place, body.place)


@wp.kernel
def struct_constructed(x: Doubles, y: Doubles):
    body = Body(wp.vec2d(x[0] * x[1], x[1]))
    y[0] = wp.dot(body.place, body.place)


@wp.kernel
def tuple_by_index(x: Doubles, y: Doubles):
    both = (x[0] * x[1], x[1])
    y[0] = both[0] * both[1]


@wp.kernel
def tuple_unpacked(x: Doubles, y: Doubles):
    a, b = x[0] * x[1], x[1]
    y[0] = a * b


@wp.kernel
def remainder_function(x: Doubles, y: Doubles):
    y[0] = wp.mod(x[0], x[1])


@wp.kernel
def remainder_operator(x: Doubles, y: Doubles):
    y[0] = x[0] % x[1]


@wp.kernel
def remainder_by_hand(x: Doubles, y: Doubles):
    y[0] = x[0] - x[1] * wp.trunc(x[0] / x[1])


@wp.kernel
def fraction(x: Doubles, y: Doubles):
    y[0] = wp.frac(x[0] * x[1])


@wp.kernel
def fraction_by_hand(x: Doubles, y: Doubles):
    y[0] = x[0] * x[1] - wp.trunc(x[0] * x[1])


@wp.kernel
def value_of_atomic(t: Doubles, x: Doubles, y: Doubles):
    wp.atomic_add(t, 0, x[0])
    before = wp.atomic_add(t, 0, x[1])
    y[0] = wp.float64(3.0) * before


@wp.kernel
def value_read(t: Doubles, x: Doubles, y: Doubles):
    wp.atomic_add(t, 0, x[0])
    before = t[0]
    wp.atomic_add(t, 0, x[1])
    y[0] = wp.float64(3.0) * before


@wp.kernel
def slot_of_atomic(count: Integers, x: Doubles, y: Doubles):
    wp.atomic_add(count, 0, 1)
    slot = wp.atomic_add(count, 0, 1)
    y[slot] = x[0] * x[0]


@wp.kernel
def slot_known(count: Integers, x: Doubles, y: Doubles):
    y[1] = x[0] * x[0]


@wp.kernel
def element_rewritten(t: Doubles, x: Doubles, y: Doubles):
    t[0] = x[0] * x[0]
    a = t[0] * t[0]
    t[0] = x[1]
    y[0] = a * x[1]


@wp.kernel
def element_in_local(t: Doubles, x: Doubles, y: Doubles):
    s = x[0] * x[0]
    a = s * s
    t[0] = x[1]
    y[0] = a * x[1]


@wp.kernel
def component_assigned_after_use(x: Doubles, y: Doubles):
    v = wp.vec2d(x[0], x[1])
    s = v[0] * v[0]
    v[0] = v[1]
    y[0] = s + v[0]


@wp.kernel
def vector_made_after_use(x: Doubles, y: Doubles):
    v = wp.vec2d(x[0], x[1])
    s = v[0] * v[0]
    w = wp.vec2d(v[1], v[1])
    y[0] = s + w[0]


@wp.kernel
def rows_swapped(x: Doubles, y: Doubles):
    m = wp.mat22d(x[0], x[1], x[2], x[3])
    s = m[0][0] * m[0][1]
    r = m[0]
    m[0] = m[1]
    m[1] = r
    y[0] = s + m[0, 1] * m[1, 0]


@wp.kernel
def matrix_made_of_rows(x: Doubles, y: Doubles):
    m = wp.mat22d(x[0], x[1], x[2], x[3])
    s = m[0][0] * m[0][1]
    n = wp.matrix_from_rows(m[1], m[0])
    y[0] = s + n[0, 1] * n[1, 0]


@wp.func
def first_replaced(v: wp.vec2d):
    v[0] = v[1] * v[1]
    return v


@wp.kernel
def argument_changed(x: Doubles, y: Doubles):
    v = wp.vec2d(x[0], x[1])
    s = v[0] * v[0]
    w = first_replaced(v)
    y[0] = s + w[0]


@wp.func
def with_first_replaced(v: wp.vec2d):
    return wp.vec2d(v[1] * v[1], v[1])


@wp.kernel
def argument_kept(x: Doubles, y: Doubles):
    v = wp.vec2d(x[0], x[1])
    s = v[0] * v[0]
    w = with_first_replaced(v)
    y[0] = s + w[0]
