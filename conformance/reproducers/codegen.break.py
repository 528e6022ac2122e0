"""Backward walks a loop from its end, so that a `break` ends it at the iterations that never ran.

Plain Warp. Prints the gradient of the sum of the squares of the first elements, and the true one; exits with 0 while
they differ.
"""

import sys

import numpy as np
import warp as wp


@wp.kernel
def sum_of_squares(stop: int, x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    total = wp.float64(0.0)
    for j in range(x.shape[0]):
        if j == stop:
            break
        total += x[j] * x[j]
    y[0] = total


with wp.ScopedDevice("cpu"):
    x = wp.array([2.0, 3.0, 5.0, 7.0, 1.0, 1.0], dtype=wp.float64, requires_grad=True)
    y = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(sum_of_squares, dim=1, inputs=[2, x], outputs=[y])
    tape.backward(grads={y: wp.ones(1, dtype=wp.float64)})
    observed = x.grad.numpy()

true = np.array([4.0, 6.0, 0.0, 0.0, 0.0, 0.0])
print(f"Warp {wp.__version__}: x.grad {observed.tolist()}, true {true.tolist()}")
sys.exit(1 if np.allclose(observed, true) else 0)
