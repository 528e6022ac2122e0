"""A sum accumulated in a loop of run-time length is zero where the same function uses it again in backward.

Plain Warp. Prints the gradient of x - (x·n) n with respect to n, and the true one; exits with 0 while they differ.
"""

import sys

import numpy as np
import warp as wp


@wp.func
def projected(count: int, x: wp.vec3d, normal: wp.vec3d):
    along = wp.float64(0.0)
    for axis in range(count):
        along += x[axis] * normal[axis]
    return x - along * normal


@wp.kernel
def project(
    count: int, x: wp.array(dtype=wp.vec3d), normal: wp.array(dtype=wp.vec3d), output: wp.array(dtype=wp.vec3d)
):
    i = wp.tid()
    output[i] = projected(count, x[i], normal[i])


x, normal, seed = np.array([[1.0, 2.0, -1.0], [0.3, -0.2, 0.7], [1.0, 1.3, 1.6]])
with wp.ScopedDevice("cpu"):
    arrays = [wp.array([value], dtype=wp.vec3d, requires_grad=True) for value in (x, normal)]
    output = wp.zeros(1, dtype=wp.vec3d, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(project, dim=1, inputs=[3, *arrays], outputs=[output])
    tape.backward(grads={output: wp.array([seed], dtype=wp.vec3d)})
    observed = arrays[1].grad.numpy()[0]

true = -(x @ normal) * seed - (seed @ normal) * x
print(f"Warp {wp.__version__}: n.grad {observed.round(6).tolist()}, true {true.round(6).tolist()}")
sys.exit(1 if np.allclose(observed, true) else 0)
