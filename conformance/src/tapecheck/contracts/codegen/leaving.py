"""Loops and kernels that are left early."""

import numpy as np

from tapecheck.contract import Evidence, check
from tapecheck.contracts.codegen import control_kernels as kernels
from tapecheck.contracts.codegen.idiom import Idiom, gradients
from tapecheck.faults.codegen import leaving as faults
from tapecheck.subjects.warp import WarpSubject

FLAGGED = np.array([0, 0, 1, 0], dtype=np.int32)
X = {"x": [2.0, 3.0, 5.0, 7.0]}


@check(
    "codegen.break",
    faults=[faults.runs_on_after_break],
    near_misses=[faults.breaks_by_a_shorter_loop],
    oracle=faults.break_ends_the_loop,
    cases={
        "run-time-length": kernels.stopped_by_break,
        "constant-length": kernels.stopped_by_break_in_constant_range,
    },
)
def left_by_break(wp: WarpSubject, kernel: object) -> Evidence:
    return gradients(wp, Idiom(kernel, X, fixed=(4, FLAGGED)))


@check(
    "codegen.while",
    faults=[faults.counts_one_less],
    near_misses=[faults.counts_with_a_step],
    oracle=faults.counts_by_range,
)
def counted_by_while(wp: WarpSubject) -> Evidence:
    spare = [1.0, 1.0]  # room for gradients that go to the wrong element
    return gradients(wp, Idiom(kernels.counted_by_while, {"x": X["x"] + spare}, fixed=(4,)))


@check(
    "codegen.return-in-loop",
    faults=[faults.runs_on_after_return],
    near_misses=[faults.returns_by_a_shorter_loop],
    oracle=faults.return_ends_the_loop,
)
def returned_from_loop(wp: WarpSubject) -> Evidence:
    return gradients(wp, Idiom(kernels.returned_from_loop, X, fixed=(4, FLAGGED)))


@check(
    "codegen.early-continue",
    case="continue",
    faults=[faults.skips_nothing],
    near_misses=[faults.skips_by_if],
)
def skipped_by_continue(wp: WarpSubject) -> Evidence:
    return gradients(wp, Idiom(kernels.skipping_by_continue, X, fixed=(4, FLAGGED)))


@check(
    "codegen.early-continue",
    case="return",
    faults=[faults.skips_nothing],
    near_misses=[faults.skips_by_if],
)
def returned_early(wp: WarpSubject) -> Evidence:
    return gradients(wp, Idiom(kernels.returning_early, X, output=(4,), fixed=(FLAGGED,)))
