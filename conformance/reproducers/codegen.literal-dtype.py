"""A double compared with a Python literal is compared with the literal rounded to single precision.

Plain Warp. Prints whether 0.1 + 5e-10 is greater than 0.1 in a kernel; exits with 0 while it is not.
"""

import sys

import warp as wp


@wp.kernel
def compare(x: wp.array(dtype=wp.float64), greater: wp.array(dtype=int)):
    if x[0] > 0.1:
        greater[0] = 1


with wp.ScopedDevice("cpu"):
    x, greater = wp.array([0.1 + 5e-10], dtype=wp.float64), wp.zeros(1, dtype=int)
    wp.launch(compare, dim=1, inputs=[x], outputs=[greater])
    observed = bool(greater.numpy()[0])

print(f"Warp {wp.__version__}: 0.1 + 5e-10 > 0.1 is {observed}")
sys.exit(1 if observed else 0)
