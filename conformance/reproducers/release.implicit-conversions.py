"""`warp.launch` takes an integer beyond the range of its parameter and keeps the low bits.

Prints what the kernel got; exits with 0 while every value is wrapped, with 1 once one is refused.
"""

import sys

import numpy as np
import warp as wp


@wp.kernel
def store(x: wp.int32, y: wp.array(dtype=wp.int32)):
    y[0] = x


with wp.ScopedDevice("cpu"):
    y = wp.zeros(1, dtype=wp.int32)
    received = []
    for given in (2**40 + 1, np.int64(2**40 + 1)):
        wp.launch(store, dim=1, inputs=[given], outputs=[y])
        received.append(int(y.numpy()[0]))
print(f"Warp {wp.__version__}: given 2**40 + 1 as a Python and as a NumPy integer, the kernel got {received}")
sys.exit(0 if received == [1, 1] else 1)
