"""Functions in functions: several results, several returns, changed arguments, generic types, closures."""

# ruff: noqa: B007, B008, E741, RET504
# mypy: ignore-errors

from typing import Any

import warp as wp

from tapecheck.hunt.trial import CSR, signed, trial

X = wp.array(dtype=wp.float64)
V = wp.array(dtype=wp.vec3d)
I = wp.array(dtype=wp.int32)


@wp.struct
class State:
    density: wp.float64
    slope: wp.vec3d


@wp.func
def sums(rows: I, near: I, x: X, i: int):
    s = wp.float64(0.0)
    t = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]] * x[i]
        t += x[near[k]] * x[near[k]]
    return s, t


@trial("a tuple of sums, combined by the caller", fixed=CSR, x=(6,))
def tuple_of_sums(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s, t = sums(rows, near, x, i)
    y[i] = s * s / t


@wp.func
def ratio(rows: I, near: I, x: X, i: int):
    s, t = sums(rows, near, x, i)
    return s / t


@trial("a function that calls a function with a loop, in a loop", fixed=CSR, x=(6,))
def func_in_func_in_loop(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    r = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        q = ratio(rows, near, x, near[k] % 4)
        r += q * q * x[near[k]]
    y[i] = r


@wp.func
def struct_of_sums(rows: I, near: I, x: X, i: int):
    state = State()
    s, t = sums(rows, near, x, i)
    state.density = s
    state.slope = wp.vec3d(t, s, x[i])
    return state


@trial("a struct filled field by field in a function", fixed=CSR, x=(6,))
def struct_from_func(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    state = struct_of_sums(rows, near, x, i)
    y[i] = state.density * wp.length(state.slope)


@wp.func
def constructed_sums(rows: I, near: I, x: X, i: int):
    s, t = sums(rows, near, x, i)
    return State(s, wp.vec3d(t, s, x[i]))


@trial("a struct built by its constructor in a function", fixed=CSR, x=(6,))
def constructed_from_func(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    state = constructed_sums(rows, near, x, i)
    y[i] = state.density * wp.length(state.slope)


@wp.func
def fill(state: State, x: wp.vec3d):
    state.density = wp.dot(x, x)
    state.slope = x * x[0]


@trial("a struct filled by a function that gets it as an argument", x=(4, 3))
def struct_argument_filled(x: V, y: X):
    i = wp.tid()
    state = State()
    fill(state, x[i])
    y[i] = state.density * wp.length(state.slope)


@wp.func
def scaled(v: wp.vec3d):
    v[0] = v[1] * v[2]
    return v


@trial("a function that assigns a component of its argument", x=(4, 3))
def argument_component_set(x: V, y: X):
    i = wp.tid()
    w = scaled(x[i])
    y[i] = wp.dot(w, w)


@wp.func
def shifted(v: wp.vec3d):
    v[0] += v[1] * v[2]
    return v


@trial("a function that adds to a component of its argument", x=(4, 3))
def argument_component_add(x: V, y: X):
    i = wp.tid()
    v = x[i] * x[i][0]
    w = shifted(v)
    y[i] = wp.dot(w, x[i])


@wp.func
def squashed(s: wp.float64):
    s = s * s
    s = s + wp.sin(s)
    return s


@trial("a function that assigns its scalar argument anew", x=(4,))
def argument_reassigned(x: X, y: X):
    i = wp.tid()
    s = x[i]
    t = squashed(s)
    y[i] = s * t


@wp.func
def accumulated(x: V, rows: I, near: I, i: int):
    v = wp.vec3d()
    for k in range(rows[i], rows[i + 1]):
        for a in range(3):
            v[a] += x[near[k]][a] * x[i][a]
    return v


@trial("components accumulated in a function", fixed=CSR, x=(6, 3))
def components_in_func(rows: I, near: I, x: V, y: X):
    i = wp.tid()
    v = accumulated(x, rows, near, i)
    y[i] = wp.dot(v, v)


@wp.func
def piecewise(r: wp.float64):
    if r < wp.float64(0.6):
        return r * r
    if r < wp.float64(1.1):
        return wp.float64(2.0) * r * r * r
    return wp.exp(-r)


@trial("a function with several returns", x=(8,), output=(8,))
def several_returns(x: X, y: X):
    i = wp.tid()
    r = piecewise(x[i])
    y[i] = r * r * piecewise(r)


@wp.func
def cubic_spline(q: wp.float64):
    w = wp.float64(0.0)
    if q < wp.float64(1.0):
        w = wp.float64(1.0) - wp.float64(1.5) * q * q * (wp.float64(1.0) - q / wp.float64(2.0))
    elif q < wp.float64(2.0):
        d = wp.float64(2.0) - q
        w = wp.float64(0.25) * d * d * d
    return w


@trial("several returns in a neighbour loop", fixed=CSR, x=(6,))
def returns_in_loop(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += piecewise(x[near[k]]) * cubic_spline(x[i] + x[near[k]])
    y[i] = s


@wp.func
def early(rows: I, near: I, x: X, i: int):
    if x[i] > wp.float64(1.0):
        return x[i] * x[i]
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]] * x[i]
    return s


@trial("a function that returns before its loop", fixed=CSR, x=(6,))
def return_before_loop(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = early(rows, near, x, i)
    y[i] = s * s


@wp.func
def found(rows: I, near: I, x: X, i: int):
    for k in range(rows[i], rows[i + 1]):
        if x[near[k]] > wp.float64(0.9):
            return x[near[k]] * x[i]
    return x[i]


@trial("a function that returns the first neighbour that fits", fixed=CSR, x=(6,))
def return_first(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    y[i] = found(rows, near, x, i)


@wp.func
def write_square(t: X, i: int, value: wp.float64):
    t[i] = value * value


@trial("a function that writes into an array, read by the caller", scratch={"t": (4,)}, x=(4,))
def func_writes_array(t: X, x: X, y: X):
    i = wp.tid()
    write_square(t, i, x[i])
    y[i] = t[i] * x[i]


@wp.func
def polynomial(r: wp.float64, a: wp.float64 = wp.float64(2.0), b: wp.float64 = wp.float64(3.0)):
    return a * r * r + b * r


@trial("a function with default arguments", x=(4,))
def default_arguments(x: X, y: X):
    i = wp.tid()
    y[i] = polynomial(x[i]) * polynomial(x[i], b=x[3 - i])


@wp.func
def norm_of(v: Any):
    s = v[0] * v[0]
    for k in range(1, len(v)):
        s += v[k] * v[k]
    return wp.sqrt(s)


@trial("a generic function over the length of its vector", x=(4, 3))
def generic_length(x: V, y: X):
    i = wp.tid()
    y[i] = norm_of(x[i]) * norm_of(wp.vec2d(x[i][0], x[i][1]))


@wp.func
def interpolate(a: Any, b: Any, t: Any):
    one = type(t)(1.0)
    return a * (one - t) + b * t


@trial("a generic function of scalars, vectors and matrices", x=(4, 3))
def generic_kinds(x: V, y: V):
    i = wp.tid()
    t = interpolate(x[i][0], x[i][1], x[i][2])
    v = interpolate(x[i], wp.vec3d(t, t, x[i][0]), t)
    m = interpolate(wp.outer(x[i], v), wp.identity(n=3, dtype=wp.float64), t)
    y[i] = m * v


def made(power: int):
    @wp.func
    def inner(r: wp.float64):
        p = wp.float64(1.0)
        for k in range(wp.static(power)):
            p *= r
        return p

    return inner


cube, fifth = made(3), made(5)


@trial("functions made by a closure, with a static loop", x=(4,))
def closures(x: X, y: X):
    i = wp.tid()
    y[i] = cube(x[i]) * fifth(x[3 - i]) + fifth(x[i])


@trial("the result of a call is an argument of the same call", x=(4,))
def nested_calls(x: X, y: X):
    i = wp.tid()
    y[i] = squashed(squashed(x[i]) - piecewise(squashed(x[i])))


@trial("a kernel that returns early", x=signed(8), output=(8,))
def kernel_returns_early(x: X, y: X):
    i = wp.tid()
    if x[i] < wp.float64(0.0):
        y[i] = x[i] * x[i] * x[i]
        return
    s = x[i] * x[i]
    if s > wp.float64(1.0):
        return
    y[i] = s * s


@wp.func
def pair_force(state: State, r: wp.vec3d, other: State):
    d = wp.length(r)
    return r * (state.density + other.density) / (d * d + wp.float64(0.1)) - state.slope * other.density


@trial("structs made in a loop and passed to a function", fixed=CSR, x=(6, 3), w=(6,))
def structs_in_loop(rows: I, near: I, x: V, w: X, y: V):
    i = wp.tid()
    a = State(w[i], x[i] * w[i])
    f = wp.vec3d()
    for k in range(rows[i], rows[i + 1]):
        j = near[k]
        b = State()
        b.density = w[j] * w[j]
        b.slope = x[j]
        f += pair_force(a, x[i] - x[j], b)
    y[i] = f
