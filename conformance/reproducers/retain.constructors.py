"""`warp.from_torch(..., return_ctype=True, retain_grad=True)` accepts `retain_grad` and forgets it.

Prints both gradients; exits with 0 while the descriptor's gradient is lost, with 1 once it is kept.
"""

import sys

import torch
import warp as wp


@wp.kernel
def double(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 2.0 * x[i]


def gradient_after_backward(*, return_ctype: bool) -> list[float]:
    x = wp.ones(4, dtype=float, requires_grad=True)
    tensor = torch.zeros(4, requires_grad=True)
    y = wp.from_torch(tensor, requires_grad=True, retain_grad=True, return_ctype=return_ctype)
    tensor.grad.fill_(1.0)
    with wp.Tape() as tape:
        wp.launch(double, dim=4, inputs=[x], outputs=[y])
    tape.backward()
    return tensor.grad.tolist()


with wp.ScopedDevice("cpu"):
    array, descriptor = (gradient_after_backward(return_ctype=flag) for flag in (False, True))
print(f"Warp {wp.__version__}: gradient kept by an array {array}, by a descriptor {descriptor}")
sys.exit(0 if array == [1.0] * 4 and descriptor == [0.0] * 4 else 1)
