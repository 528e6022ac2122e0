"""An output's gradient is zeroed in backward since Warp 1.13, unless the array was made with `retain_grad=True`."""

import warp as wp


@wp.kernel
def multiply(x: wp.array(dtype=float), y: wp.array(dtype=float), scale: float):
    i = wp.tid()
    y[i] = scale * x[i]


for retain in (True, False):
    x = wp.array([1.0, 2.0, 3.0], dtype=float, requires_grad=True)
    y = wp.zeros(3, dtype=float, requires_grad=True, retain_grad=retain)
    with wp.Tape() as tape:
        wp.launch(multiply, dim=3, inputs=[x, y, 2.0])
    tape.backward(grads={y: wp.ones(3, dtype=float)})
    print(x.grad, y.grad)
