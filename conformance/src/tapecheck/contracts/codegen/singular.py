"""Points where a formula has no derivative, or where it matters how the derivative is taken."""

import math
from typing import Any

from tapecheck.contract import Evidence, plain
from tapecheck.contracts.codegen import kernels
from tapecheck.contracts.codegen.idiom import Idiom, adjoint, check_idiom
from tapecheck.faults.codegen import singular as faults
from tapecheck.subjects.warp import WarpSubject

VEC = kernels.Vectors.dtype
AT_ORIGIN = {"x": [[0.0, 0.0, 0.0]]}
EPSILON = 0.125


def any_finite(observed: Any) -> Any:
    """What is expected where every finite number will do: the numbers that are finite, and words for the others."""
    if isinstance(observed, list):
        return [any_finite(item) for item in observed]
    return observed if isinstance(observed, (int, float)) and math.isfinite(observed) else "a finite number"


def finite_gradients(wp: WarpSubject, idiom: Idiom) -> Evidence:
    observed = plain(adjoint(wp, idiom))
    return Evidence(observed=observed, expected={name: any_finite(values) for name, values in observed.items()})


@check_idiom(
    "codegen.double-division-at-zero",
    faults=[faults.divides_by_a_bare_root, faults.divides_once],
    near_misses=[faults.divides_by_the_square],
    oracle=faults.root_without_a_pole,
    cases={
        "length": kernels.divide_twice_by_length,
        "root": kernels.divide_twice_by_root,
        "regularised-root": kernels.divide_twice_by_regularised_root,
    },
)
def double_division_at_zero(wp: WarpSubject, kernel: Any) -> Evidence:
    """At the origin the derivative of x / (|x| + ε)², and of x / (x·x + ε²), is that of x / ε²."""
    idiom = Idiom(kernel, AT_ORIGIN, fixed=(EPSILON,), dtypes={"x": VEC, "output": VEC})
    expected = [[component / EPSILON**2 for component in (1.0, 1.3, 1.6)]]
    return Evidence(observed=adjoint(wp, idiom), expected={"x.grad": expected})


@check_idiom(
    "codegen.sqrt-at-zero",
    faults=[faults.takes_a_bare_root],
    near_misses=[faults.root_with_a_floor],
    oracle=faults.root_without_a_pole,
    cases={
        "scalar": Idiom(kernels.root, {"x": [0.0]}),
        "squared-length": Idiom(kernels.root_of_square, AT_ORIGIN, dtypes={"x": VEC}),
    },
)
def sqrt_at_zero(wp: WarpSubject, idiom: Idiom) -> Evidence:
    return finite_gradients(wp, idiom)


@check_idiom(
    "codegen.normalize-zero",
    faults=[faults.takes_a_bare_root],
    near_misses=[faults.constant_at_the_origin],
)
def normalize_zero(wp: WarpSubject) -> Evidence:
    return finite_gradients(wp, Idiom(kernels.unit_vector, AT_ORIGIN, dtypes={"x": VEC, "output": VEC}))


@check_idiom(
    "codegen.length-zero",
    faults=[faults.takes_a_bare_root],
    near_misses=[faults.constant_at_the_origin],
)
def length_zero(wp: WarpSubject) -> Evidence:
    return finite_gradients(wp, Idiom(kernels.length, AT_ORIGIN, dtypes={"x": VEC}))


@check_idiom(
    "codegen.min-max-ties",
    faults=[faults.halves_at_a_tie],
    near_misses=[faults.chooses_at_half_scale],
    cases={"min": kernels.smaller, "max": kernels.larger},
)
def min_max_ties(wp: WarpSubject, kernel: Any) -> Evidence:
    return Evidence(observed=adjoint(wp, Idiom(kernel, {"a": [2.0], "b": [2.0]})))


@check_idiom(
    "codegen.clamp-edge",
    faults=[faults.halves_at_a_tie],
    near_misses=[faults.chooses_at_half_scale],
    cases={"lower-bound": 1.0, "upper-bound": 3.0},
)
def clamp_edge(wp: WarpSubject, x: float) -> Evidence:
    return Evidence(observed=adjoint(wp, Idiom(kernels.clamped, {"x": [x], "low": [1.0], "high": [3.0]})))
