"""Element types, and errors where something does not fit."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from tapecheck.contract import Evidence, check, outcome_of
from tapecheck.contracts.interop.tensors import tensor
from tapecheck.faults.interop import dtypes as faults
from tapecheck.faults.interop import sharing
from tapecheck.subjects.warp import WarpSubject


class Pair(NamedTuple):
    """A torch type, the public name of the Warp type of the same meaning, and the axes that an element takes."""

    torch: str
    warp: str
    trailing: tuple[int, ...] = ()


SCALARS = {
    "half": Pair("float16", "float16"),
    "bfloat16": Pair("bfloat16", "bfloat16"),
    "float": Pair("float32", "float32"),
    "double": Pair("float64", "float64"),
    "int32": Pair("int32", "int32"),
    "int64": Pair("int64", "int64"),
    "bool": Pair("bool", "bool"),
}
COMPOUNDS = {
    name: Pair(torch, name, trailing)
    for names, trailing in (("vec2", (2,)), ("vec3", (3,)), ("vec4", (4,)), ("mat22", (2, 2)), ("mat33", (3, 3)))
    for name, torch in ((names, "float32"), (f"{names}d", "float64"))
} | {"vec3h": Pair("float16", "vec3h", (3,))}


@check(
    "interop.dtypes",
    cases=SCALARS | COMPOUNDS,
    needs=lambda pair: (":torch", pair.warp),
    faults=[sharing.from_torch_copies, faults.to_torch_as_bytes],
    near_misses=[faults.to_torch_names_the_flag],
)
def dtypes(wp: WarpSubject, pair: Pair) -> Evidence:
    warp_type = getattr(wp, pair.warp)
    source = tensor(wp, [0.0, 1.0, 1.0], dtype=pair.torch)
    source = source.reshape(3, *(1 for _ in pair.trailing)).repeat(1, *pair.trailing)
    array = wp.from_torch(source) if pair.warp == pair.torch else wp.from_torch(source, dtype=warp_type)
    back, made_by_warp = wp.to_torch(array), wp.to_torch(wp.ones(2, dtype=warp_type))
    seen = {
        "Warp type": array.dtype is warp_type,
        "array": list(array.shape),
        "values": back.double().reshape(3, -1).mean(dim=1).tolist(),
    }
    array.zero_()
    seen |= {"tensor after a write to the array": bool(source.any()), "torch type": str(back.dtype)}
    seen |= {"from Warp": [str(made_by_warp.dtype), list(made_by_warp.shape), made_by_warp.double().mean().item()]}
    return Evidence(
        observed=seen,
        expected={
            "Warp type": True,
            "array": [3],
            "values": [0.0, 1.0, 1.0],
            "tensor after a write to the array": False,
            "torch type": f"torch.{pair.torch}",
            "from Warp": [f"torch.{pair.torch}", [2, *pair.trailing], 1.0],
        },
    )


class Misfit(NamedTuple):
    """A leaf, a conversion of it that cannot be right, and the error, which names what is wrong."""

    convert: Callable[[WarpSubject, Any], Any]
    error: str
    shape: tuple[int, ...] = (3,)


MISFITS = {
    "type": Misfit(lambda wp, t: wp.from_torch(t, dtype=wp.int32), r"RuntimeError: .*torch\.float32.*int32"),
    "type-without-counterpart": Misfit(
        lambda wp, t: wp.from_torch(t.detach().to(_torch().complex64)), r"TypeError: .*torch\.complex64"
    ),
    "width": Misfit(lambda wp, t: wp.from_torch(t, dtype=wp.vec3d), r"RuntimeError: .*torch\.float32.*vec3d", (2, 3)),
    "vector-length": Misfit(lambda wp, t: wp.from_torch(t, dtype=wp.vec3), r"\(4, 2\).*vec3.*\(3,\)", (4, 2)),
    "matrix-shape": Misfit(lambda wp, t: wp.from_torch(t, dtype=wp.mat22), r"\(5, 4\).*mat22.*\(2, 2\)", (5, 4)),
    "too-few-dimensions": Misfit(lambda wp, t: wp.from_torch(t, dtype=wp.mat22), r"\(3,\).*mat22.*\(2, 2\)"),
    "too-many-dimensions": Misfit(
        lambda wp, t: wp.from_torch(t), r"\(1, 1, 1, 1, 2\).*number of dimensions is 4", (1, 1, 1, 1, 2)
    ),
    "device": Misfit(lambda wp, t: wp.from_torch(t.detach().to("meta")), "RuntimeError: .*device type meta"),
    "layout-sparse": Misfit(lambda wp, t: wp.from_torch(t.detach().to_sparse()), "RuntimeError: .*storage"),
    "layout-sparse-rows": Misfit(
        lambda wp, t: wp.from_torch(t.detach().to_sparse_csr()), "RuntimeError: .*Sparse CSR", (2, 2)
    ),
    "gradient-shape": Misfit(
        lambda wp, t: wp.from_torch(t, grad=t.new_zeros(4)), r"ValueError: .*gradient.*\(3,\).*\(4,\)"
    ),
    "gradient-type": Misfit(
        lambda wp, t: wp.from_torch(t, grad=t.double()), r"RuntimeError: .*torch\.float64.*float32"
    ),
    "gradient-strides-of-a-descriptor": Misfit(
        lambda wp, t: wp.from_torch(t, grad=t.new_zeros(6)[::2], return_ctype=True),
        r"RuntimeError: .*Gradient strides .*\(1,\).*\(2,\)",
    ),
    "not-a-tensor": Misfit(lambda wp, t: wp.from_torch(t.tolist()), "AttributeError: .*'list' object"),
    "structs-to-torch": Misfit(lambda wp, t: wp.to_torch(wp.zeros(3, dtype=_struct())), "RuntimeError: .*[Ss]truct"),
}


def _torch() -> Any:
    import torch

    return torch


def _struct() -> Any:
    from tapecheck.contracts.interop.kernels import Point

    return Point


@check(
    "interop.errors",
    cases=MISFITS,
    needs=(":torch",),
    faults=[faults.conversions_raise_without_a_word, faults.conversions_give_what_they_can],
    near_misses=[faults.conversions_introduce_their_errors],
)
def errors(wp: WarpSubject, misfit: Misfit) -> Evidence:
    leaf = tensor(wp, 1.0).expand(misfit.shape).clone().requires_grad_()
    outcome = outcome_of(lambda: misfit.convert(wp, leaf))
    return Evidence(
        observed={
            "error": outcome,
            "gradient given to the leaf": leaf.grad is not None,
            "values": leaf.detach().unique(),
        },
        expected={"error": re.compile(misfit.error), "gradient given to the leaf": False, "values": [1.0]},
    )


@check(
    "interop.descriptor-gradient",
    cases={"shorter": (2, "float32"), "narrower": (4, "float16")},
    needs=(":torch",),
    faults=[faults.descriptors_check_their_gradient],
    near_misses=[sharing.from_torch_of_a_view],
)
def descriptor_gradient(wp: WarpSubject, gradient: tuple[int, str]) -> Evidence:
    length, dtype = gradient
    source, grad = tensor(wp, [1.0] * 4), tensor(wp, [0.0] * length, dtype=dtype)
    descriptors: list[Any] = []
    outcome = outcome_of(lambda: descriptors.append(wp.from_torch(source, grad=grad, return_ctype=True)))
    return Evidence(
        observed={"conversion": outcome, "taken": [each.grad == grad.data_ptr() for each in descriptors]},
        expected={"conversion": "no error", "taken": [True]},
    )
