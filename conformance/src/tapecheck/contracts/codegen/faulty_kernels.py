"""Kernels whose adjoints stand in for those of `kernels.py`: with a fault, or equal by another way of writing.

Only faults and near misses launch them, so that an ordinary run does not compile this module.
"""
# ruff: noqa: SIM108 (a conditional expression is another idiom than an `if` block)
# mypy: ignore-errors
# The annotations are Warp types held in variables, which mypy does not take for types.

import warp as wp

Integers = wp.array(dtype=int)
Scalars = wp.array(dtype=wp.float64)
Vectors = wp.array(dtype=wp.vec3d)
Matrices = wp.array(dtype=wp.mat33d)


# Branches


@wp.kernel
def first_of_one_array(flag: Integers, x: Scalars, output: Scalars):
    i = wp.tid()
    output[i] = x[i] * x[i]


@wp.kernel
def first_on_own_values(x: Scalars, output: Scalars):
    i = wp.tid()
    output[i] = x[i] * x[i]


@wp.kernel
def first_of_two_arrays(flag: Integers, a: Scalars, b: Scalars, output: Scalars):
    i = wp.tid()
    output[i] = a[i] * a[i]


@wp.kernel
def first_quotient(flag: Integers, m: Scalars, r: Scalars, vol: Scalars, output: Scalars):
    i = wp.tid()
    value = m[i] / r[i]
    output[i] = value * value


@wp.kernel
def if_on_own_values(x: Scalars, output: Scalars):
    i = wp.tid()
    if x[i] < x[i + 1]:
        value = x[i]
    else:
        value = x[i + 1]
    output[i] = value * value


@wp.kernel
def weights_of_one_array(flag: Integers, x: Scalars, output: Scalars):
    i = wp.tid()
    weight = wp.float64(flag[i])
    value = weight * x[i] + (wp.float64(1.0) - weight) * x[i + 1]
    output[i] = value * value


@wp.kernel
def weights_of_two_arrays(flag: Integers, a: Scalars, b: Scalars, output: Scalars):
    i = wp.tid()
    weight = wp.float64(flag[i])
    value = weight * a[i] + (wp.float64(1.0) - weight) * b[i]
    output[i] = value * value


@wp.kernel
def weights_of_quotient(flag: Integers, m: Scalars, r: Scalars, vol: Scalars, output: Scalars):
    i = wp.tid()
    weight = wp.float64(flag[i])
    value = weight * m[i] / r[i] + (wp.float64(1.0) - weight) * vol[i]
    output[i] = value * value


# Accumulation


@wp.kernel
def last_term(count: int, m: Matrices, x: Vectors, output: Vectors):
    i = wp.tid()
    matrix = m[i]
    vector = x[i]
    output[i] = vector[2] * wp.vec3d(matrix[0, 2], matrix[1, 2], matrix[2, 2])


@wp.kernel
def product_by_operator(count: int, m: Matrices, x: Vectors, output: Vectors):
    i = wp.tid()
    output[i] = m[i] * x[i]


@wp.func
def held(value: wp.vec3d):
    return wp.vec3d(value[0], value[1], value[2])


@wp.func_grad(held)
def held_passes_nothing(value: wp.vec3d, adjoint: wp.vec3d):
    pass


@wp.kernel
def project_on_held_normal(count: int, x: Vectors, normal: Vectors, output: Vectors):
    i = wp.tid()
    output[i] = x[i] - wp.dot(x[i], normal[i]) * held(normal[i])


@wp.kernel
def project_by_dot(count: int, x: Vectors, normal: Vectors, output: Vectors):
    i = wp.tid()
    output[i] = x[i] - wp.dot(x[i], normal[i]) * normal[i]


# Singular points, ties and edges


@wp.kernel
def divide_by_bare_root(epsilon: wp.float64, x: Vectors, output: Vectors):
    i = wp.tid()
    r = wp.sqrt(wp.dot(x[i], x[i]))
    output[i] = x[i] / (r + epsilon) / (r + epsilon)


@wp.kernel
def divide_once(epsilon: wp.float64, x: Vectors, output: Vectors):
    i = wp.tid()
    output[i] = x[i] / (wp.length(x[i]) + epsilon)


@wp.kernel
def divide_by_square(epsilon: wp.float64, x: Vectors, output: Vectors):
    i = wp.tid()
    r = wp.length(x[i]) + epsilon
    output[i] = x[i] / (r * r)


@wp.kernel
def bare_root(x: Scalars, output: Scalars):
    i = wp.tid()
    output[i] = wp.sqrt(x[i])


@wp.kernel
def bare_length(x: Vectors, output: Scalars):
    i = wp.tid()
    output[i] = wp.sqrt(wp.dot(x[i], x[i]))


@wp.kernel
def bare_unit_vector(x: Vectors, output: Vectors):
    i = wp.tid()
    output[i] = x[i] / wp.sqrt(wp.dot(x[i], x[i]))


@wp.kernel
def guarded_root(x: Scalars, output: Scalars):
    i = wp.tid()
    if x[i] > wp.float64(0.0):
        output[i] = wp.sqrt(x[i])


@wp.kernel
def root_with_floor(x: Scalars, output: Scalars):
    i = wp.tid()
    output[i] = wp.sqrt(x[i] + wp.float64(0.01))


@wp.kernel
def length_with_floor(x: Vectors, output: Scalars):
    i = wp.tid()
    output[i] = wp.sqrt(wp.dot(x[i], x[i]) + wp.float64(0.01))


@wp.kernel
def guarded_length(x: Vectors, output: Scalars):
    i = wp.tid()
    square = wp.dot(x[i], x[i])
    if square > wp.float64(0.0):
        output[i] = wp.sqrt(square)


@wp.kernel
def guarded_unit_vector(x: Vectors, output: Vectors):
    i = wp.tid()
    square = wp.dot(x[i], x[i])
    if square > wp.float64(0.0):
        output[i] = x[i] / wp.sqrt(square)


@wp.kernel
def average(a: Scalars, b: Scalars, output: Scalars):
    i = wp.tid()
    output[i] = wp.float64(0.5) * (a[i] + b[i])


@wp.kernel
def average_with_bound(x: Scalars, low: Scalars, high: Scalars, output: Scalars):
    i = wp.tid()
    if x[i] == low[i]:
        output[i] = wp.float64(0.5) * (x[i] + low[i])
    else:
        output[i] = wp.float64(0.5) * (x[i] + high[i])


@wp.kernel
def smaller_at_half_scale(a: Scalars, b: Scalars, output: Scalars):
    i = wp.tid()
    half = wp.float64(0.5)
    output[i] = wp.float64(2.0) * wp.min(half * a[i], half * b[i])


@wp.kernel
def larger_at_half_scale(a: Scalars, b: Scalars, output: Scalars):
    i = wp.tid()
    half = wp.float64(0.5)
    output[i] = wp.float64(2.0) * wp.max(half * a[i], half * b[i])


@wp.kernel
def clamped_at_half_scale(x: Scalars, low: Scalars, high: Scalars, output: Scalars):
    i = wp.tid()
    half = wp.float64(0.5)
    output[i] = wp.float64(2.0) * wp.clamp(half * x[i], half * low[i], half * high[i])
