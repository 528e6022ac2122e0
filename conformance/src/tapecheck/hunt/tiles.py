"""Tiles: loads, stores, sums, products, loops over tiles."""

# mypy: ignore-errors

import warp as wp

from tapecheck.hunt.trial import trial

X = wp.array(dtype=wp.float64)
X2 = wp.array2d(dtype=wp.float64)
BLOCK = 32


@trial("a tile loaded, scaled, stored", output=(8,), tile=BLOCK, x=(8,))
def tile_scaled(x: X, y: X):
    t = wp.tile_load(x, shape=8)
    wp.tile_store(y, t * wp.float64(2.0) + t)


@trial("the sum of a tile", tile=BLOCK, output=(1,), x=(8,))
def tile_total(x: X, y: X):
    t = wp.tile_load(x, shape=8)
    wp.tile_store(y, wp.tile_sum(t))


@wp.func
def bent(a: wp.float64):
    return a * a * wp.sin(a)


@trial("a function mapped over a tile", output=(8,), tile=BLOCK, x=(8,))
def tile_mapped(x: X, y: X):
    t = wp.tile_load(x, shape=8)
    wp.tile_store(y, wp.tile_map(bent, t))


@trial("two tiles mapped together", output=(8,), tile=BLOCK, x=(8,), w=(8,))
def tile_pairwise(x: X, w: X, y: X):
    a = wp.tile_load(x, shape=8)
    b = wp.tile_load(w, shape=8)
    wp.tile_store(y, wp.tile_map(wp.mul, a, b) + a)


@trial("sums of rows in a loop over tiles", output=(4,), dim=4, tile=BLOCK, x=(4, 8))
def tile_loop(x: X2, y: X):
    i = wp.tid()
    s = wp.tile_zeros(shape=1, dtype=wp.float64)
    for k in range(2):
        t = wp.tile_load(x[i], shape=4, offset=k * 4)
        s += wp.tile_sum(t)
    wp.tile_store(y, s, offset=i)


@trial("sums of rows in a loop of run-time length over tiles", output=(4,), dim=4, fixed=(2,), tile=BLOCK, x=(4, 8))
def tile_loop_dynamic(n: int, x: X2, y: X):
    i = wp.tid()
    s = wp.tile_zeros(shape=1, dtype=wp.float64)
    for k in range(n):
        t = wp.tile_load(x[i], shape=4, offset=k * 4)
        s += wp.tile_sum(wp.tile_map(bent, t))
    wp.tile_store(y, s, offset=i)


@trial("a sum over tiles, squared after the loop", output=(4,), dim=4, fixed=(2,), tile=BLOCK, x=(4, 8))
def tile_loop_squared(n: int, x: X2, y: X):
    i = wp.tid()
    s = wp.tile_zeros(shape=1, dtype=wp.float64)
    for k in range(n):
        t = wp.tile_load(x[i], shape=4, offset=k * 4)
        s += wp.tile_sum(t)
    wp.tile_store(y, wp.tile_map(bent, s), offset=i)


@trial("a product of matrices in tiles", output=(4, 4), dim=1, tile=BLOCK, x=(4, 4), w=(4, 4))
def tile_product(x: X2, w: X2, y: X2):
    a = wp.tile_load(x, shape=(4, 4))
    b = wp.tile_load(w, shape=(4, 4))
    c = wp.tile_zeros(shape=(4, 4), dtype=wp.float64)
    wp.tile_matmul(a, b, c)
    wp.tile_store(y, c)


@trial(
    "a product of matrices added up in a loop of run-time length",
    output=(4, 4),
    dim=1,
    fixed=(2,),
    tile=BLOCK,
    x=(4, 8),
    w=(8, 4),
)
def tile_product_loop(n: int, x: X2, w: X2, y: X2):
    c = wp.tile_zeros(shape=(4, 4), dtype=wp.float64)
    for k in range(n):
        a = wp.tile_load(x, shape=(4, 4), offset=(0, k * 4))
        b = wp.tile_load(w, shape=(4, 4), offset=(k * 4, 0))
        wp.tile_matmul(a, b, c)
    wp.tile_store(y, c)


@trial("a tile added to memory", output=(8,), dim=2, tile=BLOCK, x=(16,))
def tile_atomic(x: X, y: X):
    i = wp.tid()
    t = wp.tile_load(x, shape=8, offset=i * 8)
    wp.tile_atomic_add(y, wp.tile_map(bent, t))


@trial("a tile's element extracted", output=(1,), tile=BLOCK, x=(8,))
def tile_extracted(x: X, y: X):
    t = wp.tile_load(x, shape=8)
    s = t[2] * t[3]
    wp.tile_store(y, wp.tile_sum(t) * s)


@trial("a transposed and broadcast tile", output=(4, 4), tile=BLOCK, x=(4, 4), w=(4,))
def tile_shapes(x: X2, w: X, y: X2):
    a = wp.tile_transpose(wp.tile_load(x, shape=(4, 4)))
    b = wp.tile_broadcast(wp.tile_load(w, shape=4), shape=(4, 4))
    wp.tile_store(y, a + b)


@trial("the least of a tile", output=(1,), tile=BLOCK, x=(8,))
def tile_least(x: X, y: X):
    t = wp.tile_load(x, shape=8)
    wp.tile_store(y, wp.tile_min(t))


@trial("a reduction by a product", output=(1,), tile=BLOCK, x=(8,))
def tile_reduced(x: X, y: X):
    t = wp.tile_load(x, shape=8)
    wp.tile_store(y, wp.tile_reduce(wp.mul, t))
