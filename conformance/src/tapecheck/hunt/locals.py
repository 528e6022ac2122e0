"""Assignments to locals: scalars, structs, vectors, matrices, in straight code, branches and unrolled loops."""

# ruff: noqa: B007, SIM108
# mypy: ignore-errors

import warp as wp

from tapecheck.hunt.trial import signed, trial

X = wp.array(dtype=wp.float64)
V = wp.array(dtype=wp.vec3d)
M = wp.array(dtype=wp.mat33d)


@wp.struct
class Body:
    mass: wp.float64
    place: wp.vec3d
    frame: wp.mat33d


@wp.struct
class Pair:
    left: Body
    right: Body


@trial("a copy of a local taken before it changes", x=(4,))
def copy_then_change(x: X, y: X):
    i = wp.tid()
    s = x[i]
    old = s
    s += x[i] * x[i]
    y[i] = old * s


@trial("two locals swapped by a tuple assignment", x=(4,), w=(4,))
def swap_locals(x: X, w: X, y: X):
    i = wp.tid()
    a = x[i] * x[i]
    b = w[i]
    a, b = b, a
    y[i] = a * a * b + a


@trial("two locals swapped in a branch", x=(4,), w=(4,))
def swap_in_branch(x: X, w: X, y: X):
    i = wp.tid()
    a = x[i]
    b = w[i]
    if a > b:
        t = a
        a = b
        b = t
    y[i] = a * a * a * b


@trial("a local multiplied in place, several times", x=(4,))
def multiply_in_place(x: X, y: X):
    i = wp.tid()
    s = x[i]
    s *= s
    s *= x[i]
    s /= wp.float64(1.0) + x[i]
    s -= s * x[i]
    y[i] = s


@trial("a local changed in one of two branches", x=signed(4))
def change_in_branch(x: X, y: X):
    i = wp.tid()
    s = x[i] * x[i]
    if x[i] > wp.float64(0.0):
        s = s * x[i]
    else:
        s *= wp.float64(3.0)
    y[i] = s * s


@trial("a local used, changed in a branch, and used again", x=signed(4))
def use_change_use(x: X, y: X):
    i = wp.tid()
    s = wp.sin(x[i])
    r = s * s
    if s > wp.float64(0.0):
        s = s * x[i]
    r += s * s
    if r > wp.float64(0.8):
        r = r * s
    y[i] = r


@trial("branches in branches, each with its own change", x=signed(8), output=(8,))
def nested_branches(x: X, y: X):
    i = wp.tid()
    s = x[i]
    if s > wp.float64(0.0):
        if s > wp.float64(1.0):
            s = s * s
        else:
            s = s * x[i] * x[i]
        s += x[i]
    else:
        t = s * s
        if t > wp.float64(1.0):
            s = t * x[i]
    y[i] = s * s


@trial("a product in a loop that is unrolled", x=(4,))
def unrolled_product(x: X, y: X):
    i = wp.tid()
    p = x[i]
    for k in range(4):
        p *= x[k]
    y[i] = p * p


@trial("Newton's steps in a loop that is unrolled", x=(4,))
def unrolled_newton(x: X, y: X):
    i = wp.tid()
    r = x[i]
    for k in range(3):
        r = wp.float64(0.5) * (r + x[3 - i] / r)
    y[i] = r * x[i]


@trial("an unrolled loop with a branch and `continue`", x=(4,))
def unrolled_continue(x: X, y: X):
    i = wp.tid()
    s = x[i]
    for k in range(4):
        if k == i:
            continue
        s = s * x[k] + x[i]
    y[i] = s * s


@trial("an unrolled loop with `break` on a value", x=(4,))
def unrolled_break(x: X, y: X):
    i = wp.tid()
    s = x[i]
    for k in range(4):
        if x[k] < wp.float64(0.5):
            break
        s = s * x[k]
    y[i] = s * s


@trial("components of a vector assigned one by one from inputs", x=(4, 3))
def components_from_inputs(x: V, y: V):
    i = wp.tid()
    v = wp.vec3d()
    v[0] = x[i][1] * x[i][2]
    v[1] = x[i][2]
    v[2] = x[i][0] * x[i][0]
    y[i] = wp.cross(v, x[i])


@trial("a component assigned anew after it was used", x=(4, 3))
def component_after_use(x: V, y: X):
    i = wp.tid()
    v = x[i]
    s = v[0] * v[0]
    v[0] = x[i][1] * x[i][2]
    y[i] = s + v[0] * v[1]


@trial("a component assigned after the whole vector was used", x=(4, 3))
def component_after_dot(x: V, y: X):
    i = wp.tid()
    v = wp.float64(2.0) * x[i]
    s = wp.dot(v, v)
    v[1] = s
    y[i] = wp.dot(v, x[i])


@trial("components added up in an unrolled loop", x=(4, 3))
def component_add_unrolled(x: V, y: X):
    i = wp.tid()
    v = wp.vec3d()
    for a in range(3):
        for b in range(3):
            v[a] += x[i][b] * x[i][a]
    y[i] = wp.length(v)


@trial("a copy of a vector, one component of the original changed", x=(4, 3))
def vector_copy_then_change(x: V, y: X):
    i = wp.tid()
    v = x[i]
    old = v
    v[0] += v[1] * v[2]
    y[i] = wp.dot(old, v)


@trial("a component scaled in place", x=(4, 3))
def component_times(x: V, y: X):
    i = wp.tid()
    v = x[i]
    v[0] *= x[i][1]
    y[i] = v[0] * v[2]


@trial("a vector scaled and divided in place", x=(4, 3))
def vector_times(x: V, y: V):
    i = wp.tid()
    v = x[i]
    v *= v[0]
    v /= wp.length(x[i])
    v -= x[i]
    y[i] = v * v[1]


@trial("elements of a matrix assigned in unrolled loops", x=(4, 3))
def matrix_by_elements(x: V, y: V):
    i = wp.tid()
    m = wp.mat33d()
    for a in range(3):
        for b in range(3):
            m[a, b] = x[i][a] * x[i][b] * x[i][b]
    y[i] = m * x[i]


@trial("elements of a matrix added up in unrolled loops", x=(4, 3, 3))
def matrix_product_by_hand(x: M, y: M):
    i = wp.tid()
    m = wp.mat33d()
    for a in range(3):
        for b in range(3):
            for c in range(3):
                m[a, b] += x[i][a, c] * x[i][c, b]
    y[i] = m * x[i]


@trial("rows of a matrix assigned", x=(4, 3))
def matrix_by_rows(x: V, y: V):
    i = wp.tid()
    m = wp.mat33d()
    m[0] = x[i]
    m[1] = x[i] * x[i][0]
    m[2] = wp.cross(x[i], m[0] + m[1])
    y[i] = m * x[i]


@trial("rows of a matrix swapped", x=(4, 3, 3))
def matrix_row_swap(x: M, y: M):
    i = wp.tid()
    m = x[i]
    r = m[0]
    m[0] = m[1]
    m[1] = r
    y[i] = m * x[i]


@trial("a struct filled field by field in the kernel", x=(4, 3))
def struct_by_fields(x: V, y: V):
    i = wp.tid()
    body = Body()
    body.mass = x[i][0] * x[i][1]
    body.place = x[i] * body.mass
    body.frame = wp.outer(x[i], body.place)
    y[i] = body.frame * body.place * body.mass


@trial("a field of a struct changed after it was used", x=(4, 3))
def struct_field_again(x: V, y: X):
    i = wp.tid()
    body = Body()
    body.mass = x[i][0]
    s = body.mass * body.mass
    body.mass = x[i][1] * s
    y[i] = s + body.mass * body.mass


@trial("a field of a struct added to and multiplied", x=(4, 3))
def struct_field_in_place(x: V, y: X):
    i = wp.tid()
    body = Body()
    body.mass = x[i][0]
    body.mass += x[i][1] * x[i][2]
    body.mass *= x[i][0]
    y[i] = body.mass * body.mass


@trial("a copy of a struct, one field of the original changed", x=(4, 3))
def struct_copy(x: V, y: X):
    i = wp.tid()
    body = Body()
    body.mass = x[i][0]
    other = body
    other.mass = x[i][1]
    y[i] = body.mass * body.mass * other.mass


@trial("a struct in a struct", x=(4, 3))
def struct_nested(x: V, y: X):
    i = wp.tid()
    pair = Pair()
    pair.left.mass = x[i][0]
    pair.right.mass = x[i][1] * pair.left.mass
    pair.left.place = x[i] * pair.right.mass
    y[i] = wp.dot(pair.left.place, pair.left.place)


@trial("a struct built by its constructor", x=(4, 3))
def struct_constructor(x: V, y: X):
    i = wp.tid()
    body = Body(x[i][0], x[i], wp.outer(x[i], x[i]))
    y[i] = wp.dot(body.frame * body.place, body.place) * body.mass


@trial("a struct chosen in a branch", x=(4, 3))
def struct_in_branch(x: V, y: X):
    i = wp.tid()
    body = Body()
    body.mass = x[i][0]
    body.place = x[i]
    if x[i][1] > x[i][2]:
        body.mass = x[i][1] * x[i][1]
        body.place = x[i] * body.mass
    y[i] = wp.dot(body.place, x[i]) * body.mass
