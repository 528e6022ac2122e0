"""Two kernels write one array: whose input gets the gradient? The program of Warp's issue 1062, in our own words.

Since Warp 1.13 only the last write does. Before, both inputs received it, and the first line of gradients read 2.
"""

import warp as wp


@wp.kernel
def double(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 2.0 * x[i]


@wp.kernel
def triple(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 3.0 * x[i]


overwritten = wp.ones(4, dtype=float, requires_grad=True)
kept = wp.ones(4, dtype=float, requires_grad=True)
y = wp.zeros_like(kept)

with wp.Tape() as tape:
    wp.launch(double, dim=4, inputs=[overwritten, y])
    wp.launch(triple, dim=4, inputs=[kept, y])

y.grad = wp.ones_like(y)
tape.backward()

for array in (y, overwritten.grad, kept.grad, y.grad):
    print(array.numpy())
