"""Choices between array reads: the gradient goes where the value came from."""

import numpy as np

from tapecheck.contract import Evidence
from tapecheck.contracts.codegen import kernels
from tapecheck.contracts.codegen.idiom import Idiom, check_idiom, gradients
from tapecheck.faults.codegen import branches as faults
from tapecheck.subjects.warp import WarpSubject

FLAG = np.array([1, 0, 1], dtype=np.int32)
ELEMENTS = {"x": [2.0, 3.0, 1.0, 5.0]}
ARRAYS = {"a": [1.0, 2.0, 3.0], "b": [2.0, 4.0, 5.0]}
QUOTIENT = {"m": [1.0, 2.0, 3.0], "r": [2.0, 4.0, 5.0], "vol": [7.0, 8.0, 9.0]}


@check_idiom(
    "codegen.ternary-same-array",
    faults=[faults.first_alternative_always],
    near_misses=[faults.written_as_if],
    cases={
        "flag": Idiom(kernels.ternary_of_one_array, ELEMENTS, (3,), (FLAG,)),
        "own-values": Idiom(kernels.ternary_on_own_values, ELEMENTS, (3,)),
    },
)
def ternary_same_array(wp: WarpSubject, idiom: Idiom) -> Evidence:
    return gradients(wp, idiom)


@check_idiom(
    "codegen.ternary-two-arrays",
    faults=[faults.first_alternative_always],
    near_misses=[faults.written_as_if],
    cases={
        "elements": Idiom(kernels.ternary_of_two_arrays, ARRAYS, (3,), (FLAG,)),
        "quotient-or-element": Idiom(kernels.ternary_of_quotient, QUOTIENT, (3,), (FLAG,)),
    },
)
def ternary_two_arrays(wp: WarpSubject, idiom: Idiom) -> Evidence:
    return gradients(wp, idiom)


@check_idiom(
    "codegen.if-else",
    faults=[faults.first_alternative_always],
    near_misses=[faults.written_as_weights],
    cases={
        "one-array": Idiom(kernels.if_of_one_array, ELEMENTS, (3,), (FLAG,)),
        "two-arrays": Idiom(kernels.if_of_two_arrays, ARRAYS, (3,), (FLAG,)),
        "quotient-or-element": Idiom(kernels.if_of_quotient, QUOTIENT, (3,), (FLAG,)),
    },
)
def if_else(wp: WarpSubject, idiom: Idiom) -> Evidence:
    return gradients(wp, idiom)
