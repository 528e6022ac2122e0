"""Accumulated values: into the components of a vector, and in a loop before further use."""

from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.codegen import kernels
from tapecheck.contracts.codegen.idiom import Idiom, check_idiom, gradients
from tapecheck.faults.codegen import accumulation as faults
from tapecheck.subjects.warp import WarpSubject

VECTORS = [[1.0, 2.0, -1.0], [0.5, -3.0, 2.0]]
NORMALS = [[0.3, -0.2, 0.7], [1.1, 0.4, -0.5]]
MATRICES = [
    [[1.0, 0.5, -2.0], [3.0, 0.2, 1.0], [-1.0, 4.0, 0.7]],
    [[0.1, 2.0, 0.3], [-0.4, 5.0, 0.6], [0.7, -0.8, 9.0]],
]
VEC, MAT = kernels.Vectors.dtype, kernels.Matrices.dtype


def product(kernel: Any) -> Idiom:
    dtypes = {"m": MAT, "x": VEC, "output": VEC}
    return Idiom(kernel, {"m": MATRICES, "x": VECTORS}, (2,), fixed=(3,), dtypes=dtypes)


def projection(kernel: Any) -> Idiom:
    dtypes = {"x": VEC, "normal": VEC, "output": VEC}
    return Idiom(kernel, {"x": VECTORS, "normal": NORMALS}, (2,), fixed=(3,), dtypes=dtypes)


@check_idiom(
    "codegen.component-accumulation",
    faults=[faults.keeps_the_last_term],
    near_misses=[faults.multiplies_by_operator],
    cases={
        "constant-length": product(kernels.product_unrolled),
        "run-time-length": product(kernels.product_counted),
        "array-elements": product(kernels.product_of_elements),
    },
)
def component_accumulation(wp: WarpSubject, idiom: Idiom) -> Evidence:
    return gradients(wp, idiom)


@check_idiom(
    "codegen.accumulate-then-reuse",
    faults=[faults.loses_the_accumulated_factor],
    near_misses=[faults.projects_by_dot],
    oracle=faults.keeps_what_the_loop_accumulated,
    cases={
        "constant-length": projection(kernels.project_unrolled),
        "run-time-length": projection(kernels.project_counted),
    },
)
def accumulate_then_reuse(wp: WarpSubject, idiom: Idiom) -> Evidence:
    return gradients(wp, idiom)


@check_idiom(
    "codegen.accumulate-in-func",
    faults=[faults.loses_the_accumulated_factor],
    near_misses=[faults.projects_by_dot],
    cases={
        "constant-length": projection(kernels.project_by_func_unrolled),
        "run-time-length": projection(kernels.project_by_func_counted),
    },
)
def accumulate_in_func(wp: WarpSubject, idiom: Idiom) -> Evidence:
    return gradients(wp, idiom)
