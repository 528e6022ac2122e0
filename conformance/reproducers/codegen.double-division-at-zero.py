"""Dividing twice by a regularised distance has a NaN gradient at zero where the distance is a plain root.

Plain Warp. Prints the gradient of the sum of x / (r + ε) / (r + ε) at x = 0, for r = sqrt(x·x) and for r = length(x),
whose true value is 1 / ε² = 64 in both; exits with 0 while the first is NaN and the second right.
"""

import sys

import numpy as np
import warp as wp


@wp.kernel
def by_root(epsilon: wp.float64, x: wp.array(dtype=wp.vec3d), output: wp.array(dtype=wp.vec3d)):
    i = wp.tid()
    r = wp.sqrt(wp.dot(x[i], x[i]))
    output[i] = x[i] / (r + epsilon) / (r + epsilon)


@wp.kernel
def by_length(epsilon: wp.float64, x: wp.array(dtype=wp.vec3d), output: wp.array(dtype=wp.vec3d)):
    i = wp.tid()
    r = wp.length(x[i])
    output[i] = x[i] / (r + epsilon) / (r + epsilon)


def gradient_at_zero(kernel: wp.Kernel) -> np.ndarray:
    x, output = (wp.zeros(1, dtype=wp.vec3d, requires_grad=True) for _ in range(2))
    with wp.Tape() as tape:
        wp.launch(kernel, dim=1, inputs=[0.125, x], outputs=[output])
    tape.backward(grads={output: wp.array([[1.0, 1.0, 1.0]], dtype=wp.vec3d)})
    return x.grad.numpy()[0]


with wp.ScopedDevice("cpu"):
    root, length = (gradient_at_zero(kernel) for kernel in (by_root, by_length))
print(f"Warp {wp.__version__}: by the root {root.tolist()}, by the length {length.tolist()}")
sys.exit(0 if np.isnan(root).all() and (length == 64.0).all() else 1)
