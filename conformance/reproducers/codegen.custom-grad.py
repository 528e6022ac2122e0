"""A function's own replay is not used where another function calls it: backward draws new slots from the counter.

Plain Warp. Prints the counter and the gradient after backward, and the true ones; exits with 0 while they differ.
"""

import sys

import numpy as np
import warp as wp


@wp.func
def next_slot(counter: wp.array(dtype=int), slots: wp.array(dtype=int), i: int):
    slot = wp.atomic_add(counter, 0, 1)
    slots[i] = slot
    return slot


@wp.func_replay(next_slot)
def replay_next_slot(counter: wp.array(dtype=int), slots: wp.array(dtype=int), i: int):
    return slots[i]


@wp.func
def slot_after_next(counter: wp.array(dtype=int), slots: wp.array(dtype=int), i: int):
    return next_slot(counter, slots, i) + 1


@wp.kernel
def scatter(
    counter: wp.array(dtype=int),
    slots: wp.array(dtype=int),
    x: wp.array(dtype=wp.float64),
    y: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    y[slot_after_next(counter, slots, i)] = x[i] * x[i]


with wp.ScopedDevice("cpu"):
    x = wp.array([2.0, 3.0, 5.0], dtype=wp.float64, requires_grad=True)
    y = wp.zeros(8, dtype=wp.float64, requires_grad=True)
    counter, slots = wp.zeros(1, dtype=int), wp.zeros(3, dtype=int)
    with wp.Tape() as tape:
        wp.launch(scatter, dim=3, inputs=[counter, slots, x], outputs=[y])
    tape.backward(grads={y: wp.array([0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0], dtype=wp.float64)})
    count, observed = int(counter.numpy()[0]), x.grad.numpy()

true = np.array([4.0, 6.0, 10.0])
print(f"Warp {wp.__version__}: counter {count}, x.grad {observed.tolist()}, true 3 and {true.tolist()}")
sys.exit(1 if count == 3 and np.allclose(observed, true) else 0)
