"""What `Tape.get_adjoint` gives for each sort of kernel argument."""

import ctypes
from collections.abc import Callable
from typing import Any

from tapecheck.contract import Evidence, check
from tapecheck.contracts.tape.arrays import factors, leaves, seed, tree
from tapecheck.faults.tape import adjoints as faults
from tapecheck.subjects.warp import WarpSubject


@check(
    "tape.adjoint-array",
    faults=[faults.adjoints_are_not_registered, faults.array_adjoints_are_copies],
    near_misses=[faults.asks_twice],
)
def adjoint_of_array(wp: WarpSubject) -> Evidence:
    (x,) = leaves(wp, 3.0)
    tape = wp.Tape()
    adjoint = tape.get_adjoint(x)
    x.grad.fill_(7.0)
    tape.zero()
    return Evidence(
        observed={"adjoint is x.grad": adjoint is x.grad, "x.grad after zero": x.grad},
        expected={"adjoint is x.grad": True, "x.grad after zero": [0.0] * 3},
    )


@check(
    "tape.adjoint-struct",
    faults=[faults.structs_are_their_own_adjoint],
    near_misses=[faults.asks_twice],
)
def adjoint_of_struct(wp: WarpSubject) -> Evidence:
    s = factors(wp, 2.0, 3.0)
    s.b = seed(wp)
    adjoint = wp.Tape().get_adjoint(s)
    return Evidence(
        observed={
            "type is that of the struct": type(adjoint) is type(s),
            "adjoint.a is s.a.grad": adjoint.a is s.a.grad,
            "adjoint.b, without gradient": "None" if adjoint.b is None else "an array",
        },
        expected={
            "type is that of the struct": True,
            "adjoint.a is s.a.grad": True,
            "adjoint.b, without gradient": "None",
        },
    )


@check(
    "tape.adjoint-nested-struct",
    faults=[faults.second_level_is_not_mirrored, faults.third_level_is_not_mirrored],
    near_misses=[faults.asks_twice],
)
def adjoint_of_nested_struct(wp: WarpSubject) -> Evidence:
    t = tree(wp, 2.0, 3.0, 5.0, 7.0)
    adjoint = wp.Tape().get_adjoint(t)
    inner, adjoint_inner = t.branch.factors, adjoint.branch.factors
    pairs = {
        "d": (adjoint.d, t.d),
        "branch.c": (adjoint.branch.c, t.branch.c),
        "branch.factors.a": (adjoint_inner.a, inner.a),
        "branch.factors.b": (adjoint_inner.b, inner.b),
    }
    return Evidence(
        observed={f"{name} is the gradient": field is array.grad for name, (field, array) in pairs.items()},
        expected={f"{name} is the gradient": True for name in pairs},
    )


class Reading(ctypes.Structure):
    _fields_ = (("value", ctypes.c_float), ("count", ctypes.c_int32))


@check(
    "tape.adjoint-value",
    needs=[":warp.build_experimental", "build_experimental.add_native_type"],
    faults=[faults.values_are_their_own_adjoint, faults.values_have_no_adjoint],
    near_misses=[faults.asks_twice],
)
def adjoint_of_native_value(wp: WarpSubject) -> Evidence:
    wp.build_experimental.add_native_type(Reading, native_name="tapecheck::Reading")
    adjoint = wp.Tape().get_adjoint(Reading(2.5, 3))
    return Evidence(
        observed={
            "type": type(adjoint).__name__,
            "value": getattr(adjoint, "value", None),
            "count": getattr(adjoint, "count", None),
        },
        expected={"type": "Reading", "value": 0.0, "count": 0},
    )


WITHOUT_ADJOINT: dict[str, Callable[[WarpSubject], Any]] = {
    "float": lambda wp: 2.0,
    "int": lambda wp: 2,
    "warp-scalar": lambda wp: wp.float64(2.0),
    "vector": lambda wp: wp.vec3(1.0, 2.0, 3.0),
    "matrix": lambda wp: wp.mat22(1.0, 2.0, 3.0, 4.0),
    "none": lambda wp: None,
    "array-without-gradient": seed,
}


@check(
    "tape.adjoint-none",
    cases=WITHOUT_ADJOINT,
    faults=[faults.everything_has_an_adjoint],
    near_misses=[faults.asks_twice],
)
def adjoint_none(wp: WarpSubject, make: Callable[[WarpSubject], Any]) -> Evidence:
    tape = wp.Tape()
    adjoint = tape.get_adjoint(make(wp))
    return Evidence(
        observed={"adjoint": "None" if adjoint is None else type(adjoint).__name__, "registered": len(tape.gradients)},
        expected={"adjoint": "None", "registered": 0},
    )
