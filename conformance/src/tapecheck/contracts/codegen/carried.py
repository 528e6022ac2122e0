"""Loops of run-time length: what backward does not restore."""

from typing import Any

import numpy as np

from tapecheck.contract import Evidence, check
from tapecheck.contracts.codegen import control_kernels as kernels
from tapecheck.contracts.codegen.idiom import Idiom, Trap, gradients, trapped
from tapecheck.faults.codegen import carried as faults
from tapecheck.faults.codegen.launching import forward_again_before_backward
from tapecheck.subjects.warp import WarpSubject

# Backward walks the loop from the end, with the carried value as it stood before the loop.
CARRIED = {
    "product": Trap(
        Idiom(kernels.carried_product, {"x": [2.0, 3.0, 7.0, 5.0]}, fixed=(4,)),
        wrong={"x.grad": [210.0 * 105.0, 105.0 * 35.0, 35.0 * 5.0, 5.0]},
        true={"x.grad": [105.0, 70.0, 30.0, 42.0]},
    ),
    "quotient": Trap(
        Idiom(kernels.carried_quotient, {"x": [2.0, 1.0, 2.0, 4.0]}, fixed=(4,)),
        wrong={"x.grad": [-1 / 256, -1 / 64, -1 / 64, -1 / 16]},
        true={"x.grad": [-1 / 32, -1 / 16, -1 / 32, -1 / 64]},
    ),
    "root": Trap(
        Idiom(kernels.carried_root, {"x": [0.5, 15.0]}, fixed=(2,)),
        wrong={"x.grad": [1 / 8 / (2 * 4.5**0.5), 1 / 8]},
        true={"x.grad": [1 / (4 * 1.5**0.5 * (1.5**0.5 + 15) ** 0.5), 1 / (2 * (1.5**0.5 + 15) ** 0.5)]},
    ),
    "maximum": Trap(
        Idiom(kernels.carried_maximum, {"x": [2.0, 3.0, 7.0, 5.0]}, fixed=(4,)),
        wrong={"x.grad": [0.0, 0.0, 0.0, 1.0]},
        true={"x.grad": [0.0, 0.0, 1.0, 0.0]},
    ),
    "previous-element": Trap(
        Idiom(kernels.carried_previous, {"x": [2.0, 3.0, 7.0, 5.0]}, fixed=(4,)),
        wrong={"x.grad": [2.0 + 3.0, 3.0 + 7.0, 7.0 + 5.0, 5.0]},
        true={"x.grad": [1.0 + 3.0, 2.0 + 7.0, 3.0 + 5.0, 7.0]},
    ),
}


@check(
    "codegen.loop-carried",
    faults=[faults.unrolls_carrying_loops],
    near_misses=[forward_again_before_backward],
    cases=CARRIED,
)
def loop_carried(wp: WarpSubject, trap: Trap) -> Evidence:
    return trapped(wp, trap)


@check(
    "codegen.static-range",
    case="at-the-limit",
    safe=True,
    faults=[faults.never_unrolls],
    near_misses=[faults.unrolls_in_two_halves],
)
def static_range_at_the_limit(wp: WarpSubject) -> Evidence:
    return gradients(wp, Idiom(kernels.product_of_16, {"x": [2.0, 3.0] + [1.0] * 14}))


@check(
    "codegen.static-range",
    case="past-the-limit",
    faults=[faults.unrolls_in_two_halves],
    near_misses=[faults.never_unrolls, forward_again_before_backward],
)
def static_range_past_the_limit(wp: WarpSubject) -> Evidence:
    return trapped(
        wp,
        Trap(
            Idiom(kernels.product_of_17, {"x": [2.0, 3.0] + [1.0] * 15}),
            wrong={"x.grad": [6.0 * 3.0, 3.0] + [1.0] * 15},
            true={"x.grad": [3.0, 2.0] + [6.0] * 15},
        ),
    )


@check(
    "codegen.static-range",
    case="past-the-limit-sum",
    safe=True,
    faults=[faults.sums_one_less],
    near_misses=[faults.sums_in_two_halves],
)
def static_range_sum(wp: WarpSubject) -> Evidence:
    return gradients(wp, Idiom(kernels.sum_of_17, {"x": [2.0, 3.0] + [1.0] * 15}))


def three_points(wp: WarpSubject) -> tuple[Any, Any]:
    """Hash grid and points; the outer two are too far apart to be neighbours, but a query offers them as candidates."""
    points = wp.array(np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [1.2, 0.0, 0.0]], dtype=np.float32), dtype=wp.vec3)
    grid = wp.HashGrid(8, 8, 8)
    grid.build(points, 1.0)
    return grid, points


def over_neighbours(kernel: Any, grid: Any, points: Any) -> Idiom:
    return Idiom(kernel, {"x": [2.0, 3.0, 5.0]}, output=(3,), fixed=(grid.id, points))


@check(
    "codegen.hash-grid-loop",
    case="linear",
    safe=True,
    faults=[faults.takes_every_candidate],
    near_misses=[faults.tries_every_point],
)
def hash_grid_linear(wp: WarpSubject) -> Evidence:
    grid, points = three_points(wp)
    return gradients(wp, over_neighbours(kernels.hash_grid_sum, grid, points))


@check(
    "codegen.hash-grid-loop",
    case="non-linear",
    faults=[faults.squares_in_the_caller],
    near_misses=[forward_again_before_backward],
)
def hash_grid_nonlinear(wp: WarpSubject) -> Evidence:
    grid, points = three_points(wp)
    idiom = over_neighbours(kernels.hash_grid_sum_squared, grid, points)
    return trapped(wp, Trap(idiom, wrong={"x.grad": [0.0] * 3}, true={"x.grad": [499.2, 1401.6, 2076.0]}))


@check(
    "codegen.hash-grid-loop",
    case="non-linear-in-caller",
    safe=True,
    faults=[faults.squares_in_the_loop_kernel],
    near_misses=[faults.tries_every_point],
)
def hash_grid_in_func(wp: WarpSubject) -> Evidence:
    grid, points = three_points(wp)
    return gradients(wp, over_neighbours(kernels.hash_grid_func_squared, grid, points), tolerance=1e-5)
