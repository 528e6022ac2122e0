"""The kernels of branches, accumulations, singular points and run-time loops, in one Warp module.

Each is one idiom. `count` is a loop's length that only the launch knows; a loop over `range(3)` is unrolled. What
loops over all elements is launched on one thread.
"""
# ruff: noqa: SIM108 (a conditional expression is another idiom than an `if` block)
# mypy: ignore-errors
# The annotations are Warp types held in variables, which mypy does not take for types.

import warp as wp

Integers = wp.array(dtype=int)
Scalars = wp.array(dtype=wp.float64)
Vectors = wp.array(dtype=wp.vec3d)
Matrices = wp.array(dtype=wp.mat33d)


@wp.kernel
def ternary_of_one_array(flag: Integers, x: Scalars, output: Scalars):
    i = wp.tid()
    value = x[i] if flag[i] > 0 else x[i + 1]
    output[i] = value * value


@wp.kernel
def ternary_on_own_values(x: Scalars, output: Scalars):
    i = wp.tid()
    value = x[i] if x[i] < x[i + 1] else x[i + 1]
    output[i] = value * value


@wp.kernel
def ternary_of_two_arrays(flag: Integers, a: Scalars, b: Scalars, output: Scalars):
    i = wp.tid()
    value = a[i] if flag[i] > 0 else b[i]
    output[i] = value * value


@wp.kernel
def ternary_of_quotient(flag: Integers, m: Scalars, r: Scalars, vol: Scalars, output: Scalars):
    i = wp.tid()
    value = m[i] / r[i] if flag[i] > 0 else vol[i]
    output[i] = value * value


@wp.kernel
def if_of_one_array(flag: Integers, x: Scalars, output: Scalars):
    i = wp.tid()
    if flag[i] > 0:
        value = x[i]
    else:
        value = x[i + 1]
    output[i] = value * value


@wp.kernel
def if_of_two_arrays(flag: Integers, a: Scalars, b: Scalars, output: Scalars):
    i = wp.tid()
    if flag[i] > 0:
        value = a[i]
    else:
        value = b[i]
    output[i] = value * value


@wp.kernel
def if_of_quotient(flag: Integers, m: Scalars, r: Scalars, vol: Scalars, output: Scalars):
    i = wp.tid()
    if flag[i] > 0:
        value = m[i] / r[i]
    else:
        value = vol[i]
    output[i] = value * value


@wp.kernel
def product_unrolled(count: int, m: Matrices, x: Vectors, output: Vectors):
    i = wp.tid()
    matrix = m[i]
    vector = x[i]
    product = wp.vec3d()
    for row in range(3):
        for col in range(3):
            product[row] += vector[col] * matrix[row, col]
    output[i] = product


@wp.kernel
def product_counted(count: int, m: Matrices, x: Vectors, output: Vectors):
    i = wp.tid()
    matrix = m[i]
    vector = x[i]
    product = wp.vec3d()
    for row in range(count):
        for col in range(count):
            product[row] += vector[col] * matrix[row, col]
    output[i] = product


@wp.kernel
def product_of_elements(count: int, m: Matrices, x: Vectors, output: Vectors):
    i = wp.tid()
    product = wp.vec3d()
    for row in range(3):
        for col in range(3):
            product[row] += x[i][col] * m[i][row, col]
    output[i] = product


@wp.func
def along_unrolled(x: wp.vec3d, normal: wp.vec3d):
    along = wp.float64(0.0)
    for axis in range(3):
        along += x[axis] * normal[axis]
    return along


@wp.func
def along_counted(count: int, x: wp.vec3d, normal: wp.vec3d):
    along = wp.float64(0.0)
    for axis in range(count):
        along += x[axis] * normal[axis]
    return along


@wp.func
def projected_unrolled(x: wp.vec3d, normal: wp.vec3d):
    along = wp.float64(0.0)
    for axis in range(3):
        along += x[axis] * normal[axis]
    return x - along * normal


@wp.func
def projected_counted(count: int, x: wp.vec3d, normal: wp.vec3d):
    along = wp.float64(0.0)
    for axis in range(count):
        along += x[axis] * normal[axis]
    return x - along * normal


@wp.kernel
def project_unrolled(count: int, x: Vectors, normal: Vectors, output: Vectors):
    i = wp.tid()
    output[i] = projected_unrolled(x[i], normal[i])


@wp.kernel
def project_counted(count: int, x: Vectors, normal: Vectors, output: Vectors):
    i = wp.tid()
    output[i] = projected_counted(count, x[i], normal[i])


@wp.kernel
def project_by_func_unrolled(count: int, x: Vectors, normal: Vectors, output: Vectors):
    i = wp.tid()
    along = along_unrolled(x[i], normal[i])
    output[i] = x[i] - along * normal[i]


@wp.kernel
def project_by_func_counted(count: int, x: Vectors, normal: Vectors, output: Vectors):
    i = wp.tid()
    along = along_counted(count, x[i], normal[i])
    output[i] = x[i] - along * normal[i]


@wp.kernel
def divide_twice_by_length(epsilon: wp.float64, x: Vectors, output: Vectors):
    i = wp.tid()
    r = wp.length(x[i])
    output[i] = x[i] / (r + epsilon) / (r + epsilon)


@wp.kernel
def divide_twice_by_root(epsilon: wp.float64, x: Vectors, output: Vectors):
    i = wp.tid()
    r = wp.sqrt(wp.dot(x[i], x[i]))
    output[i] = x[i] / (r + epsilon) / (r + epsilon)


@wp.kernel
def divide_twice_by_regularised_root(epsilon: wp.float64, x: Vectors, output: Vectors):
    i = wp.tid()
    r = wp.sqrt(wp.dot(x[i], x[i]) + epsilon * epsilon)
    output[i] = x[i] / r / r


@wp.kernel
def root(x: Scalars, output: Scalars):
    i = wp.tid()
    output[i] = wp.sqrt(x[i])


@wp.kernel
def root_of_square(x: Vectors, output: Scalars):
    i = wp.tid()
    output[i] = wp.sqrt(wp.dot(x[i], x[i]))


@wp.kernel
def unit_vector(x: Vectors, output: Vectors):
    i = wp.tid()
    output[i] = wp.normalize(x[i])


@wp.kernel
def length(x: Vectors, output: Scalars):
    i = wp.tid()
    output[i] = wp.length(x[i])


@wp.kernel
def smaller(a: Scalars, b: Scalars, output: Scalars):
    i = wp.tid()
    output[i] = wp.min(a[i], b[i])


@wp.kernel
def larger(a: Scalars, b: Scalars, output: Scalars):
    i = wp.tid()
    output[i] = wp.max(a[i], b[i])


@wp.kernel
def clamped(x: Scalars, low: Scalars, high: Scalars, output: Scalars):
    i = wp.tid()
    output[i] = wp.clamp(x[i], low[i], high[i])


@wp.kernel
def sum_counted(count: int, x: Scalars, w: Scalars, output: Scalars):
    total = wp.float64(0.0)
    for k in range(count):
        total += w[k] * x[k] * x[k]
    output[0] = wp.float64(2.0) * total


@wp.kernel
def sum_nested(count: int, x: Scalars, w: Scalars, output: Scalars):
    total = wp.float64(0.0)
    for k in range(count):
        for m in range(k, count):
            total += w[k] * x[m] * x[m]
    output[0] = wp.float64(2.0) * total


@wp.kernel
def sum_of_neighbours(start: Integers, neighbour: Integers, x: Scalars, w: Scalars, output: Scalars):
    i = wp.tid()
    total = wp.float64(0.0)
    for k in range(start[i], start[i + 1]):
        j = neighbour[k]
        total += w[j] * (x[j] - x[i]) * (x[j] - x[i])
    output[i] = wp.float64(2.0) * total


@wp.kernel
def product_of_elements_counted(count: int, x: Scalars, output: Scalars):
    product = wp.float64(1.0)
    for k in range(count):
        product *= x[k]
    output[0] = product


@wp.func
def total_of(count: int, x: Scalars):
    total = wp.float64(0.0)
    for k in range(count):
        total += x[k]
    return total


@wp.func
def sums_of(count: int, x: Scalars):
    total = wp.float64(0.0)
    positive = wp.float64(0.0)
    number = wp.int32(0)
    for k in range(count):
        total += x[k]
        if x[k] > wp.float64(0.0):
            positive += x[k]
            number += 1
    return total, positive, number


@wp.func
def spread_of(count: int, x: Scalars, total: wp.float64):
    spread = wp.float64(0.0)
    for k in range(count):
        spread += (x[k] - total) * (x[k] - total)
    return spread


@wp.kernel
def local_in_later_loop(count: int, x: Scalars, w: Scalars, output: Scalars):
    total = wp.float64(0.0)
    for k in range(count):
        total += x[k]
    result = wp.float64(0.0)
    for k in range(count):
        result += total * w[k]
    output[0] = result


@wp.kernel
def local_of_func_in_later_loop(count: int, x: Scalars, w: Scalars, output: Scalars):
    total = total_of(count, x)
    result = wp.float64(0.0)
    for k in range(count):
        result += total * w[k]
    output[0] = result


@wp.kernel
def square_of_sum(count: int, x: Scalars, output: Scalars):
    total = wp.float64(0.0)
    for k in range(count):
        total += x[k]
    output[0] = total * total


@wp.kernel
def quotient_of_sums(count: int, x: Scalars, output: Scalars):
    total = wp.float64(0.0)
    positive = wp.float64(0.0)
    for k in range(count):
        total += x[k]
        if x[k] > wp.float64(0.0):
            positive += x[k]
    output[0] = total / positive


@wp.kernel
def mean_of_counted(count: int, x: Scalars, output: Scalars):
    positive = wp.float64(0.0)
    number = wp.int32(0)
    for k in range(count):
        if x[k] > wp.float64(0.0):
            positive += x[k]
            number += 1
    output[0] = positive / wp.float64(wp.max(number, 1))


@wp.kernel
def branch_on_sum(count: int, x: Scalars, output: Scalars):
    total = wp.float64(0.0)
    for k in range(count):
        total += x[k]
    if total > wp.float64(5.0):
        output[0] = wp.float64(3.0) * total
    else:
        output[0] = -total


@wp.kernel
def square_of_returned_sum(count: int, x: Scalars, output: Scalars):
    total, _positive, _number = sums_of(count, x)
    output[0] = total * total


@wp.kernel
def quotient_of_returned_sums(count: int, x: Scalars, output: Scalars):
    total, positive, _number = sums_of(count, x)
    output[0] = total / positive


@wp.kernel
def mean_of_returned_count(count: int, x: Scalars, output: Scalars):
    _total, positive, number = sums_of(count, x)
    output[0] = positive / wp.float64(wp.max(number, 1))


@wp.kernel
def branch_on_returned_sum(count: int, x: Scalars, output: Scalars):
    total, _positive, _number = sums_of(count, x)
    if total > wp.float64(5.0):
        output[0] = wp.float64(3.0) * total
    else:
        output[0] = -total


@wp.kernel
def result_in_second_loop(count: int, x: Scalars, output: Scalars):
    total = wp.float64(0.0)
    for k in range(count):
        total += x[k]
    spread = wp.float64(0.0)
    for k in range(count):
        spread += (x[k] - total) * (x[k] - total)
    output[0] = spread


@wp.kernel
def loops_in_funcs(count: int, x: Scalars, output: Scalars):
    output[0] = spread_of(count, x, total_of(count, x))
