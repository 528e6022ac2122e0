"""What a launch makes of its arguments, and what a kernel makes of a constant that changed."""

import re
from typing import Any, NamedTuple

import numpy as np

from tapecheck.contract import Evidence, check, outcome_of
from tapecheck.contracts.release import kernels
from tapecheck.faults.release import language as faults
from tapecheck.subjects.warp import WarpSubject

CONSTANTS = ("marked_constant", "plain_constant", "closed_over")


@check(
    "release.constants",
    isolated=True,
    seconds=300,
    faults=[faults.launch_looks_again],
    near_misses=[faults.launch_with_new_lists],
)
def constants(wp: WarpSubject) -> Evidence:
    def launched() -> dict[str, float]:
        y = wp.zeros(3, dtype=float)
        wp.launch(kernels.constants, dim=1, outputs=[y])
        names = ("wp.constant", "plain number", "wp.static")
        return dict(zip(names, y.numpy().tolist(), strict=True))

    built = launched()
    for name in CONSTANTS:
        setattr(kernels, name, 3.0)
    return Evidence({"built with 2": built, "launched after a change to 3": launched()})


class Argument(NamedTuple):
    """A value given for a kernel parameter of a type, and what it may be converted to."""

    parameter: str
    value: Any
    exact: Any = None

    def patterns(self) -> re.Pattern[str]:
        """Converted exactly where it can be, or refused with an error that names the parameter."""
        refused = r"param(eter)? x\b|argument 'x'"
        return re.compile(refused if self.exact is None else rf"^{re.escape(f'value {self.exact}')}$|{refused}")


TENTH = np.float32(0.1).item()
ARGUMENTS = {
    "float-for-double": Argument("float64", 0.1, 0.1),
    "integer-for-double": Argument("float64", 3, 3.0),
    "float-for-half": Argument("float16", 0.5, 0.5),
    "float-for-integer": Argument("int32", 3.7),
    "integer-for-boolean": Argument("bool", 1, True),
    "integer-too-large": Argument("int32", 2**40 + 1),
    "integer-too-large-for-64-bits": Argument("int64", 2**70),
    "negative-for-unsigned": Argument("uint32", -1),
    "numpy-double-for-double": Argument("float64", np.float64(0.1), 0.1),
    "numpy-float-for-double": Argument("float64", np.float32(0.1), TENTH),
    "numpy-float-for-float": Argument("float32", np.float32(0.1), TENTH),
    "numpy-integer": Argument("int32", np.int64(5), 5),
    "numpy-integer-too-large": Argument("int32", np.int64(2**40 + 1)),
    "numpy-float-for-integer": Argument("int32", np.float64(3.7)),
    "numpy-boolean": Argument("bool", np.bool_(True), True),
    "scalar-for-vector": Argument("vec3", 1.5, [1.5] * 3),
    "integer-for-vector": Argument("vec3", 2, [2.0] * 3),
    "numpy-scalar-for-vector": Argument("vec3", np.float32(1.5), [1.5] * 3),
    "scalar-for-double-vector": Argument("vec3d", 0.1, [0.1] * 3),
    "scalar-for-matrix": Argument("mat22", 1.5, [[1.5, 1.5], [1.5, 1.5]]),
    "tuple-for-vector": Argument("vec3", (1.0, 2.0, 3.0), [1.0, 2.0, 3.0]),
    "short-tuple-for-vector": Argument("vec3", (1.0, 2.0)),
    "numpy-array-for-double-vector": Argument("vec3d", np.array([0.1, 2.0, 3.0]), [0.1, 2.0, 3.0]),
}
WRAPPING = ("integer-too-large", "integer-too-large-for-64-bits", "negative-for-unsigned", "numpy-integer-too-large")


def stored(wp: WarpSubject, argument: Argument) -> Evidence:
    dtype = getattr(wp, argument.parameter)
    y = wp.zeros(1, dtype=dtype)
    kernel = kernels.overloads[argument.parameter]
    outcome = outcome_of(lambda: wp.launch(kernel, dim=1, inputs=[argument.value], outputs=[y]))
    seen = f"value {y.numpy()[0].tolist()}" if outcome == "no error" else outcome
    return Evidence({"parameter": seen}, {"parameter": argument.patterns()})


@check(
    "release.implicit-conversions",
    cases={name: argument for name, argument in ARGUMENTS.items() if name not in WRAPPING},
    faults=[faults.launch_takes_zero, faults.launch_fails_without_a_word],
    near_misses=[faults.launch_with_new_lists],
)
def converted(wp: WarpSubject, argument: Argument) -> Evidence:
    return stored(wp, argument)


@check(
    "release.implicit-conversions",
    cases={name: ARGUMENTS[name] for name in WRAPPING},
    oracle=faults.launch_checks_ranges,
    faults=[faults.launch_wraps_integers],
    near_misses=[faults.launch_with_new_lists],
)
def out_of_range(wp: WarpSubject, argument: Argument) -> Evidence:
    return stored(wp, argument)
