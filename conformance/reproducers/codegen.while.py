"""Backward of a `while` loop advances the counter before it uses it: gradients land one element further.

Plain Warp. Prints the gradient of the sum of the squares of the first elements, and the true one; exits with 0 while
they differ.
"""

import sys

import numpy as np
import warp as wp


@wp.kernel
def sum_of_squares(count: int, x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    total = wp.float64(0.0)
    j = wp.int32(0)
    while j < count:
        total += x[j] * x[j]
        j += 1
    y[0] = total


with wp.ScopedDevice("cpu"):
    x = wp.array([2.0, 3.0, 5.0, 7.0, 1.0, 1.0], dtype=wp.float64, requires_grad=True)
    y = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(sum_of_squares, dim=1, inputs=[4, x], outputs=[y])
    tape.backward(grads={y: wp.ones(1, dtype=wp.float64)})
    observed = x.grad.numpy()

true = np.array([4.0, 6.0, 10.0, 14.0, 0.0, 0.0])
print(f"Warp {wp.__version__}: x.grad {observed.tolist()}, true {true.tolist()}")
sys.exit(1 if np.allclose(observed, true) else 0)
