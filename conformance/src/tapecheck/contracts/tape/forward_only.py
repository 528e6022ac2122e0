"""A kernel whose whole Warp module is built without its backward pass."""

import warp as wp

wp.set_module_options({"enable_backward": False})


@wp.kernel
def square(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]
