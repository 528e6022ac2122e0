"""Kernels that only faults, near misses and oracles launch, for the second half of the codegen contracts."""

# mypy: ignore-errors
# The annotations are Warp types held in variables, which mypy does not take for types.

from typing import Any

import warp as wp

from tapecheck.contracts.codegen.control_kernels import Doubles, next_slot, overloads

Flags = wp.array(dtype=int)
Points = wp.array(dtype=wp.vec3)


@wp.kernel
def unrolled_product(n: int, x: Doubles, y: Doubles):
    value = wp.float64(1.0)
    for j in range(4):
        value = value * x[j]
    y[0] = value


@wp.kernel
def unrolled_quotient(n: int, x: Doubles, y: Doubles):
    value = wp.float64(1.0)
    for j in range(4):
        value = value / x[j]
    y[0] = value


@wp.kernel
def unrolled_root(n: int, x: Doubles, y: Doubles):
    value = wp.float64(1.0)
    for j in range(2):
        value = wp.sqrt(value + x[j])
    y[0] = value


@wp.kernel
def unrolled_maximum(n: int, x: Doubles, y: Doubles):
    value = wp.float64(0.0)
    for j in range(4):
        value = wp.max(value, x[j])
    y[0] = value


@wp.kernel
def unrolled_previous(n: int, x: Doubles, y: Doubles):
    previous = wp.float64(1.0)
    total = wp.float64(0.0)
    for j in range(4):
        total = total + previous * x[j]
        previous = x[j]
    y[0] = total


@wp.kernel
def product_of_all(x: Doubles, y: Doubles):
    value = wp.float64(1.0)
    for j in range(x.shape[0]):
        value = value * x[j]
    y[0] = value


@wp.kernel
def product_of_8_and_8(x: Doubles, y: Doubles):
    value = wp.float64(1.0)
    for j in range(8):
        value = value * x[j]
    for j in range(8, 16):
        value = value * x[j]
    y[0] = value


@wp.kernel
def product_of_8_and_9(x: Doubles, y: Doubles):
    value = wp.float64(1.0)
    for j in range(8):
        value = value * x[j]
    for j in range(8, 17):
        value = value * x[j]
    y[0] = value


@wp.kernel
def sum_of_16(x: Doubles, y: Doubles):
    total = wp.float64(0.0)
    for j in range(16):
        total += x[j] * x[j]
    y[0] = total


@wp.kernel
def sum_of_8_and_9(x: Doubles, y: Doubles):
    total = wp.float64(0.0)
    for j in range(8):
        total += x[j] * x[j]
    for j in range(8, 17):
        total += x[j] * x[j]
    y[0] = total


@wp.kernel
def candidate_sum(grid: wp.uint64, points: Points, x: Doubles, y: Doubles):
    i = wp.tid()
    total = wp.float64(0.0)
    for j in wp.hash_grid_query(grid, points[i], 1.0):
        total += x[j] * x[j]
    y[i] = total


@wp.func
def sum_over_points(points: Points, i: int, x: Doubles):
    total = wp.float64(0.0)
    for j in range(points.shape[0]):
        if wp.length(points[i] - points[j]) < 1.0:
            total += x[j] * x[j]
    return total


@wp.kernel
def point_sum(grid: wp.uint64, points: Points, x: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = sum_over_points(points, i, x)


@wp.kernel
def point_sum_squared(grid: wp.uint64, points: Points, x: Doubles, y: Doubles):
    i = wp.tid()
    total = sum_over_points(points, i, x)
    y[i] = total * total


@wp.func
def first_flag(n: int, flags: Flags):
    first = int(n)
    for j in range(n):
        if flags[j] != 0:
            first = wp.min(first, j)
    return first


@wp.kernel
def flags_ignored(n: int, flags: Flags, x: Doubles, y: Doubles):
    total = wp.float64(0.0)
    for j in range(n):
        total += x[j] * x[j]
    y[0] = total


@wp.kernel
def until_first_flag(n: int, flags: Flags, x: Doubles, y: Doubles):
    total = wp.float64(0.0)
    for j in range(first_flag(n, flags)):
        total += x[j] * x[j]
    y[0] = total


@wp.kernel
def below_first_flag(n: int, flags: Flags, x: Doubles, y: Doubles):
    count = first_flag(n, flags)
    total = wp.float64(0.0)
    for j in range(n):
        if j < count:
            total += x[j] * x[j]
    y[0] = total


@wp.kernel
def sum_of_all_but_last(n: int, x: Doubles, y: Doubles):
    total = wp.float64(0.0)
    for j in range(n - 1):
        total += x[j] * x[j]
    y[0] = total


@wp.kernel
def sum_by_range(n: int, x: Doubles, y: Doubles):
    total = wp.float64(0.0)
    for j in range(n):
        total += x[j] * x[j]
    y[0] = total


@wp.kernel
def sum_with_step(n: int, x: Doubles, y: Doubles):
    total = wp.float64(0.0)
    for j in range(0, n, 1):
        total += x[j] * x[j]
    y[0] = total


@wp.kernel
def unflagged_sum(n: int, flags: Flags, x: Doubles, y: Doubles):
    total = wp.float64(0.0)
    for j in range(n):
        if flags[j] == 0:
            total += x[j] * x[j]
    y[0] = total


@wp.kernel
def every_square(flags: Flags, x: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = x[i] * x[i]


@wp.kernel
def unflagged_square(flags: Flags, x: Doubles, y: Doubles):
    i = wp.tid()
    if flags[i] == 0:
        y[i] = x[i] * x[i]


@wp.kernel
def collected_scalar(x: Doubles, y: Doubles):
    i = wp.tid()
    total = x[i] + x[i] * x[i]
    v = wp.vec2d(total, wp.float64(1.0))
    y[i] = v[0] * v[0]


@wp.kernel
def every_vector_component(x: Doubles, y: wp.array(dtype=wp.vec2d)):
    i = wp.tid()
    square = x[i] * x[i]
    y[i] = wp.vec2d(square, square)


@wp.kernel
def every_matrix_component(x: Doubles, y: wp.array(dtype=wp.mat22d)):
    i = wp.tid()
    square = x[i] * x[i]
    y[i] = wp.mat22d(square, square, square, wp.float64(5.0) * x[i])


@wp.kernel
def multiplied_step_by_step(x: Doubles, buffer: Doubles, y: Doubles):
    i = wp.tid()
    value = buffer[i]
    buffer[i] = value * x[i]
    y[i] = buffer[i]


@wp.kernel
def divided_step_by_step(x: Doubles, buffer: Doubles, y: Doubles):
    i = wp.tid()
    value = buffer[i]
    buffer[i] = value / x[i]
    y[i] = buffer[i]


@wp.kernel
def reciprocal_by_inverted_where(x: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = wp.where(x[i] == wp.float64(0.0), wp.float64(0.0), wp.float64(1.0) / x[i])


@wp.kernel
def reciprocal_by_inverted_if(x: Doubles, y: Doubles):
    i = wp.tid()
    value = wp.float64(1.0)
    if x[i] == wp.float64(0.0):
        value = wp.float64(0.0)
    if x[i] != wp.float64(0.0):
        value = value / x[i]
    y[i] = value


@wp.kernel
def derivative_written_out(x: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = wp.float64(3.0) * x[i] * x[i]


@wp.kernel
def nothing(x: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = wp.float64(0.0)


@wp.func
def slope(x: wp.float64):
    h = wp.float64(0.001)
    return ((x + h) * (x + h) * (x + h) - x * x * x) / h


@wp.func_grad(slope)
def adj_slope(x: wp.float64, adj_ret: wp.float64):
    wp.adjoint[x] += wp.float64(0.0) * adj_ret


@wp.kernel
def derivative_by_differences(x: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = slope(x[i])


@wp.kernel
def square(x: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = x[i] * x[i]


@wp.func
def square_by_two_terms(x: wp.float64):
    return x * x


@wp.func_grad(square_by_two_terms)
def adj_square_by_two_terms(x: wp.float64, adj_ret: wp.float64):
    wp.adjoint[x] += wp.float64(3.0) * adj_ret
    wp.adjoint[x] += wp.float64(4.0) * adj_ret


@wp.kernel
def own_gradient_in_two_terms(x: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = square_by_two_terms(x[i])


@wp.kernel
def own_gradient_in_two_terms_three_times(x: Doubles, y: Doubles):
    i = wp.tid()
    y[i] = wp.float64(3.0) * square_by_two_terms(x[i])


@wp.func
def forgetful_slot(counter: Flags, slots: Flags, i: int):
    slot = wp.atomic_add(counter, 0, 1)
    slots[i] = slot
    return slot


@wp.kernel
def no_replay(counter: Flags, slots: Flags, x: Doubles, y: Doubles):
    i = wp.tid()
    y[forgetful_slot(counter, slots, i)] = x[i] * x[i]


@wp.kernel
def no_replay_nested(counter: Flags, slots: Flags, x: Doubles, y: Doubles):
    i = wp.tid()
    y[forgetful_slot(counter, slots, i) + 1] = x[i] * x[i]


@wp.kernel
def slot_read_back(counter: Flags, slots: Flags, x: Doubles, y: Doubles):
    i = wp.tid()
    y[slots[i]] = x[i] * x[i]


@wp.kernel
def slot_read_back_nested(counter: Flags, slots: Flags, x: Doubles, y: Doubles):
    i = wp.tid()
    y[slots[i] + 1] = x[i] * x[i]


@wp.kernel
def nesting_dissolved(counter: Flags, slots: Flags, x: Doubles, y: Doubles):
    i = wp.tid()
    y[next_slot(counter, slots, i) + 1] = x[i] * x[i]


@wp.kernel
def generic_without_literal(x: wp.array(dtype=Any), y: wp.array(dtype=Any)):
    i = wp.tid()
    y[i] = x[i] * x[i] * x[i]


@wp.kernel
def generic_by_horner(x: wp.array(dtype=Any), y: wp.array(dtype=Any)):
    i = wp.tid()
    y[i] = x[i] * (x[i] * x[i] + type(x[i])(0.5))


generics_without_literal = overloads(generic_without_literal)
generics_by_horner = overloads(generic_by_horner)


@wp.kernel
def product_with_rounded_literal(x: Doubles, y: Doubles):
    y[0] = wp.float64(wp.float32(0.1)) * x[0]


@wp.kernel
def comparison_in_single(x: Doubles, y: Doubles):
    if wp.float32(x[0]) > 0.1:
        y[0] = x[0]


@wp.kernel(module="unique")
def comparison_by_difference(x: Doubles, y: Doubles):
    if x[0] - 0.1 > wp.float64(0.0):
        y[0] = x[0]
