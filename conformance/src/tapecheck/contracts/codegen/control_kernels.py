"""The kernels of carried values, early exits, components, functions and dtypes, in one Warp module."""

# mypy: ignore-errors
# The annotations are Warp types held in variables, which mypy does not take for types.

from typing import Any

import warp as wp

Doubles = wp.array(dtype=wp.float64)


@wp.kernel
def carried_product(n: int, x: Doubles, y: Doubles):
    value = wp.float64(1.0)
    for j in range(n):
        value = value * x[j]
    y[0] = value


@wp.kernel
def carried_quotient(n: int, x: Doubles, y: Doubles):
    value = wp.float64(1.0)
    for j in range(n):
        value = value / x[j]
    y[0] = value


@wp.kernel
def carried_root(n: int, x: Doubles, y: Doubles):
    value = wp.float64(1.0)
    for j in range(n):
        value = wp.sqrt(value + x[j])
    y[0] = value


@wp.kernel
def carried_maximum(n: int, x: Doubles, y: Doubles):
    value = wp.float64(0.0)
    for j in range(n):
        value = wp.max(value, x[j])
    y[0] = value


@wp.kernel
def carried_previous(n: int, x: Doubles, y: Doubles):
    previous = wp.float64(1.0)
    total = wp.float64(0.0)
    for j in range(n):
        total = total + previous * x[j]
        previous = x[j]
    y[0] = total


@wp.kernel
def stopped_by_break(n: int, stop: wp.array(dtype=int), x: Doubles, y: Doubles):
    total = wp.float64(0.0)
    for j in range(n):
        if stop[j] != 0:
            break
        total += x[j] * x[j]
    y[0] = total


@wp.kernel
def stopped_by_break_in_constant_range(n: int, stop: wp.array(dtype=int), x: Doubles, y: Doubles):
    total = wp.float64(0.0)
    for j in range(4):
        if stop[j] != 0:
            break
        total += x[j] * x[j]
    y[0] = total


@wp.kernel
def counted_by_while(n: int, x: Doubles, y: Doubles):
    total = wp.float64(0.0)
    j = wp.int32(0)
    while j < n:
        total += x[j] * x[j]
        j += 1
    y[0] = total


@wp.func
def sum_until(n: int, stop: wp.array(dtype=int), x: Doubles):
    total = wp.float64(0.0)
    for j in range(n):
        if stop[j] != 0:
            return total
        total += x[j] * x[j]
    return total


@wp.kernel
def returned_from_loop(n: int, stop: wp.array(dtype=int), x: Doubles, y: Doubles):
    y[0] = sum_until(n, stop, x)


@wp.kernel
def product_of_16(x: Doubles, y: Doubles):
    value = wp.float64(1.0)
    for j in range(16):
        value = value * x[j]
    y[0] = value


@wp.kernel
def product_of_17(x: Doubles, y: Doubles):
    value = wp.float64(1.0)
    for j in range(17):
        value = value * x[j]
    y[0] = value


@wp.kernel
def sum_of_17(x: Doubles, y: Doubles):
    total = wp.float64(0.0)
    for j in range(17):
        total += x[j] * x[j]
    y[0] = total


@wp.kernel
def element_component_by_index(x: Doubles, y: wp.array(dtype=wp.vec2d)):
    i = wp.tid()
    y[i][0] = x[i] * x[i]


@wp.kernel
def element_component_by_name(x: Doubles, y: wp.array(dtype=wp.vec2d)):
    i = wp.tid()
    y[i].y = x[i] * x[i]


@wp.kernel(module="unique")
def element_component_added_to(x: Doubles, y: wp.array(dtype=wp.vec2d)):
    i = wp.tid()
    y[i][1] += x[i] * x[i]


@wp.kernel
def element_component_subtracted_from(x: Doubles, y: wp.array(dtype=wp.vec2d)):
    i = wp.tid()
    y[i].x -= x[i] * x[i]


@wp.kernel
def matrix_element_stored(x: Doubles, y: wp.array(dtype=wp.mat22d)):
    i = wp.tid()
    y[i][1, 0] = x[i] * x[i]


@wp.kernel(module="unique")
def matrix_element_added_to(x: Doubles, y: wp.array(dtype=wp.mat22d)):
    i = wp.tid()
    y[i][0, 1] += x[i] * x[i]


@wp.kernel(module="unique")
def matrix_row_stored(x: Doubles, y: wp.array(dtype=wp.mat22d)):
    i = wp.tid()
    y[i][1] = wp.vec2d(x[i] * x[i], wp.float64(5.0) * x[i])


@wp.kernel(module="unique")
def matrix_row_added_to(x: Doubles, y: wp.array(dtype=wp.mat22d)):
    i = wp.tid()
    y[i][1] += wp.vec2d(x[i] * x[i], wp.float64(5.0) * x[i])


@wp.kernel
def reciprocal_by_where(x: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = wp.where(x[i] != wp.float64(0.0), wp.float64(1.0) / x[i], wp.float64(0.0))


@wp.kernel
def reciprocal_by_if(x: Doubles, y: Doubles):
    i = wp.tid()
    value = wp.float64(0.0)
    if x[i] != wp.float64(0.0):
        value = wp.float64(1.0) / x[i]
    y[i] = value


@wp.kernel
def hash_grid_sum(grid: wp.uint64, points: wp.array(dtype=wp.vec3), x: Doubles, y: Doubles):
    i = wp.tid()
    total = wp.float64(0.0)
    for j in wp.hash_grid_query(grid, points[i], 1.0):
        if wp.length(points[i] - points[j]) < 1.0:
            total += x[j] * x[j]
    y[i] = total


@wp.kernel
def hash_grid_sum_squared(grid: wp.uint64, points: wp.array(dtype=wp.vec3), x: Doubles, y: Doubles):
    i = wp.tid()
    total = wp.float64(0.0)
    for j in wp.hash_grid_query(grid, points[i], 1.0):
        if wp.length(points[i] - points[j]) < 1.0:
            total += x[j] * x[j]
    y[i] = total * total


@wp.func
def sum_of_near_squares(grid: wp.uint64, points: wp.array(dtype=wp.vec3), i: int, x: Doubles):
    total = wp.float64(0.0)
    for j in wp.hash_grid_query(grid, points[i], 1.0):
        if wp.length(points[i] - points[j]) < 1.0:
            total += x[j] * x[j]
    return total


@wp.kernel
def hash_grid_func_squared(grid: wp.uint64, points: wp.array(dtype=wp.vec3), x: Doubles, y: Doubles):
    total = sum_of_near_squares(grid, points, wp.tid(), x)
    y[wp.tid()] = total * total


@wp.kernel
def generic_polynomial(x: wp.array(dtype=Any), y: wp.array(dtype=Any)):
    i = wp.tid()
    y[i] = x[i] * x[i] * x[i] + type(x[i])(0.5) * x[i]


def overloads(kernel: Any) -> list[Any]:
    """The kernel of arrays x and y for half, float and double."""
    arrays = (wp.array(dtype=dtype) for dtype in (wp.float16, wp.float32, wp.float64))
    return [wp.overload(kernel, [array, array]) for array in arrays]


generic_polynomials = overloads(generic_polynomial)


@wp.kernel
def multiplied_in_place(x: Doubles, buffer: Doubles, y: Doubles):
    i = wp.tid()
    buffer[i] *= x[i]
    y[i] = buffer[i]


@wp.kernel
def divided_in_place(x: Doubles, buffer: Doubles, y: Doubles):
    i = wp.tid()
    buffer[i] /= x[i]
    y[i] = buffer[i]


@wp.kernel
def multiplied_in_a_local(x: Doubles, buffer: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = buffer[i] * x[i]


@wp.kernel
def divided_in_a_local(x: Doubles, buffer: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = buffer[i] / x[i]


@wp.kernel
def skipping_by_continue(n: int, skip: wp.array(dtype=int), x: Doubles, y: Doubles):
    total = wp.float64(0.0)
    for j in range(n):
        if skip[j] != 0:
            continue
        total += x[j] * x[j]
    y[0] = total


@wp.kernel
def returning_early(skip: wp.array(dtype=int), x: Doubles, y: Doubles):
    i = wp.tid()
    if skip[i] != 0:
        return
    y[i] = x[i] * x[i]


@wp.func
def cube(x: wp.float64):
    return x * x * x


@wp.func
def product_with_square(a: wp.float64, b: wp.float64):
    return a * b * b


if hasattr(wp, "grad"):

    @wp.kernel
    def derivative_of_func(x: Doubles, y: Doubles):
        i = wp.tid()
        y[i] = wp.grad(cube)(x[i])

    @wp.kernel
    def derivative_by_two_arguments(x: Doubles, y: Doubles):
        i = wp.tid()
        by_a, by_b = wp.grad(product_with_square)(x[i], x[i])
        y[i] = by_a + wp.float64(10.0) * by_b


@wp.func
def square_with_own_gradient(x: wp.float64):
    return x * x


@wp.func_grad(square_with_own_gradient)
def adj_square_with_own_gradient(x: wp.float64, adj_ret: wp.float64):
    wp.adjoint[x] += wp.float64(7.0) * adj_ret


@wp.func
def three_squares(x: wp.float64):
    return wp.float64(3.0) * square_with_own_gradient(x)


@wp.kernel
def own_gradient(x: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = square_with_own_gradient(x[i])


@wp.kernel
def own_gradient_nested(x: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = three_squares(x[i])


@wp.func
def next_slot(counter: wp.array(dtype=int), slots: wp.array(dtype=int), i: int):
    slot = wp.atomic_add(counter, 0, 1)
    slots[i] = slot
    return slot


@wp.func_replay(next_slot)
def replay_next_slot(counter: wp.array(dtype=int), slots: wp.array(dtype=int), i: int):
    return slots[i]


@wp.func
def slot_after_next(counter: wp.array(dtype=int), slots: wp.array(dtype=int), i: int):
    return next_slot(counter, slots, i) + 1


@wp.kernel
def own_replay(counter: wp.array(dtype=int), slots: wp.array(dtype=int), x: Doubles, y: Doubles):
    i = wp.tid()
    y[next_slot(counter, slots, i)] = x[i] * x[i]


@wp.kernel
def own_replay_nested(counter: wp.array(dtype=int), slots: wp.array(dtype=int), x: Doubles, y: Doubles):
    i = wp.tid()
    y[slot_after_next(counter, slots, i)] = x[i] * x[i]


@wp.kernel
def scaled(factor: wp.float64, x: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = factor * x[i]
