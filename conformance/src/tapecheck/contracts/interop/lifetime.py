"""Who keeps whom alive, what `detach()` returns, and what must have been started before."""

import gc
import re
import weakref
from typing import Any

from tapecheck.contract import Evidence, check
from tapecheck.contracts.interop.tensors import tensor, torch_of
from tapecheck.contracts.release.processes import SECONDS, empty_cache, finished
from tapecheck.faults.interop import lifetime as faults
from tapecheck.faults.interop import sharing
from tapecheck.subjects.warp import WarpSubject


@check(
    "interop.cycle",
    case="kept-alive",
    needs=(":torch",),
    faults=[sharing.from_torch_of_detached],
    near_misses=[faults.from_torch_notes_the_tensor_weakly],
)
def tensor_kept_alive(wp: WarpSubject) -> Evidence:
    source = tensor(wp, [1.0, 2.0, 3.0])
    array, alive = wp.from_torch(source), weakref.ref(source)
    del source
    held = alive() is not None
    del array
    return Evidence(
        observed={"tensor alive with its array": held, "tensor alive without it": alive() is not None},
        expected={"tensor alive with its array": True, "tensor alive without it": False},
    )


def freed_by(wp: WarpSubject, detached: bool) -> dict[str, bool]:
    """Stores a tensor's array on the tensor and drops both; what frees them, the automatic collector being off."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        source = tensor(wp, [1.0, 2.0, 3.0])
        source.its_array = wp.from_torch(torch_of(wp).Tensor.detach(source) if detached else source)
        alive = weakref.ref(source)
        del source
        by_counting = alive() is None
        gc.collect()
        return {"freed by reference counting": by_counting, "freed by the collector": alive() is None}
    finally:
        if enabled:
            gc.enable()


@check(
    "interop.cycle",
    case="on-its-own-tensor",
    needs=(":torch",),
    faults=[sharing.from_torch_of_detached],
    near_misses=[faults.from_torch_notes_the_tensor_weakly],
)
def array_on_its_own_tensor(wp: WarpSubject) -> Evidence:
    return Evidence(
        observed=freed_by(wp, detached=False),
        expected={"freed by reference counting": False, "freed by the collector": True},
    )


@check(
    "interop.cycle",
    case="of-detached",
    safe=True,
    needs=(":torch",),
    faults=[sharing.detach_returns_the_tensor_itself],
    near_misses=[faults.from_torch_notes_the_tensor_weakly],
)
def array_of_detached(wp: WarpSubject) -> Evidence:
    return Evidence(
        observed=freed_by(wp, detached=True),
        expected={"freed by reference counting": True, "freed by the collector": True},
    )


@check(
    "interop.detach-identity",
    cases={"plain": False, "requires-grad": True},
    needs=(":torch",),
    faults=[sharing.detach_returns_the_tensor_itself, faults.detach_remembers, faults.detach_copies],
    near_misses=[faults.detach_of_an_alias],
)
def detach_is_new(wp: WarpSubject, requires_grad: bool) -> Evidence:
    source = tensor(wp, [1.0, 2.0, 3.0], requires_grad=requires_grad)

    def detached() -> Any:
        return torch_of(wp).Tensor.detach(source)

    first, second = detached(), detached()
    return Evidence(
        observed={
            "is the tensor": first is source,
            "is the one before": second is first,
            "same storage": first.data_ptr() == second.data_ptr() == source.data_ptr(),
            "requires_grad": second.requires_grad,
            "array of each shares memory": wp.from_torch(first).ptr == wp.from_torch(second).ptr,
        },
        expected={
            "is the tensor": False,
            "is the one before": False,
            "same storage": True,
            "requires_grad": False,
            "array of each shares memory": True,
        },
    )


@check(
    "interop.first-call",
    needs=(":torch",),
    seconds=SECONDS,
    faults=[faults.from_torch_starts_warp],
    near_misses=[faults.from_torch_asks_for_the_version],
)
def first_call(wp: WarpSubject) -> Evidence:
    with empty_cache() as kernel_cache:
        report = finished(wp, "first_conversion.py", kernel_cache, start=False).report
    return Evidence(
        observed=report,
        expected={
            "first call": re.compile("^AttributeError: 'NoneType' object has no attribute"),
            "after wp.init()": "values [1.0, 1.0]",
        },
    )
