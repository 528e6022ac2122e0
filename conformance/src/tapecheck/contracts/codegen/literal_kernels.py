"""Kernels that combine a Python literal with a double: each in a module of its own, for most must not compile."""

# mypy: ignore-errors
# The annotations are Warp types held in variables, which mypy does not take for types.

import warp as wp

Doubles = wp.array(dtype=wp.float64)


@wp.kernel(module="unique")
def product(x: Doubles, y: Doubles):
    y[0] = 0.1 * x[0]


@wp.kernel(module="unique")
def quotient(x: Doubles, y: Doubles):
    y[0] = x[0] / 3.0


@wp.kernel(module="unique")
def sum_with_integer(x: Doubles, y: Doubles):
    y[0] = x[0] + 1


@wp.kernel(module="unique")
def augmented(x: Doubles, y: Doubles):
    value = x[0]
    value += 0.1
    y[0] = value


@wp.kernel(module="unique")
def maximum(x: Doubles, y: Doubles):
    y[0] = wp.max(x[0], 0.1)


@wp.kernel(module="unique")
def where(x: Doubles, y: Doubles):
    y[0] = wp.where(x[0] > wp.float64(0.0), x[0], 0.1)


@wp.kernel(module="unique")
def scaled_vector(x: Doubles, y: Doubles):
    v = wp.vec2d(x[0], x[0]) * 0.1
    y[0] = v[0]


@wp.kernel(module="unique")
def store(x: Doubles, y: Doubles):
    y[0] = 0.1


@wp.kernel(module="unique")
def atomic_addition(x: Doubles, y: Doubles):
    wp.atomic_add(y, 0, 0.1)


@wp.func
def identity(value: wp.float64):
    return value


@wp.kernel(module="unique")
def argument(x: Doubles, y: Doubles):
    y[0] = identity(0.1)


@wp.kernel(module="unique")
def comparison(x: Doubles, y: Doubles):
    if x[0] > 0.1:
        y[0] = x[0]
