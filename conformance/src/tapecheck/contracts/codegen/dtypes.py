"""Precision: generic kernels, literals, scalar arguments."""

import re

from tapecheck.contract import Evidence, check
from tapecheck.contracts.codegen import control_kernels as kernels
from tapecheck.contracts.codegen import literal_kernels
from tapecheck.contracts.codegen.idiom import Idiom, adjoint
from tapecheck.contracts.codegen.refusal import refusal
from tapecheck.faults.codegen import dtypes as faults
from tapecheck.subjects.warp import WarpSubject


@check(
    "codegen.generic-dtype",
    faults=[faults.generic_literal_is_lost],
    near_misses=[faults.generic_by_horner],
    cases={"half": ("float16", 2.0**-10), "float": ("float32", 2.0**-23), "double": ("float64", 2.0**-52)},
)
def generic(wp: WarpSubject, case: tuple[str, float]) -> Evidence:
    name, epsilon = case
    dtype = getattr(wp, name)
    idiom = Idiom(
        kernels.generic_polynomial,
        {"x": [0.5, 1.5]},
        output=(2,),
        dtypes={"x": dtype, "output": dtype},
    )
    expected = [3 * 0.25 + 0.5, 1.3 * (3 * 2.25 + 0.5)]
    return Evidence(observed=adjoint(wp, idiom), expected={"x.grad": expected}, tolerance=16 * epsilon)


LITERALS = (
    *("product", "quotient", "sum_with_integer", "augmented", "maximum", "where", "scaled_vector"),
    *("store", "atomic_addition", "argument"),
)


@check(
    "codegen.literal-dtype",
    case="value",
    faults=[faults.literals_are_rounded],
    near_misses=[faults.errors_say_more],
    isolated=True,
    seconds=180.0,
)
def literal_as_a_value(wp: WarpSubject) -> Evidence:
    def outcome(name: str) -> str:
        x, y = (wp.ones(1, dtype=wp.float64) for _ in "xy")
        return refusal(lambda: wp.launch(getattr(literal_kernels, name), dim=1, inputs=[x], outputs=[y]))

    clear = re.compile("float64.*float32|float32.*float64|int32|same scalar type|inputs with types")
    return Evidence(
        observed={name: outcome(name) for name in LITERALS},
        expected=dict.fromkeys(LITERALS, clear),
    )


@check(
    "codegen.literal-dtype",
    case="comparison",
    faults=[faults.compares_as_float],
    near_misses=[faults.errors_say_more],
    oracle=faults.compares_by_difference,
    isolated=True,
    seconds=180.0,
)
def literal_compared(wp: WarpSubject) -> Evidence:
    just_above = 0.1 + 5e-10  # but below 0.1 in single precision
    x, y = wp.full(1, just_above, dtype=wp.float64), wp.zeros(1, dtype=wp.float64)
    outcome = refusal(lambda: wp.launch(literal_kernels.comparison, dim=1, inputs=[x], outputs=[y]))
    return Evidence(
        observed={"launch": outcome, "0.1 + 5e-10 > 0.1": bool(y.numpy()[0] != 0.0) if outcome == "no error" else None},
        expected={"launch": re.compile("float64.*float32|float32.*float64"), "0.1 + 5e-10 > 0.1": None},
    )


@check(
    "codegen.scalar-argument-dtype",
    faults=[faults.rounds_scalars, faults.rounds_scalars_in_backward],
    near_misses=[faults.wraps_scalars],
    cases={"tenth": 0.1, "large": 1e300, "small": 1e-300},
)
def scalar_argument(wp: WarpSubject, factor: float) -> Evidence:
    x = wp.ones(2, dtype=wp.float64, requires_grad=True)
    y = wp.zeros(2, dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernels.scaled, dim=2, inputs=[factor, x], outputs=[y])
    tape.backward(grads={y: wp.ones(2, dtype=wp.float64)})
    return Evidence(observed={"y": y, "x.grad": x.grad}, expected={"y": [factor] * 2, "x.grad": [factor] * 2})
