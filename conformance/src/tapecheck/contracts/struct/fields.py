"""What a struct holds of the arrays in its fields: the gradient pointer of the moment they were assigned."""

import re
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from tapecheck.contract import Evidence, check, outcome_of
from tapecheck.contracts.struct import kernels
from tapecheck.faults.struct import fields as faults
from tapecheck.faults.struct import lazy
from tapecheck.subjects.warp import WarpSubject


def source_of(x: Any) -> Any:
    """A fresh struct with that array in its field."""
    source = kernels.Source()
    source.x = x
    return source


def sink_of(y: Any) -> Any:
    """A fresh struct with that output array in its field."""
    sink = kernels.Sink()
    sink.y = y
    return sink


@check(
    "struct.rebind-releases",
    faults=[faults.launch_remembers_gradients],
    near_misses=[lazy.launch_copies_structs],
    cases={"none": lambda wp: None, "without-gradient": lambda wp: wp.zeros(3, dtype=float)},
)
def rebind_releases(wp: WarpSubject, replacement: Callable[[WarpSubject], Any]) -> Evidence:
    x, y = (wp.ones(3, dtype=float, requires_grad=True) for _ in "xy")
    source = source_of(x)
    wp.launch(kernels.square_field, dim=3, inputs=[source], outputs=[y])
    gradient = weakref.ref(x.grad)
    source.x = replacement(wp)
    del x
    return Evidence(observed={"old gradient alive": gradient() is not None}, expected={"old gradient alive": False})


@check(
    "struct.rebind-releases",
    case="not-written",
    faults=[faults.launch_remembers_gradients],
    near_misses=[lazy.launch_copies_structs],
)
def rebound_field_is_not_written(wp: WarpSubject) -> Evidence:
    x, y = (wp.full(3, value, dtype=float, requires_grad=True) for value in (3.0, 0.0))
    source = source_of(x)
    wp.launch(kernels.square_field, dim=3, inputs=[source], outputs=[y])
    source.x = wp.full(3, 5.0, dtype=float)
    with wp.Tape() as tape:
        wp.launch(kernels.square_field, dim=3, inputs=[source], outputs=[y])
    tape.backward(grads={y: wp.ones(3, dtype=float)})
    return Evidence(observed={"y": y, "old x.grad": x.grad}, expected={"y": [25.0] * 3, "old x.grad": [0.0] * 3})


class Change(NamedTuple):
    """What is done to an array's gradient buffer after the array went into a struct."""

    replaces: bool
    after_launch: bool = False

    def apply(self, wp: WarpSubject, array: Any) -> None:
        if self.replaces:
            array.grad = wp.zeros(3, dtype=float)
        else:
            array.requires_grad = True


CHANGES = {
    "replaced": Change(replaces=True),
    "replaced-after-launch": Change(replaces=True, after_launch=True),
    "switched-on": Change(replaces=False),
    "switched-on-after-launch": Change(replaces=False, after_launch=True),
}


@check(
    "struct.grad-pointer-frozen",
    faults=[faults.backward_refreshes_fields],
    near_misses=[faults.backward_refreshes_fields_too_late],
    cases=CHANGES,
)
def grad_pointer_frozen(wp: WarpSubject, change: Change) -> Evidence:
    def gradients(kernel: Any, wrap: Callable[[Any], Any]) -> dict[str, Any]:
        x = wp.full(3, 3.0, dtype=float, requires_grad=change.replaces)
        y = wp.zeros(3, dtype=float, requires_grad=True)
        argument, former = wrap(x), x.grad
        if not change.after_launch:
            change.apply(wp, x)
        with wp.Tape() as tape:
            wp.launch(kernel, dim=3, inputs=[argument], outputs=[y])
        if change.after_launch:
            change.apply(wp, x)
        tape.backward(grads={y: wp.ones(3, dtype=float)})
        return {"x.grad": x.grad, "former buffer": former}

    right, nothing = [6.0] * 3, [0.0] * 3
    return Evidence(
        observed={
            "as a field": gradients(kernels.square_field, source_of),
            "as an argument": gradients(kernels.square, lambda x: x),
        },
        expected={
            "as a field": {"x.grad": nothing, "former buffer": right if change.replaces else None},
            "as an argument": {"x.grad": right, "former buffer": nothing if change.replaces else None},
        },
    )


@check(
    "struct.grad-pointer-frozen",
    faults=[faults.backward_refreshes_fields],
    near_misses=[faults.backward_refreshes_fields_too_late],
    cases={f"output-{name}": change for name, change in CHANGES.items()},
)
def output_grad_pointer_frozen(wp: WarpSubject, change: Change) -> Evidence:
    def gradient(kernel: Any, wrap: Callable[[Any], Any]) -> Any:
        x = wp.full(3, 3.0, dtype=float, requires_grad=True)
        y = wp.zeros(3, dtype=float, requires_grad=change.replaces)
        argument = wrap(y)
        if not change.after_launch:
            change.apply(wp, y)
        with wp.Tape() as tape:
            wp.launch(kernel, dim=3, inputs=[x], outputs=[argument])
        if change.after_launch:
            change.apply(wp, y)
        tape.backward(grads={y: wp.ones(3, dtype=float)})
        return x.grad

    return Evidence(
        observed={
            "x.grad, y as a field": gradient(kernels.square_into_field, sink_of),
            "x.grad, y as an argument": gradient(kernels.square, lambda y: y),
        },
        expected={"x.grad, y as a field": [0.0] * 3, "x.grad, y as an argument": [6.0] * 3},
    )


@check(
    "struct.output-field-seed",
    faults=[faults.backward_seeds_then_refreshes_fields],
    near_misses=[faults.backward_refreshes_fields_too_late],
    cases={"grads": False, "preset": True},
)
def output_field_seed(wp: WarpSubject, preset: bool) -> Evidence:
    def differentiated(buffer_first: bool) -> dict[str, Any]:
        x = wp.full(3, 3.0, dtype=float, requires_grad=True)
        y = wp.zeros(3, dtype=float, requires_grad=buffer_first)
        with wp.Tape() as tape:
            wp.launch(kernels.square_into_field, dim=3, inputs=[x], outputs=[sink_of(y)])
        seed = wp.ones(3, dtype=float)
        if not preset:
            tape.backward(grads={y: seed})
        elif buffer_first:
            y.grad.assign(seed)
            tape.backward()
        else:
            y.grad = seed
            tape.backward()
        return {"y": y, "x.grad": x.grad, "seed": seed}

    y, seed = [9.0] * 3, [1.0] * 3
    return Evidence(
        observed={"no buffer": differentiated(False), "buffer before filling": differentiated(True)},
        expected={
            "no buffer": {"y": y, "x.grad": [0.0] * 3, "seed": seed},
            "buffer before filling": {"y": y, "x.grad": [6.0] * 3, "seed": seed},
        },
    )


def weighed(wp: WarpSubject, **weight: Any) -> dict[str, Any]:
    """Launches and differentiates a kernel that can do without its weights, the field set as given, if at all."""
    weighted, y = kernels.Weighted(), wp.zeros(3, dtype=float, requires_grad=True)
    weighted.x = wp.full(3, 3.0, dtype=float, requires_grad=True)
    for field, value in weight.items():
        setattr(weighted, field, value)
    with wp.Tape() as tape:
        wp.launch(kernels.weigh, dim=3, inputs=[weighted], outputs=[y])
    backward = outcome_of(lambda: tape.backward(grads={y: wp.ones(3, dtype=float)}))
    return {"y": y, "backward": backward, "x.grad": weighted.x.grad}


@check(
    "struct.unset-field",
    faults=[faults.launch_fills_unset_fields],
    near_misses=[lazy.launch_copies_structs],
    cases={"never-set": {}, "set-to-none": {"weight": None}},
)
def unset_field(wp: WarpSubject, weight: dict[str, Any]) -> Evidence:
    error = re.compile("^AttributeError: 'NoneType' object has no attribute 'grad'")
    return Evidence(
        observed=weighed(wp, **weight),
        expected={"y": [3.0] * 3, "backward": error, "x.grad": [0.0] * 3},
    )


@check(
    "struct.unset-field",
    faults=[faults.launch_drops_zero_length_fields],
    near_misses=[lazy.launch_copies_structs],
    cases={"placeholder": False, "differentiable-placeholder": True},
    safe=True,
)
def placeholder(wp: WarpSubject, requires_grad: bool) -> Evidence:
    return Evidence(
        observed=weighed(wp, weight=wp.zeros(0, dtype=float, requires_grad=requires_grad)),
        expected={"y": [3.0] * 3, "backward": "no error", "x.grad": [1.0] * 3},
    )
