"""Vectors, quaternions, transforms and scalar functions."""

# mypy: ignore-errors

import warp as wp

from tapecheck.hunt.trial import signed, trial, uniform

X = wp.array(dtype=wp.float64)
V = wp.array(dtype=wp.vec3d)
V2 = wp.array(dtype=wp.vec2d)
Q = wp.array(dtype=wp.quatd)
REMAINED = uniform(4, low=1.05, high=1.15)
DIVIDING = uniform(4, low=0.4, high=0.45)


@trial("unit vectors, their products", x=(4, 3), w=(4, 3))
def unit_vectors(x: V, w: V, y: V):
    i = wp.tid()
    n = wp.normalize(x[i])
    y[i] = w[i] - n * wp.dot(w[i], n) + wp.cross(n, w[i]) / wp.length(w[i])


@trial("squared lengths and powers of them", x=(4, 3))
def lengths(x: V, y: X):
    i = wp.tid()
    r2 = wp.length_sq(x[i])
    y[i] = wp.pow(r2, wp.float64(1.5)) + wp.sqrt(r2) / (r2 + wp.float64(0.01))


@trial("products and quotients component by component", x=(4, 3), w=(4, 3))
def componentwise(x: V, w: V, y: V):
    i = wp.tid()
    y[i] = wp.cw_mul(x[i], w[i]) + wp.cw_div(x[i], w[i])


@trial("`min` and `max` of two vectors and of one vector's components", x=signed(4, 3), w=signed(4, 3))
def vector_min_max(x: V, w: V, y: X):
    i = wp.tid()
    m = wp.min(x[i], w[i])
    n = wp.max(x[i], w[i])
    y[i] = wp.dot(m, n) * wp.min(x[i]) + wp.max(w[i]) * m[0]


@trial("`abs`, `sign`, `clamp`, `step` away from their kinks", x=signed(8), output=(8,))
def kinked(x: X, y: X):
    i = wp.tid()
    a = x[i]
    y[i] = wp.abs(a) * a + wp.sign(a) * a * a + wp.clamp(a, wp.float64(-1.0), wp.float64(1.0)) * a + wp.step(a) * a


@trial("`lerp` and `smoothstep`", x=(4,), w=(4,))
def blends(x: X, w: X, y: X):
    i = wp.tid()
    t = wp.smoothstep(wp.float64(0.0), wp.float64(2.0), x[i])
    y[i] = wp.lerp(x[i], w[i], t) * t


@trial("exponentials, logarithms, powers", x=(4,), w=(4,))
def powers(x: X, w: X, y: X):
    i = wp.tid()
    y[i] = wp.pow(x[i], w[i]) + wp.log(x[i]) * wp.exp(w[i]) + wp.log2(x[i]) + wp.log10(w[i]) + x[i] ** wp.float64(2.5)


@trial("circular and hyperbolic functions and their inverses", x=uniform(4, low=0.1, high=0.8), w=(4,))
def circular(x: X, w: X, y: X):
    i = wp.tid()
    a = wp.asin(x[i]) + wp.acos(x[i]) * x[i] + wp.atan(w[i]) + wp.atan2(x[i], w[i])
    y[i] = a + wp.tan(x[i]) * wp.sinh(w[i]) + wp.cosh(x[i]) * wp.tanh(w[i])


@trial("the remainder `mod` of two doubles", x=REMAINED, w=DIVIDING)
def remainder_function(x: X, w: X, y: X):
    i = wp.tid()
    y[i] = wp.mod(x[i], w[i]) * x[i]


@trial("the operator `%` of two doubles", x=REMAINED, w=DIVIDING)
def remainder_operator(x: X, w: X, y: X):
    i = wp.tid()
    y[i] = (x[i] % w[i]) * x[i]


@trial("the operator `%` with a constant", x=REMAINED)
def remainder_of_constant(x: X, y: X):
    i = wp.tid()
    y[i] = (x[i] % wp.float64(0.45)) * x[i]


@trial("the fraction `frac`", x=REMAINED)
def fraction(x: X, y: X):
    i = wp.tid()
    y[i] = wp.frac(x[i]) * x[i]


@trial("the fraction by `floor`", x=REMAINED)
def fraction_by_floor(x: X, y: X):
    i = wp.tid()
    y[i] = (x[i] - wp.floor(x[i])) * x[i] + wp.round(x[i]) * x[i] + wp.trunc(x[i]) * x[i]


@trial("floor division of doubles", x=REMAINED, w=DIVIDING)
def floor_division(x: X, w: X, y: X):
    i = wp.tid()
    y[i] = wp.floordiv(x[i], w[i]) * x[i] + (x[i] // w[i]) * w[i]


@trial("cube roots and the error function", x=(4,))
def roots(x: X, y: X):
    i = wp.tid()
    y[i] = wp.cbrt(x[i]) * wp.erf(x[i]) + wp.erfc(x[i]) / wp.sqrt(x[i])


@trial("`where` on scalars and on vectors", x=signed(4, 3))
def wheres(x: V, y: V):
    i = wp.tid()
    a = wp.where(x[i][0] > wp.float64(0.0), x[i][1] * x[i][2], x[i][0])
    y[i] = wp.where(x[i][1] > x[i][2], x[i] * a, wp.cross(x[i], wp.vec3d(a, a, wp.float64(1.0))))


@trial("a choice by an index into a vector", x=(4, 3))
def dynamic_component(x: V, y: X):
    i = wp.tid()
    v = x[i] * x[i][0]
    y[i] = v[i % 3] * v[(i + 1) % 3]


@trial("rotation by a quaternion made from axis and angle", x=(4, 3), w=(4,))
def axis_angle(x: V, w: X, y: V):
    i = wp.tid()
    q = wp.quat_from_axis_angle(wp.normalize(x[i]), w[i])
    y[i] = wp.quat_rotate(q, wp.vec3d(w[i], wp.float64(1.0), x[i][0]))


@trial("rotation by an unnormalised quaternion, and back", q=(4, 4), x=(4, 3))
def quaternion_rotation(q: Q, x: V, y: V):
    i = wp.tid()
    y[i] = wp.quat_rotate(q[i], x[i]) + wp.quat_rotate_inv(q[3 - i], x[i])


@trial("products, inverses and normalisation of quaternions", q=(4, 4))
def quaternion_algebra(q: Q, y: Q):
    i = wp.tid()
    p = wp.normalize(q[i])
    y[i] = wp.quat_inverse(p) * q[3 - i] * p + p * wp.dot(p, q[3 - i])


@trial("the matrix of a quaternion", q=(4, 4), x=(4, 3))
def quaternion_to_matrix(q: Q, x: V, y: V):
    i = wp.tid()
    m = wp.quat_to_matrix(wp.normalize(q[i]))
    y[i] = m * x[i]


@trial("the quaternion of a matrix", q=(4, 4))
def quaternion_from_matrix(q: Q, y: Q):
    i = wp.tid()
    m = wp.quat_to_matrix(wp.normalize(q[i]))
    y[i] = wp.quat_from_matrix(m)


@trial("axis and angle of a quaternion", q=(4, 4))
def quaternion_to_axis_angle(q: Q, y: X):
    i = wp.tid()
    axis = wp.vec3d()
    angle = wp.float64(0.0)
    wp.quat_to_axis_angle(wp.normalize(q[i]), axis, angle)
    y[i] = angle * axis[0] + axis[1]


@trial("spherical interpolation", q=(4, 4), w=uniform(4, low=0.2, high=0.8))
def slerp(q: Q, w: X, y: Q):
    i = wp.tid()
    y[i] = wp.quat_slerp(wp.normalize(q[i]), wp.normalize(q[(i + 1) % 4]), w[i])


@trial("a quaternion from roll, pitch and yaw", x=(4, 3))
def roll_pitch_yaw(x: V, y: Q):
    i = wp.tid()
    y[i] = wp.quat_rpy(x[i][0], x[i][1], x[i][2])


@trial("an integration step of a quaternion", q=(4, 4), x=(4, 3))
def quaternion_step(q: Q, x: V, y: Q):
    i = wp.tid()
    p = q[i] + wp.float64(0.05) * (wp.quatd(x[i], wp.float64(0.0)) * q[i])
    y[i] = wp.normalize(p)


@trial("transforms of points and vectors", q=(4, 4), x=(4, 3))
def transforms(q: Q, x: V, y: V):
    i = wp.tid()
    t = wp.transformd(x[i], wp.normalize(q[i]))
    u = wp.transform_multiply(t, wp.transform_inverse(wp.transformd(x[3 - i], wp.normalize(q[3 - i]))))
    y[i] = wp.transform_point(u, x[i]) + wp.transform_vector(t, x[3 - i])


@trial("parts of a transform", q=(4, 4), x=(4, 3))
def transform_parts(q: Q, x: V, y: V):
    i = wp.tid()
    t = wp.transformd(x[i], q[i])
    y[i] = wp.quat_rotate(wp.transform_get_rotation(t), wp.transform_get_translation(t))


@trial("two-dimensional rotation", x=(4, 2), w=(4,))
def planar_rotation(x: V2, w: X, y: V2):
    i = wp.tid()
    c = wp.cos(w[i])
    s = wp.sin(w[i])
    y[i] = wp.mat22d(c, -s, s, c) * x[i] + wp.vec2d(-x[i][1], x[i][0])


@trial("a vector with six components in a generic type", x=(4, 3))
def six_components(x: V, y: X):
    i = wp.tid()
    v = wp.vector(x[i][0], x[i][1], x[i][2], x[i][0] * x[i][1], x[i][1] * x[i][2], wp.float64(1.0))
    y[i] = wp.dot(v, v) * v[3]
