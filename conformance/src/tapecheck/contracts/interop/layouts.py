"""Shapes and strides: what is converted in place, what is refused, what is misread."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import warp

from tapecheck.contract import Evidence, check, outcome_of
from tapecheck.contracts.interop import kernels
from tapecheck.contracts.interop.tensors import counting, tensor
from tapecheck.faults.interop import layouts as faults
from tapecheck.faults.interop import sharing
from tapecheck.subjects.warp import WarpSubject


class Layout(NamedTuple):
    """A view of a tensor that counts 0, 1, 2, … in memory, and what Warp must read in it; or its refusal."""

    base: tuple[int, ...]
    view: Callable[[Any], Any]
    dtype: Any = warp.float32
    expected: Any = None


INNER_STRIDES = re.compile("the source inner strides are not contiguous")
READ = {
    "strided": Layout((4, 6), lambda t: t[::2, ::3], expected=[[0, 3], [12, 15]]),
    "transposed": Layout((2, 3), lambda t: t.t(), expected=[[0, 3], [1, 4], [2, 5]]),
    "expanded": Layout((3,), lambda t: t.expand(2, 3), expected=[[0, 1, 2], [0, 1, 2]]),
    "offset": Layout((3, 4), lambda t: t[1:, 2:], expected=[[6, 7], [10, 11]]),
    "column-of-a-table": Layout((3, 4), lambda t: t[:, 1:2], expected=[[1], [5], [9]]),
    "axis-of-size-one": Layout((8,), lambda t: t.as_strided((1, 3), (7, 2)), expected=[[0, 2, 4]]),
    "vectors-strided": Layout((4, 3), lambda t: t[::2], warp.vec3, [[0, 1, 2], [6, 7, 8]]),
    "vectors-expanded": Layout((3,), lambda t: t.expand(2, 3), warp.vec3, [[0, 1, 2], [0, 1, 2]]),
    "vectors-of-length-one": Layout((3, 4), lambda t: t[:, 1:2], kernels.vec1, [[1], [5], [9]]),
    "matrices-strided": Layout((4, 2, 2), lambda t: t[1::2], warp.mat22, [[[4, 5], [6, 7]], [[12, 13], [14, 15]]]),
}
REFUSED = {
    "vectors-transposed": Layout((3, 2), lambda t: t.t(), warp.vec3),
    "vectors-every-other-component": Layout((2, 6), lambda t: t[:, ::2], warp.vec3),
    "matrices-transposed": Layout((2, 2, 2), lambda t: t.transpose(1, 2), warp.mat22),
    "matrices-cut-from-wider-ones": Layout((2, 2, 3), lambda t: t[:, :, :2], warp.mat22),
}


def conversion(wp: WarpSubject, view: Any, dtype: Any) -> tuple[str, Any]:
    """What a conversion comes to, as text, and the array if there is one."""
    arrays: list[Any] = []
    text = outcome_of(lambda: arrays.append(wp.from_torch(view, dtype=dtype)))
    return text, arrays[0] if arrays else None


def read_by_kernel(wp: WarpSubject, array: Any) -> Any:
    """The array's values as a kernel reads them."""
    out = wp.zeros(array.shape, dtype=array.dtype)
    if array.ndim == 2:
        wp.launch(kernels.copy_table, dim=array.shape, inputs=[array, out])
        return out.numpy().tolist()
    wp.launch(kernels.twice, dim=array.shape, inputs=[array, out])
    return (out.numpy() / 2.0).tolist()


@check(
    "interop.noncontiguous",
    cases=READ,
    needs=(":torch",),
    faults=[faults.from_torch_takes_canonical_strides, faults.from_torch_makes_contiguous],
    near_misses=[sharing.from_torch_of_a_view],
)
def read_in_place(wp: WarpSubject, layout: Layout) -> Evidence:
    base = counting(wp, *layout.base)
    view = layout.view(base)
    outcome, array = conversion(wp, view, layout.dtype)
    observed: dict[str, Any] = {"conversion": outcome}
    if array is not None:
        observed |= {"as NumPy": array.numpy().tolist(), "in a kernel": read_by_kernel(wp, array)}
        array.fill_(99.0)
        observed |= {"tensor all written": bool((view == 99.0).all()), "untouched": int((base != 99.0).sum())}
    distinct = len(set(_flat(layout.expected)))
    expected = {
        "conversion": "no error",
        "as NumPy": layout.expected,
        "in a kernel": layout.expected,
        "tensor all written": True,
        "untouched": base.numel() - distinct,
    }
    return Evidence(observed, expected)


def _flat(values: Any) -> list[float]:
    return [number for item in values for number in _flat(item)] if isinstance(values, list) else [values]


@check(
    "interop.noncontiguous",
    cases=REFUSED,
    needs=(":torch",),
    faults=[faults.from_torch_takes_canonical_strides, faults.from_torch_makes_contiguous],
    near_misses=[sharing.from_torch_of_a_view],
)
def refused(wp: WarpSubject, layout: Layout) -> Evidence:
    outcome, _array = conversion(wp, layout.view(counting(wp, *layout.base)), layout.dtype)
    return Evidence({"conversion": outcome}, {"conversion": INNER_STRIDES})


ODD = {
    "size-zero": Layout((2, 6), lambda t: t[:0, ::2], warp.vec3),
    "size-one": Layout((1, 4), lambda t: t.t(), kernels.vec1),
}


@check(
    "interop.odd-strides",
    cases=ODD,
    needs=(":torch",),
    faults=[faults.from_torch_takes_canonical_strides],
    near_misses=[sharing.from_torch_of_a_view],
)
def odd_strides(wp: WarpSubject, layout: Layout) -> Evidence:
    import torch

    view = layout.view(counting(wp, *layout.base))
    cloned = view.clone(memory_format=torch.contiguous_format)
    return Evidence(
        observed={
            "is contiguous to torch": view.is_contiguous(),
            "made contiguous": conversion(wp, view.contiguous(), layout.dtype)[0],
            "cloned": conversion(wp, cloned, layout.dtype)[0],
        },
        expected={"is contiguous to torch": True, "made contiguous": INNER_STRIDES, "cloned": "no error"},
    )


@check(
    "interop.lazy-negation",
    cases={"conjugate-imaginary": True, "negated-view": False},
    needs=(":torch",),
    oracle=faults.from_torch_resolves_negation,
    faults=[faults.from_torch_reads_stored_values],
    near_misses=[faults.from_torch_refuses_negation],
)
def lazy_negation(wp: WarpSubject, conjugate: bool) -> Evidence:
    import torch

    plain = tensor(wp, [1.0, 2.0, 3.0])
    view = torch.complex(plain, plain).conj().imag if conjugate else torch._neg_view(plain)
    outcome, array = conversion(wp, view, wp.float32)
    seen = f"values {array.numpy().tolist()}" if array is not None else outcome
    return Evidence({"array": seen}, {"array": re.compile(r"^values \[-1\.0, -2\.0, -3\.0\]$|negat|negative bit")})


class Element(NamedTuple):
    """An element type and what a tensor of its values has behind the axis of the array."""

    dtype: Any
    torch_dtype: str
    trailing: tuple[int, ...]


ELEMENTS = {
    "scalar": Element(warp.float32, "float32", ()),
    "double": Element(warp.float64, "float64", ()),
    "vector": Element(warp.vec3, "float32", (3,)),
    "double-vector": Element(warp.vec2d, "float64", (2,)),
    "matrix": Element(warp.mat22, "float32", (2, 2)),
    "double-matrix": Element(warp.mat33d, "float64", (3, 3)),
}


@check(
    "interop.empty",
    cases=ELEMENTS,
    needs=(":torch",),
    faults=[faults.from_torch_pads_empty],
    near_misses=[sharing.from_torch_names_the_flag],
)
def empty(wp: WarpSubject, element: Element) -> Evidence:
    source = tensor(wp, [], dtype=element.torch_dtype).reshape(0, *element.trailing).requires_grad_()
    x = wp.from_torch(source, dtype=element.dtype)
    y = wp.zeros(x.shape, dtype=element.dtype, requires_grad=True)
    back = wp.to_torch(x)
    with wp.Tape() as tape:
        launch = outcome_of(lambda: wp.launch(kernels.twice, dim=x.shape, inputs=[x], outputs=[y]))
    backward = outcome_of(lambda: tape.backward(grads={y: wp.zeros(x.shape, dtype=element.dtype)}))
    return Evidence(
        observed={
            "array": [x.dtype is element.dtype, *x.shape],
            "launch": launch,
            "backward": backward,
            "gradient": list(x.grad.shape),
            "tensor.grad": None if source.grad is None else list(source.grad.shape),
            "back": [str(back.dtype), *back.shape],
        },
        expected={
            "array": [True, 0],
            "launch": "no error",
            "backward": "no error",
            "gradient": [0],
            "tensor.grad": [0, *element.trailing],
            "back": [f"torch.{element.torch_dtype}", 0, *element.trailing],
        },
    )


CLEAR = r"shape|dimension|0-d|zero-dim|scalar"


@check(
    "interop.scalar-tensor",
    cases={"float": ("float32", None), "integer": ("int32", None), "double": ("float64", None)},
    needs=(":torch",),
    oracle=faults.from_torch_reshapes_scalars,
    faults=[faults.from_torch_empties_scalars, faults.from_torch_stumbles_over_scalars],
    near_misses=[faults.from_torch_refuses_scalars],
)
def scalar_tensor(wp: WarpSubject, case: tuple[str, Any]) -> Evidence:
    outcome, array = conversion(wp, tensor(wp, 3, dtype=case[0]), case[1])
    seen = f"values {array.numpy().reshape(-1).tolist()}" if array is not None else outcome
    return Evidence({"array": seen}, {"array": re.compile(rf"^values \[3(\.0)?\]$|{CLEAR}")})


@check(
    "interop.scalar-tensor",
    case="for-vectors",
    needs=(":torch",),
    faults=[faults.from_torch_empties_scalars],
    near_misses=[faults.from_torch_reshapes_scalars],
)
def scalar_for_vectors(wp: WarpSubject) -> Evidence:
    outcome, _array = conversion(wp, tensor(wp, 3.0), wp.vec3)
    return Evidence({"array": outcome}, {"array": re.compile(r"shape \(.*source inner shape is \(3,\)")})
