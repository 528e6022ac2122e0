"""The kernels with tiles, in a Warp module of their own: they take long to compile, and one not on every release."""

# Kernels are translated by Warp, whose stubs type the Python scope only.

import warp as wp

ROWS, INNER, COLUMNS = 4, 2, 3
BLOCK_DIM = 32


@wp.kernel(module="unique")
def matmul_in_place(
    a_in: wp.array2d(dtype=wp.float16), b_in: wp.array2d(dtype=wp.float32), c_in_out: wp.array2d(dtype=wp.float64)
):
    a = wp.tile_load(a_in, shape=(ROWS, INNER))
    b = wp.tile_load(b_in, shape=(INNER, COLUMNS))
    c = wp.tile_load(c_in_out, shape=(ROWS, COLUMNS))
    wp.tile_matmul(a, b, c, alpha=0.5, beta=-1.3)
    wp.tile_store(c_in_out, c)


@wp.kernel
def double(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    tile = wp.tile_load(x, shape=4)
    wp.tile_store(y, tile * 2.0)
