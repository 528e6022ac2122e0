"""Loops of run-time length: backward runs them again in reverse, and restores no value that they left behind.

A local that such a loop accumulates is at its start value when the adjoint of what follows the loop is computed. The
wrong gradients that are expected here follow from that alone.
"""

from typing import Any

import numpy as np

from tapecheck.contract import Evidence
from tapecheck.contracts.codegen import kernels
from tapecheck.contracts.codegen.idiom import Idiom, Trap, beside_the_truth, check_idiom, gradients, trapped
from tapecheck.faults.codegen import loops as faults
from tapecheck.subjects.warp import WarpSubject

COUNT = 4
X = [2.0, 3.0, 4.0, 5.0]
W = [0.5, -1.5, 2.0, 0.25]
START, NEIGHBOUR = (np.array(values, dtype=np.int32) for values in ([0, 3, 3, 5], [1, 2, 3, 0, 3]))


def counted(kernel: Any, **inputs: list[float]) -> Idiom:
    """The idiom of one thread that loops over all elements."""
    return Idiom(kernel, inputs, fixed=(COUNT,))


def judged(wp: WarpSubject, form: Trap | Idiom) -> Evidence:
    """A trap gives its wrong gradients, a safe form the true ones."""
    return gradients(wp, form) if isinstance(form, Idiom) else trapped(wp, form)


@check_idiom(
    "codegen.dynamic-loop-sum",
    faults=[faults.skips_the_last_iteration],
    near_misses=[faults.adds_atomically],
    cases={
        "counted": counted(kernels.sum_counted, x=X, w=W),
        "nested": counted(kernels.sum_nested, x=X, w=W),
        "neighbours": Idiom(kernels.sum_of_neighbours, {"x": X, "w": W}, (3,), fixed=(START, NEIGHBOUR)),
    },
)
def dynamic_loop_sum(wp: WarpSubject, idiom: Idiom) -> Evidence:
    return gradients(wp, idiom)


@check_idiom(
    "codegen.dynamic-loop-product",
    faults=[faults.restores_the_product],
    near_misses=[faults.multiplies_from_the_left],
)
def dynamic_loop_product(wp: WarpSubject) -> Evidence:
    """Reverse starts from a product of 1 and multiplies on: element k gets the later elements' product times its own.

    So x.grad[k] is (x[k+1]⋯x[n-1]) · (x[k]⋯x[n-1]).
    """
    wrong, true = [60.0 * 120.0, 20.0 * 60.0, 5.0 * 20.0, 1.0 * 5.0], [60.0, 40.0, 30.0, 24.0]
    idiom = counted(kernels.product_of_elements_counted, x=X)
    return beside_the_truth(wp, idiom, {"x.grad": wrong}, {"x.grad": true})


@check_idiom(
    "codegen.loop-local-reuse",
    faults=[faults.exchanges_local_and_returned],
    near_misses=[faults.adds_the_total_on_the_left],
    cases={
        "idiom": Trap(
            counted(kernels.local_in_later_loop, x=X, w=W),
            wrong={"x.grad": [1.25] * 4, "w.grad": [0.0] * 4},
            true={"x.grad": [1.25] * 4, "w.grad": [14.0] * 4},
        ),
        "safe": counted(kernels.local_of_func_in_later_loop, x=X, w=W),
    },
)
def loop_local_reuse(wp: WarpSubject, form: Trap | Idiom) -> Evidence:
    return judged(wp, form)


MIXED = [2.0, -3.0, 4.0, 5.0]
"""Three positive elements with the sum 11, and one negative."""


@check_idiom(
    "codegen.nonlinear-after-loop",
    faults=[faults.exchanges_summed_and_returned],
    near_misses=[faults.adds_the_sums_on_the_left],
    cases={
        "square": Trap(
            counted(kernels.square_of_sum, x=MIXED), wrong={"x.grad": [0.0] * 4}, true={"x.grad": [16.0] * 4}
        ),
        "square-safe": counted(kernels.square_of_returned_sum, x=MIXED),
        "quotient": Trap(
            counted(kernels.quotient_of_sums, x=MIXED),
            wrong={"x.grad": [np.nan, np.inf, np.nan, np.nan]},
            true={"x.grad": [1 / 11 - 8 / 121, 1 / 11, 1 / 11 - 8 / 121, 1 / 11 - 8 / 121]},
        ),
        "quotient-safe": counted(kernels.quotient_of_returned_sums, x=MIXED),
        "count": Trap(
            counted(kernels.mean_of_counted, x=MIXED),
            wrong={"x.grad": [1.0, 0.0, 1.0, 1.0]},
            true={"x.grad": [1 / 3, 0.0, 1 / 3, 1 / 3]},
        ),
        "count-safe": counted(kernels.mean_of_returned_count, x=MIXED),
        "branch": Trap(
            counted(kernels.branch_on_sum, x=MIXED), wrong={"x.grad": [-1.0] * 4}, true={"x.grad": [3.0] * 4}
        ),
        "branch-safe": counted(kernels.branch_on_returned_sum, x=MIXED),
    },
)
def nonlinear_after_loop(wp: WarpSubject, form: Trap | Idiom) -> Evidence:
    return judged(wp, form)


@check_idiom(
    "codegen.second-loop-reuse",
    faults=[faults.exchanges_second_loop_and_funcs],
    near_misses=[faults.adds_the_spread_on_the_left],
    cases={
        "idiom": Trap(
            counted(kernels.result_in_second_loop, x=X),
            wrong={"x.grad": [2 * x - 2 * 14.0 for x in X]},
            true={"x.grad": [2 * x + 4 * 14.0 for x in X]},
        ),
        "safe": counted(kernels.loops_in_funcs, x=X),
    },
)
def second_loop_reuse(wp: WarpSubject, form: Trap | Idiom) -> Evidence:
    """With T the sum of n = 4 elements the truth is 2x − 4T + 2nT; where T is taken for zero it is 2x − 2T."""
    return judged(wp, form)
