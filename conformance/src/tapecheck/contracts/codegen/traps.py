"""Evidence of traps and of constructs that not every release compiles."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from tapecheck.contract import Evidence, outcome_of
from tapecheck.contracts.codegen.idiom import Idiom, adjoint, derivative
from tapecheck.subjects.warp import WarpSubject


class Trap(NamedTuple):
    """An idiom whose gradient by `x` is wrong.

    Attributes:
        wrong: what the generated adjoint computes.
        true: the derivative.
    """

    idiom: Idiom
    wrong: list[float]
    true: list[float]


def trapped(wp: WarpSubject, trap: Trap) -> Evidence:
    """Evidence that the trap is there: the wrong gradient beside the derivative by differences."""
    return Evidence(
        observed={
            "x.grad": adjoint(wp, trap.idiom)["x.grad"],
            "true x.grad": derivative(wp, trap.idiom)["x.grad"],
        },
        expected={"x.grad": trap.wrong, "true x.grad": trap.true},
        tolerance=1e-6,
    )


def refusal(action: Callable[[], Any]) -> str:
    """The outcome of an action; of a compile error what is wrong, without the place in the source."""
    return re.sub(r"Error while parsing function .*?\n\s*;", "", outcome_of(action), flags=re.DOTALL)
