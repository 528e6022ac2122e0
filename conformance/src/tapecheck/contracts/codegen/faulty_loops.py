"""Loops whose adjoints stand in for those of `kernels.py`: with a fault, or equal by another way of writing.

Only faults and near misses launch them, so that an ordinary run does not compile this module.
"""
# mypy: ignore-errors
# The annotations are Warp types held in variables, which mypy does not take for types.

import warp as wp

Integers = wp.array(dtype=int)
Scalars = wp.array(dtype=wp.float64)


# Linear sums


@wp.kernel
def short_sum_counted(count: int, x: Scalars, w: Scalars, output: Scalars):
    total = wp.float64(0.0)
    for k in range(count - 1):
        total += w[k] * x[k] * x[k]
    output[0] = wp.float64(2.0) * total


@wp.kernel
def short_sum_nested(count: int, x: Scalars, w: Scalars, output: Scalars):
    total = wp.float64(0.0)
    for k in range(count):
        for m in range(k, count - 1):
            total += w[k] * x[m] * x[m]
    output[0] = wp.float64(2.0) * total


@wp.kernel
def short_sum_of_neighbours(start: Integers, neighbour: Integers, x: Scalars, w: Scalars, output: Scalars):
    i = wp.tid()
    total = wp.float64(0.0)
    for k in range(start[i], start[i + 1] - 1):
        j = neighbour[k]
        total += w[j] * (x[j] - x[i]) * (x[j] - x[i])
    output[i] = wp.float64(2.0) * total


@wp.kernel
def atomic_sum_counted(count: int, x: Scalars, w: Scalars, output: Scalars):
    for k in range(count):
        wp.atomic_add(output, 0, wp.float64(2.0) * w[k] * x[k] * x[k])


@wp.kernel
def atomic_sum_nested(count: int, x: Scalars, w: Scalars, output: Scalars):
    for k in range(count):
        for m in range(k, count):
            wp.atomic_add(output, 0, wp.float64(2.0) * w[k] * x[m] * x[m])


@wp.kernel
def atomic_sum_of_neighbours(start: Integers, neighbour: Integers, x: Scalars, w: Scalars, output: Scalars):
    i = wp.tid()
    for k in range(start[i], start[i + 1]):
        j = neighbour[k]
        wp.atomic_add(output, i, wp.float64(2.0) * w[j] * (x[j] - x[i]) * (x[j] - x[i]))


# Products, and sums that are used further


@wp.kernel
def product_of_four(count: int, x: Scalars, output: Scalars):
    output[0] = x[0] * x[1] * x[2] * x[3]


@wp.kernel
def product_from_the_left(count: int, x: Scalars, output: Scalars):
    product = wp.float64(1.0)
    for k in range(count):
        product = x[k] * product
    output[0] = product


@wp.func
def total_from_the_left(count: int, x: Scalars):
    total = wp.float64(0.0)
    for k in range(count):
        total = x[k] + total
    return total


@wp.func
def positive_from_the_left(count: int, x: Scalars):
    positive = wp.float64(0.0)
    for k in range(count):
        if x[k] > wp.float64(0.0):
            positive = x[k] + positive
    return positive


@wp.func
def number_from_the_left(count: int, x: Scalars):
    number = wp.int32(0)
    for k in range(count):
        if x[k] > wp.float64(0.0):
            number = 1 + number
    return number


@wp.kernel
def local_from_the_left(count: int, x: Scalars, w: Scalars, output: Scalars):
    total = wp.float64(0.0)
    for k in range(count):
        total = x[k] + total
    result = wp.float64(0.0)
    for k in range(count):
        result = w[k] * total + result
    output[0] = result


@wp.kernel
def local_of_func_from_the_left(count: int, x: Scalars, w: Scalars, output: Scalars):
    total = total_from_the_left(count, x)
    result = wp.float64(0.0)
    for k in range(count):
        result = w[k] * total + result
    output[0] = result


@wp.kernel
def square_from_the_left(count: int, x: Scalars, output: Scalars):
    total = wp.float64(0.0)
    for k in range(count):
        total = x[k] + total
    output[0] = total * total


@wp.kernel
def quotient_from_the_left(count: int, x: Scalars, output: Scalars):
    total = wp.float64(0.0)
    positive = wp.float64(0.0)
    for k in range(count):
        total = x[k] + total
        if x[k] > wp.float64(0.0):
            positive = x[k] + positive
    output[0] = total / positive


@wp.kernel
def mean_from_the_left(count: int, x: Scalars, output: Scalars):
    positive = wp.float64(0.0)
    number = wp.int32(0)
    for k in range(count):
        if x[k] > wp.float64(0.0):
            positive = x[k] + positive
            number = 1 + number
    output[0] = positive / wp.float64(wp.max(number, 1))


@wp.kernel
def branch_from_the_left(count: int, x: Scalars, output: Scalars):
    total = wp.float64(0.0)
    for k in range(count):
        total = x[k] + total
    if total > wp.float64(5.0):
        output[0] = wp.float64(3.0) * total
    else:
        output[0] = -total


@wp.kernel
def square_of_func(count: int, x: Scalars, output: Scalars):
    total = total_from_the_left(count, x)
    output[0] = total * total


@wp.kernel
def quotient_of_funcs(count: int, x: Scalars, output: Scalars):
    output[0] = total_from_the_left(count, x) / positive_from_the_left(count, x)


@wp.kernel
def mean_of_funcs(count: int, x: Scalars, output: Scalars):
    number = number_from_the_left(count, x)
    output[0] = positive_from_the_left(count, x) / wp.float64(wp.max(number, 1))


@wp.kernel
def branch_on_func(count: int, x: Scalars, output: Scalars):
    total = total_from_the_left(count, x)
    if total > wp.float64(5.0):
        output[0] = wp.float64(3.0) * total
    else:
        output[0] = -total


@wp.func
def spread_from_the_left(count: int, x: Scalars, total: wp.float64):
    spread = wp.float64(0.0)
    for k in range(count):
        spread = (total - x[k]) * (total - x[k]) + spread
    return spread


@wp.kernel
def second_loop_from_the_left(count: int, x: Scalars, output: Scalars):
    total = wp.float64(0.0)
    for k in range(count):
        total = x[k] + total
    spread = wp.float64(0.0)
    for k in range(count):
        spread = (total - x[k]) * (total - x[k]) + spread
    output[0] = spread


@wp.kernel
def funcs_from_the_left(count: int, x: Scalars, output: Scalars):
    output[0] = spread_from_the_left(count, x, total_from_the_left(count, x))
