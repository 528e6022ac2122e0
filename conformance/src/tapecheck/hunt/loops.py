"""Loops of run-time length in the forms that their authors believe to be safe."""

# ruff: noqa: B007, E741, RUF046, UP018
# mypy: ignore-errors

import numpy as np
import warp as wp

from tapecheck.hunt.trial import CSR, signed, trial

HEADS = np.array([0, 3, 5, 3], dtype=np.int32)
CHAIN = np.array([3, 5, 4, 1, -1, 2], dtype=np.int32)
X = wp.array(dtype=wp.float64)
I = wp.array(dtype=wp.int32)


@trial("sum of squares of neighbours, stored", fixed=CSR, x=(6,))
def neighbour_squares(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]] * x[near[k]]
    y[i] = s


@trial("pair differences with a branch on their sign", fixed=CSR, x=(6,))
def pair_branch(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    xi = x[i]
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        d = xi - x[near[k]]
        if d > wp.float64(0.0):
            s += d * d * d
        else:
            s -= wp.exp(d) * xi
    y[i] = s


@trial("a local set before the loop is a factor in it", fixed=CSR, x=(6,))
def factor_from_before(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    scale = wp.sin(x[i]) * x[i]
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += scale * x[near[k]]
    y[i] = s


@trial("a temporary of the loop's body reassigned in it", fixed=CSR, x=(6,))
def temporary_reassigned(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        t = x[near[k]]
        t = t * t
        t = wp.sin(t) + t * x[i]
        s += t
    y[i] = s


@trial("a temporary multiplied in place in the loop's body", fixed=CSR, x=(6,))
def temporary_in_place(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        t = x[near[k]]
        t *= x[i]
        t += t * t
        t /= wp.float64(1.0) + x[i]
        s += t
    y[i] = s


@trial("a loop with `continue` on an index", fixed=CSR, x=(6,))
def continue_on_self(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        j = near[k]
        if j == 2:
            continue
        s += x[i] * x[j] * x[j]
    y[i] = s


@trial("`continue` after a part of the body added something", fixed=CSR, x=(6,))
def continue_halfway(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        d = x[near[k]] - x[i]
        s += d * d
        if d < wp.float64(0.0):
            continue
        s += d * d * d
    y[i] = s


@trial("`continue` in the inner one of two loops", fixed=CSR, x=(6,))
def continue_nested(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        for m in range(rows[i], rows[i + 1]):
            if m == k:
                continue
            s += x[near[k]] * x[near[m]] * x[near[m]]
    y[i] = s


@trial("neighbours of neighbours", fixed=CSR, x=(6,))
def nested_ranges(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        j = near[k] % 4
        for m in range(rows[j], rows[j + 1]):
            s += x[j] * x[near[m]] * x[i]
    y[i] = s


@trial("three loops in each other, the innermost range depends on the outer", fixed=(4,), x=(6,))
def triangular_triple(n: int, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for a in range(n):
        for b in range(a, n):
            for c in range(b, n):
                s += x[a] * x[b] * x[c] * x[i]
    y[i] = s


@trial("a loop with a step", fixed=(6, 2), x=(6,))
def loop_with_step(n: int, step: int, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(0, n, step):
        s += x[k] * x[k] * x[i]
    y[i] = s


@trial("a loop that counts down", fixed=(5,), x=(6,))
def loop_downwards(n: int, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(n, -1, -1):
        s += x[k] * x[k] * wp.float64(k + 1) * x[i]
    y[i] = s


@trial("a loop of zero iterations for some threads", fixed=(3,), x=(6,))
def empty_loops(n: int, x: X, y: X):
    i = wp.tid()
    s = x[i] * x[i]
    for k in range(n, n + i - 1):
        s += x[k] * x[i]
    y[i] = s


@trial("two loops one after the other with sums of their own", fixed=CSR, x=(6,))
def two_sums(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    t = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        s += x[near[k]] * x[i]
    for k in range(rows[i], rows[i + 1]):
        t += wp.sin(x[near[k]])
    y[i] = wp.float64(2.0) * s - t


@trial("a loop in a branch", fixed=CSR, x=(6,))
def loop_in_branch(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = x[i]
    if i % 2 == 0:
        for k in range(rows[i], rows[i + 1]):
            s += x[near[k]] * x[i]
    else:
        s = s * s
    y[i] = s


@trial("an inner branch on two conditions", fixed=CSR, x=signed(6))
def branch_and_or(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        d = x[near[k]]
        if (d > wp.float64(0.0) and k % 2 == 0) or not (d < wp.float64(-0.5)):
            s += d * d * x[i]
        elif d < wp.float64(-1.0):
            s += wp.cos(d) * x[i]
    y[i] = s


@trial("each neighbour adds to the output in memory", fixed=CSR, x=(6,))
def add_to_output(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    for k in range(rows[i], rows[i + 1]):
        y[i] += x[near[k]] * x[near[k]] * x[i]


@trial("scatter to neighbours, with the opposite to oneself", output=(6,), dim=4, fixed=CSR, x=(6,))
def scatter_pairs(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    for k in range(rows[i], rows[i + 1]):
        f = x[i] * x[near[k]] * x[near[k]]
        wp.atomic_add(y, near[k], f)
        wp.atomic_sub(y, i, f * x[i])


@trial("a running sum stored at every step", output=(6,), dim=1, fixed=(6,), x=(6,))
def prefix_sum(n: int, x: X, y: X):
    s = wp.float64(0.0)
    for k in range(n):
        s += x[k] * x[k]
        y[k] = s


@trial("a loop over the length of the array", x=(6,))
def loop_over_shape(x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    for k in range(x.shape[0]):
        s += x[k] * x[k] * x[i]
    y[i] = s


@trial("a counter loop with `while`", fixed=(5,), x=(6,))
def while_counter(n: int, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    k = int(0)
    while k < n:
        s += x[k] * x[k] * x[i]
        k += 1
    y[i] = s


@trial("a counter loop with `while` that steps in a branch", fixed=(6,), x=(8,))
def while_uneven(n: int, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    k = int(0)
    while k < n:
        s += x[k] * x[k] * x[i]
        if k % 2 == 0:
            k += 1
        else:
            k += 2
    y[i] = s


@trial("a linked list of particles", fixed=(HEADS, CHAIN), x=(6,))
def linked_list(head: I, after: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    j = head[i]
    while j >= 0:
        s += x[j] * x[j] * x[i]
        j = after[j]
    y[i] = s


@trial("a linked list walked by a counted loop", fixed=(HEADS, CHAIN, 2), x=(6,))
def linked_list_counted(head: I, after: I, n: int, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    j = head[i]
    for k in range(n):
        s += x[j] * x[j] * x[i]
        j = after[j]
    y[i] = s


@trial("a count kept beside a sum, both linear", fixed=CSR, x=(6,))
def count_beside(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    n = int(0)
    for k in range(rows[i], rows[i + 1]):
        if near[k] != 3:
            s += x[near[k]] * x[i]
            n += 1
    y[i] = s + wp.float64(n)


@trial("a count of the loop is a factor in the same loop", fixed=CSR, x=(6,))
def count_as_weight(rows: I, near: I, x: X, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    n = int(0)
    for k in range(rows[i], rows[i + 1]):
        n += 1
        s += x[near[k]] * x[i] * wp.float64(n)
    y[i] = s


@trial("a count of the loop is an index in the same loop", output=(6,), dim=1, fixed=CSR, x=(6,))
def count_as_index(rows: I, near: I, x: X, y: X):
    n = int(0)
    for k in range(rows[0], rows[2]):
        if near[k] != 1:
            y[n] = x[near[k]] * x[near[k]]
            n += 1
