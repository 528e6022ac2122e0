"""The kernels of the family, in one Warp module: a process compiles it once."""

import warp as wp


@wp.kernel
def scale(x: wp.array(dtype=float), factor: float, y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = factor * x[i]


@wp.kernel
def square(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]


@wp.kernel
def add(a: wp.array(dtype=float), b: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a[i] + b[i]


@wp.kernel
def total(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(y, 0, x[i])


# Visualization and hazards.


@wp.struct
class Bundle:
    x: wp.array(dtype=float)
    factor: float


@wp.kernel
def scale_bundle(bundle: Bundle, y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = bundle.factor * bundle.x[i]


@wp.kernel
def scale_long_name(a_longer_name: wp.array(dtype=float), factor: float, y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = factor * a_longer_name[i]


@wp.kernel(enable_backward=False)
def square_forward_only(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]


@wp.struct
class Factors:
    a: wp.array(dtype=float)
    b: wp.array(dtype=float)
    weight: float


@wp.struct
class Branch:
    factors: Factors
    c: wp.array(dtype=float)


@wp.struct
class Tree:
    branch: Branch
    d: wp.array(dtype=float)


@wp.kernel
def multiply_factors(factors: Factors, y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = factors.weight * factors.a[i] * factors.b[i]


@wp.kernel
def multiply_tree(tree: Tree, y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = tree.branch.factors.a[i] * tree.branch.factors.b[i] * tree.branch.c[i] * tree.d[i]
