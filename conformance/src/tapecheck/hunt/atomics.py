"""Atomics, and arrays that one kernel both writes and reads."""

# ruff: noqa: E741
# mypy: ignore-errors

from typing import Any

import warp as wp

from tapecheck.hunt.trial import signed, trial

X = wp.array(dtype=wp.float64)
X2 = wp.array2d(dtype=wp.float64)
V = wp.array(dtype=wp.vec3d)
I = wp.array(dtype=wp.int32)


def counter(subject: Any, inputs: dict[str, Any]) -> tuple[Any, ...]:
    """A fresh counter for every launch."""
    return (subject.zeros(1, dtype=subject.int32),)


@trial("a sum over threads by `atomic_add`", output=(1,), dim=6, x=(6,))
def atomic_sum(x: X, y: X):
    i = wp.tid()
    wp.atomic_add(y, 0, x[i] * x[i])


@trial("a difference over threads by `atomic_sub`", output=(2,), dim=6, x=(6,))
def atomic_difference(x: X, y: X):
    i = wp.tid()
    wp.atomic_sub(y, i % 2, x[i] * x[i])


@trial("the least over threads by `atomic_min`", output=(1,), dim=6, x=signed(6))
def atomic_least(x: X, y: X):
    i = wp.tid()
    wp.atomic_min(y, 0, -x[i] * x[i])


@trial("the greatest over threads by `atomic_max`", output=(1,), dim=6, x=(6,))
def atomic_greatest(x: X, y: X):
    i = wp.tid()
    wp.atomic_max(y, 0, x[i] * x[i])


@trial("the greatest, into an array that already holds the answer's rival", output=(2,), dim=6, x=(6,))
def atomic_greatest_by_class(x: X, y: X):
    i = wp.tid()
    wp.atomic_max(y, i % 2, wp.sin(x[i]))


@trial("the value that `atomic_add` returns, used by the thread", scratch={"t": (1,)}, x=(4,))
def atomic_returned(t: X, x: X, y: X):
    i = wp.tid()
    before = wp.atomic_add(t, 0, x[i])
    y[i] = before + x[i] * x[i]


@trial("a slot from an integer `atomic_add` as an index", output=(6,), dim=6, prepare=counter, x=(6,))
def atomic_slot(count: I, x: X, y: X):
    i = wp.tid()
    slot = wp.atomic_add(count, 0, 1)
    y[slot] = x[i] * x[i]


@trial("vectors added by `atomic_add`", output=(2,), dim=4, x=(4, 3))
def atomic_vectors(x: V, y: V):
    i = wp.tid()
    wp.atomic_add(y, i % 2, wp.cross(x[i], wp.vec3d(x[i][0], wp.float64(1.0), x[i][0])))


@trial("two-dimensional scatter with computed indices", output=(3, 3), dim=6, x=(6,))
def scatter_2d(x: X, y: X2):
    i = wp.tid()
    wp.atomic_add(y, i % 3, (i * 2) % 3, x[i] * x[i])
    y[i // 2, i % 2] += wp.sin(x[i])


@trial("a subtraction in memory", x=(4,))
def subtract_in_memory(x: X, y: X):
    i = wp.tid()
    y[i] -= x[i] * x[i]
    y[i] += x[3 - i]


@trial("written, read again, squared", scratch={"t": (4,)}, x=(4,))
def write_then_read(t: X, x: X, y: X):
    i = wp.tid()
    t[i] = x[i] * x[i]
    y[i] = t[i] * t[i]


@trial("added up in memory, read, added up again", scratch={"t": (4,)}, x=(4,))
def add_read_add(t: X, x: X, y: X):
    i = wp.tid()
    t[i] += x[i]
    a = t[i] * t[i]
    t[i] += x[i] * x[i]
    y[i] = a * t[i]


@trial("written twice, read in between", scratch={"t": (4,)}, x=(4,))
def write_read_write(t: X, x: X, y: X):
    i = wp.tid()
    t[i] = x[i] * x[i]
    a = t[i]
    t[i] = a * x[i]
    y[i] = a * t[i]


@trial("written twice, the first value used only before", scratch={"t": (4,)}, x=(4,))
def write_over(t: X, x: X, y: X):
    i = wp.tid()
    t[i] = x[i]
    y[i] = t[i] * t[i]
    t[i] = x[i] * x[i] * x[i]


@trial("the output written twice, the second one depends on the first", x=(4,))
def output_from_output(x: X, y: X):
    i = wp.tid()
    y[i] = x[i] * x[i]
    y[i] = y[i] * x[i]


@trial("the output written in a branch after a default", x=(6,), output=(6,))
def output_default_then_branch(x: X, y: X):
    i = wp.tid()
    y[i] = x[i]
    if x[i] > wp.float64(1.0):
        y[i] = x[i] * x[i]


@trial("a vector in memory, its components written one by one and read", scratch={"t": (4,)}, x=(4, 3))
def memory_components(t: V, x: V, y: X):
    i = wp.tid()
    t[i][0] = x[i][1] * x[i][2]
    t[i][1] = x[i][0]
    t[i][2] = t[i][0] * t[i][1]
    y[i] = wp.dot(t[i], t[i])


@trial("a matrix in memory, its elements written and read", scratch={"t": (4,)}, x=(4, 3))
def memory_matrix(t: wp.array(dtype=wp.mat22d), x: V, y: X):
    i = wp.tid()
    t[i][0, 0] = x[i][0] * x[i][1]
    t[i][0, 1] = x[i][2]
    t[i][1, 0] = x[i][1] * x[i][1]
    t[i][1, 1] = x[i][0]
    y[i] = wp.determinant(t[i])


@trial("an integration step in memory: velocity, then place from the new velocity", scratch={"t": (4,)}, x=(4,), v=(4,))
def symplectic_in_memory(t: X, x: X, v: X, y: X):
    i = wp.tid()
    t[i] = v[i] - wp.float64(0.1) * wp.sin(x[i])
    y[i] = x[i] + wp.float64(0.1) * t[i] * t[i]


@wp.struct
class Particle:
    place: wp.vec3d
    mass: wp.float64


@trial("an array of structs written whole and read", scratch={"t": (4,)}, x=(4, 3))
def array_of_structs(t: wp.array(dtype=Particle), x: V, y: X):
    i = wp.tid()
    p = Particle()
    p.place = x[i] * x[i][0]
    p.mass = x[i][1]
    t[i] = p
    q = t[i]
    y[i] = q.mass * q.mass * wp.dot(q.place, q.place)


@trial("fields of an array of structs written one by one and read", scratch={"t": (4,)}, x=(4, 3))
def array_of_structs_by_field(t: wp.array(dtype=Particle), x: V, y: X):
    i = wp.tid()
    t[i].place = x[i] * x[i][0]
    t[i].mass = x[i][1]
    y[i] = t[i].mass * t[i].mass * wp.dot(t[i].place, t[i].place)


@trial("`atomic_min` on vectors, component by component", output=(1,), dim=4, x=(4, 3))
def atomic_least_vector(x: V, y: V):
    i = wp.tid()
    wp.atomic_min(y, 0, -x[i] * x[i][0])
