"""The flag itself: who takes it, when it may be set, who inherits it."""

import re
from collections.abc import Callable
from typing import Any

from tapecheck.contract import Evidence, check, outcome_of
from tapecheck.contracts.retain_grad import kernels
from tapecheck.contracts.retain_grad.arrays import SEED, leaves, output, times
from tapecheck.faults.retain_grad import attribute as faults
from tapecheck.subjects.warp import WarpSubject

Make = Callable[..., Any]
FLAGS = {"requires_grad": True, "retain_grad": True}
RETAINING = ("zeros(retain_grad)",)


def torch_zeros(*shape: int) -> Any:
    import torch

    return torch.zeros(*shape, requires_grad=True)


def template(wp: WarpSubject) -> Any:
    return wp.zeros(4, dtype=float)


def existing_memory(wp: WarpSubject, **flags: bool) -> Any:
    owner = template(wp)
    array = wp.array(ptr=owner.ptr, shape=owner.shape, dtype=float, **flags)
    array.owner = owner
    return array


CONSTRUCTORS: dict[str, tuple[str, Make]] = {
    "array": ("array", lambda wp, **flags: wp.array([0.0] * 4, dtype=float, **flags)),
    "array-of-array": ("array", lambda wp, **flags: wp.array(template(wp), dtype=float, **flags)),
    "array-of-pointer": ("array", existing_memory),
    "zeros": ("zeros", lambda wp, **flags: wp.zeros(4, dtype=float, **flags)),
    "ones": ("ones", lambda wp, **flags: wp.ones(4, dtype=float, **flags)),
    "empty": ("empty", lambda wp, **flags: wp.empty(4, dtype=float, **flags)),
    "full": ("full", lambda wp, **flags: wp.full(4, 1.0, dtype=float, **flags)),
    "zeros_like": ("zeros_like", lambda wp, **flags: wp.zeros_like(template(wp), **flags)),
    "ones_like": ("ones_like", lambda wp, **flags: wp.ones_like(template(wp), **flags)),
    "empty_like": ("empty_like", lambda wp, **flags: wp.empty_like(template(wp), **flags)),
    "full_like": ("full_like", lambda wp, **flags: wp.full_like(template(wp), 1.0, **flags)),
    "clone": ("clone", lambda wp, **flags: wp.clone(template(wp), **flags)),
    "from_numpy": ("from_numpy", lambda wp, **flags: wp.from_numpy(template(wp).numpy(), **flags)),
    "from_torch": ("from_torch", lambda wp, **flags: wp.from_torch(torch_zeros(4), **flags)),
}


def constructor_needs(case: tuple[str, Make]) -> tuple[str, ...]:
    name, _ = case
    taken = "array.retain_grad" if name == "array" else f"{name}(retain_grad)"
    return (taken, ":torch") if name == "from_torch" else (taken,)


@check(
    "retain.constructors",
    cases=CONSTRUCTORS,
    needs=constructor_needs,
    faults=[faults.constructors_drop_the_flag],
    near_misses=[faults.constructors_set_the_flag_later],
)
def constructors(wp: WarpSubject, case: tuple[str, Make]) -> Evidence:
    _, make = case
    (x,), y = leaves(wp, 1), make(wp, **FLAGS)
    with wp.Tape() as tape:
        wp.launch(kernels.double, dim=4, inputs=[x], outputs=[y])
    tape.backward(grads={y: wp.array(SEED, dtype=float)})
    return Evidence(
        observed={"retain_grad": y.retain_grad, "x.grad": x.grad, "y.grad": y.grad},
        expected={"retain_grad": True, "x.grad": times(2.0), "y.grad": SEED},
    )


@check(
    "retain.constructors",
    case="from_torch-descriptor",
    needs=("from_torch(retain_grad)", ":torch"),
    oracle=faults.descriptors_carry_the_flag,
    faults=[faults.constructors_drop_the_flag],
    near_misses=[faults.from_torch_with_everything_spelt_out],
)
def torch_descriptor(wp: WarpSubject) -> Evidence:
    (x,), tensor = leaves(wp, 1), torch_zeros(4)
    y = wp.from_torch(tensor, return_ctype=True, **FLAGS)
    wp.from_torch(tensor.grad).assign(SEED)
    with wp.Tape() as tape:
        wp.launch(kernels.double, dim=4, inputs=[x], outputs=[y])
    tape.backward()
    return Evidence(
        observed={"x.grad": x.grad, "tensor.grad": tensor.grad},
        expected={"x.grad": times(2.0), "tensor.grad": SEED},
    )


@check(
    "retain.constructors",
    case="without-gradient",
    needs=RETAINING,
    faults=[faults.zeros_adds_the_gradient],
    near_misses=[faults.constructors_set_the_flag_later],
)
def without_gradient(wp: WarpSubject) -> Evidence:
    return Evidence(
        observed={"zeros(retain_grad=True)": outcome_of(lambda: wp.zeros(4, dtype=float, retain_grad=True))},
        expected={"zeros(retain_grad=True)": re.compile("^ValueError: .*requires_grad")},
    )


@check(
    "retain.settable",
    cases={
        "before-launch": (output, False),
        "before-backward": (output, True),
        "torch-view": (lambda wp: wp.from_torch(torch_zeros(4)), False),
    },
    needs=lambda case: () if case[0] is output else (":torch",),
    faults=[faults.the_flag_is_a_plain_attribute],
    near_misses=[faults.the_flag_is_a_property_of_a_subclass],
)
def settable(wp: WarpSubject, case: tuple[Make, bool]) -> Evidence:
    make, late = case

    def gradient_with(flag: bool) -> Any:
        (x,), y = leaves(wp, 1), make(wp)
        y.retain_grad = (not flag) if late else flag
        with wp.Tape() as tape:
            wp.launch(kernels.double, dim=4, inputs=[x], outputs=[y])
        y.retain_grad = flag
        tape.backward(grads={y: wp.array(SEED, dtype=float)})
        return y.grad

    return Evidence(
        observed={f"y.grad with {flag}": gradient_with(flag) for flag in (True, False)},
        expected={"y.grad with True": SEED, "y.grad with False": [0.0] * 4},
    )


@check(
    "retain.not-inherited",
    cases={
        "slice": lambda wp, y: y[:1],
        "row": lambda wp, y: y[0],
        "reshape": lambda wp, y: y.reshape((3, 2)),
        "flatten": lambda wp, y: y.flatten(),
        "transpose": lambda wp, y: y.transpose(),
        "view": lambda wp, y: y.view(wp.float32),
        "array-of-array": lambda wp, y: wp.array(y, dtype=float, copy=False, requires_grad=True),
        "zeros_like": lambda wp, y: wp.zeros_like(y),
        "ones_like": lambda wp, y: wp.ones_like(y),
        "empty_like": lambda wp, y: wp.empty_like(y),
        "full_like": lambda wp, y: wp.full_like(y, 1.0),
        "clone": lambda wp, y: wp.clone(y),
    },
    needs=RETAINING,
    faults=[faults.everything_inherits],
    near_misses=[faults.the_flag_is_a_property_of_a_subclass],
)
def not_inherited(wp: WarpSubject, derive: Callable[..., Any]) -> Evidence:
    derived = derive(wp, wp.zeros((2, 3), dtype=float, **FLAGS))
    (x,) = leaves(wp, 1, derived.shape[0])
    kernel = kernels.double if derived.ndim == 1 else kernels.double_into_grid
    derived.grad.fill_(1.0)
    with wp.Tape() as tape:
        wp.launch(kernel, dim=derived.shape, inputs=[x], outputs=[derived])
    tape.backward()
    return Evidence(
        observed={"retain_grad": derived.retain_grad, "grad is zero": not derived.grad.numpy().any()},
        expected={"retain_grad": False, "grad is zero": True},
    )


@check(
    "retain.not-inherited",
    case="row-in-kernel",
    needs=RETAINING,
    faults=[faults.retained_gradients_are_put_back],
    near_misses=[faults.the_flag_is_a_property_of_a_subclass],
)
def kernel_view_not_inherited(wp: WarpSubject) -> Evidence:
    (x,), y = leaves(wp, 1, 2), wp.zeros((2, 3), dtype=float, **FLAGS)
    y.grad.fill_(1.0)
    with wp.Tape() as tape:
        wp.launch(kernels.double_into_row, dim=(2, 3), inputs=[x], outputs=[y])
    tape.backward()
    return Evidence(
        observed={"x.grad": x.grad, "y.grad": y.grad},
        expected={"x.grad": [6.0] * 2, "y.grad": [[0.0] * 3] * 2},
    )


@check(
    "retain.struct-flag",
    needs=("array.retain_grad",),
    faults=[faults.structs_are_refilled_before_a_launch],
    near_misses=[faults.structs_are_read_before_a_launch],
)
def struct_flag(wp: WarpSubject) -> Evidence:
    def gradient_with(*, early: bool) -> Any:
        (x,), y, fields = leaves(wp, 1), output(wp), kernels.Output()
        y.grad.fill_(1.0)
        y.retain_grad = early
        fields.y = y
        y.retain_grad = True
        with wp.Tape() as tape:
            wp.launch(kernels.double_into_field, dim=4, inputs=[x, fields])
        tape.backward()
        return y.grad

    return Evidence(
        observed={"set before the field": gradient_with(early=True), "set after it": gradient_with(early=False)},
        expected={"set before the field": [1.0] * 4, "set after it": [0.0] * 4},
    )
