"""Which arguments of a torch Function get a tangent made of zeros, and which get None."""

from typing import Any

from tapecheck.contract import Evidence, check
from tapecheck.contracts.interop.tensors import tensor, torch_of
from tapecheck.faults.interop import forward_mode as faults
from tapecheck.subjects.warp import WarpSubject


def tangents_received(wp: WarpSubject, materialize: bool | None, dual: bool = True) -> dict[str, Any]:
    """What the `jvp` of a Function gets for each of its arguments when only the first carries a tangent."""
    from torch.autograd import forward_ad

    arguments = {
        "dual": tensor(wp, [1.0, 2.0]),
        "float": tensor(wp, [1.0, 2.0]),
        "float that requires a gradient": tensor(wp, [1.0, 2.0], requires_grad=True),
        "double of another shape": tensor(wp, [1.0, 2.0, 3.0], dtype="float64"),
        "half": tensor(wp, [1.0], dtype="float16"),
        "empty": tensor(wp, []),
        "int32": tensor(wp, [1, 2], dtype="int32"),
        "int64": tensor(wp, [1, 2], dtype="int64"),
        "bool": tensor(wp, [True], dtype="bool"),
        "number": 2.5,
        "nothing": None,
    }
    received: dict[str, Any] = {}

    class First(torch_of(wp).autograd.Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            if materialize is not None:
                ctx.set_materialize_grads(materialize)
            return inputs[0] * 1.0

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            received.update(zip(arguments, (None if t is None else t.tolist() for t in tangents), strict=True))
            return tangents[0] * 1.0

    with forward_ad.dual_level():
        if dual:
            arguments["dual"] = forward_ad.make_dual(arguments["dual"], tensor(wp, [5.0, 6.0]))
        First.apply(*arguments.values())
    return received


SYNTHESISED = {
    "dual": [5.0, 6.0],
    "float": [0.0] * 2,
    "float that requires a gradient": [0.0] * 2,
    "double of another shape": [0.0] * 3,
    "half": [0.0],
    "empty": [],
    "int32": None,
    "int64": None,
    "bool": None,
    "number": None,
    "nothing": None,
}


@check(
    "interop.forward-mode-synthesis",
    cases={"default": None, "materialized": True},
    needs=(":torch",),
    faults=[faults.only_live_tangents],
    near_misses=[faults.tangents_are_copies],
)
def zeros_synthesised(wp: WarpSubject, materialize: bool | None) -> Evidence:
    return Evidence(tangents_received(wp, materialize), SYNTHESISED)


@check(
    "interop.forward-mode-synthesis",
    case="not-materialized",
    needs=(":torch",),
    faults=[faults.zeros_for_all],
    near_misses=[faults.tangents_are_copies],
)
def none_where_nothing_varies(wp: WarpSubject) -> Evidence:
    return Evidence(tangents_received(wp, False), dict.fromkeys(SYNTHESISED) | {"dual": [5.0, 6.0]})


@check(
    "interop.forward-mode-synthesis",
    case="no-tangent",
    needs=(":torch",),
    faults=[faults.jvp_always],
    near_misses=[faults.tangents_are_copies],
)
def no_tangent_no_call(wp: WarpSubject) -> Evidence:
    return Evidence({"tangents": tangents_received(wp, None, dual=False)}, {"tangents": {}})
