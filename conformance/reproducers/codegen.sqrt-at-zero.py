"""The gradient through `wp.sqrt` is infinite at zero, and NaN once it is multiplied by zero.

Plain Warp. Prints the gradients of sqrt(x) and of sqrt(x²) at x = 0; exits with 0 while neither is finite.
"""

import sys

import numpy as np
import warp as wp


@wp.kernel
def root(x: wp.array(dtype=wp.float64), output: wp.array(dtype=wp.float64)):
    i = wp.tid()
    output[i] = wp.sqrt(x[i])


@wp.kernel
def root_of_square(x: wp.array(dtype=wp.float64), output: wp.array(dtype=wp.float64)):
    i = wp.tid()
    output[i] = wp.sqrt(x[i] * x[i])


def gradient_at_zero(kernel: wp.Kernel) -> float:
    x, output = (wp.zeros(1, dtype=wp.float64, requires_grad=True) for _ in range(2))
    with wp.Tape() as tape:
        wp.launch(kernel, dim=1, inputs=[x], outputs=[output])
    tape.backward(grads={output: wp.ones(1, dtype=wp.float64)})
    return float(x.grad.numpy()[0])


with wp.ScopedDevice("cpu"):
    gradients = [gradient_at_zero(kernel) for kernel in (root, root_of_square)]
print(f"Warp {wp.__version__}: of sqrt(x) {gradients[0]}, of sqrt(x * x) {gradients[1]}")
sys.exit(1 if np.isfinite(gradients).any() else 0)
