"""Traps: what the tape keeps by reference, what it never sees, whose launches it records."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tapecheck.capture import captured
from tapecheck.contract import Evidence, check, outcome_of
from tapecheck.contracts.tape import kernels
from tapecheck.faults.tape import hazards as faults
from tapecheck.subjects.warp import WarpSubject


def variable(wp: WarpSubject, value: float, size: int = 3) -> Any:
    return wp.full(size, value, dtype=float, requires_grad=True)


def ones(wp: WarpSubject, size: int = 3) -> Any:
    return wp.ones(size, dtype=float)


def squared(wp: WarpSubject, kernel: Any = kernels.square) -> tuple[Any, Any, Any]:
    """x = 3, y = x², and the tape that recorded it: dy/dx = 6."""
    x, y = variable(wp, 3.0), variable(wp, 0.0)
    with wp.Tape() as tape:
        wp.launch(kernel, dim=3, inputs=[x], outputs=[y])
    return x, y, tape


def on_another_thread(action: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(action).result()


@check(
    "tape.by-reference",
    case="inputs-list",
    faults=[faults.keeps_its_own_lists],
    near_misses=[faults.keeps_a_copy_aside],
)
def inputs_by_reference(wp: WarpSubject) -> Evidence:
    x, other, y = variable(wp, 3.0), variable(wp, 5.0), variable(wp, 0.0)
    inputs = [x, 2.0]
    with wp.Tape() as tape:
        wp.launch(kernels.scale, dim=3, inputs=inputs, outputs=[y])
    inputs[:] = [other, 7.0]
    tape.backward(grads={y: ones(wp)})
    return Evidence(
        observed={"x.grad": x.grad, "other.grad": other.grad},
        expected={"x.grad": [0.0] * 3, "other.grad": [7.0] * 3},
    )


@check(
    "tape.by-reference",
    case="outputs-list",
    faults=[faults.keeps_its_own_lists],
    near_misses=[faults.keeps_a_copy_aside],
)
def outputs_by_reference(wp: WarpSubject) -> Evidence:
    x, y, other = variable(wp, 3.0), variable(wp, 0.0), variable(wp, 0.0)
    outputs = [y]
    with wp.Tape() as tape:
        wp.launch(kernels.scale, dim=3, inputs=[x, 2.0], outputs=outputs)
    outputs[0] = other
    tape.backward(grads={y: ones(wp)})
    without_seed = x.grad.numpy().tolist()
    tape.backward(grads={other: wp.full(3, 10.0, dtype=float)})
    return Evidence(
        observed={"x.grad from y": without_seed, "x.grad from other": x.grad},
        expected={"x.grad from y": [0.0] * 3, "x.grad from other": [20.0] * 3},
    )


@check(
    "tape.by-reference",
    case="struct",
    faults=[faults.keeps_its_own_structs],
    near_misses=[faults.keeps_a_copy_aside],
)
def struct_by_reference(wp: WarpSubject) -> Evidence:
    x, other, y = variable(wp, 3.0), variable(wp, 5.0), variable(wp, 0.0)
    bundle = kernels.Bundle()
    bundle.x, bundle.factor = x, 2.0
    with wp.Tape() as tape:
        wp.launch(kernels.scale_bundle, dim=3, inputs=[bundle], outputs=[y])
    bundle.x, bundle.factor = other, 7.0
    tape.backward(grads={y: ones(wp)})
    return Evidence(
        observed={"x.grad": x.grad, "other.grad": other.grad},
        expected={"x.grad": [0.0] * 3, "other.grad": [7.0] * 3},
    )


@check(
    "tape.values-not-kept",
    case="input",
    faults=[faults.keeps_the_values],
    near_misses=[faults.keeps_a_copy_aside],
)
def input_values_not_kept(wp: WarpSubject) -> Evidence:
    x, y, tape = squared(wp)
    x.fill_(5.0)
    tape.backward(grads={y: ones(wp)})
    return Evidence(observed={"y": y, "x.grad": x.grad}, expected={"y": [9.0] * 3, "x.grad": [10.0] * 3})


@check(
    "tape.values-not-kept",
    case="reused-buffer",
    faults=[faults.keeps_the_values],
    near_misses=[faults.keeps_a_copy_aside],
)
def buffer_values_not_kept(wp: WarpSubject) -> Evidence:
    """y = (2x)², and its buffer 2x overwritten by 5x within the tape: 60 instead of dy/dx = 8x = 24."""
    x, buffer, y = variable(wp, 3.0), variable(wp, 0.0), variable(wp, 0.0)
    with wp.Tape() as tape:
        wp.launch(kernels.scale, dim=3, inputs=[x, 2.0], outputs=[buffer])
        wp.launch(kernels.square, dim=3, inputs=[buffer], outputs=[y])
        wp.launch(kernels.scale, dim=3, inputs=[x, 5.0], outputs=[buffer])
    tape.backward(grads={y: ones(wp)})
    return Evidence(observed={"y": y, "x.grad": x.grad}, expected={"y": [36.0] * 3, "x.grad": [60.0] * 3})


@check(
    "tape.launch-object",
    faults=[faults.records_launch_objects, faults.warns_of_launch_objects],
    near_misses=[faults.makes_launch_objects_aside],
)
def launch_object(wp: WarpSubject) -> Evidence:
    x, y = variable(wp, 3.0), variable(wp, 0.0)
    with captured() as text:
        with wp.Tape() as tape:
            command = wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y], record_cmd=True)
            command.launch()
        tape.backward(grads={y: ones(wp)})
        message = text()
    return Evidence(
        observed={"y": y, "launches on the tape": len(tape.launches), "x.grad": x.grad, "message": message},
        expected={"y": [9.0] * 3, "launches on the tape": 0, "x.grad": [0.0] * 3, "message": ""},
    )


@check(
    "tape.process-global",
    case="launch",
    faults=[faults.records_its_own_thread],
    near_misses=[faults.launches_one_at_a_time],
)
def launch_on_another_thread(wp: WarpSubject) -> Evidence:
    x, y = variable(wp, 3.0), variable(wp, 0.0)
    with wp.Tape() as tape:
        on_another_thread(lambda: wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y]))
    tape.backward(grads={y: ones(wp)})
    return Evidence(
        observed={"launches on the tape": len(tape.launches), "x.grad": x.grad},
        expected={"launches on the tape": 1, "x.grad": [6.0] * 3},
    )


@check(
    "tape.process-global",
    case="enter",
    faults=[faults.enters_on_its_own_thread],
    near_misses=[faults.launches_one_at_a_time],
)
def enter_on_another_thread(wp: WarpSubject) -> Evidence:
    with wp.Tape():
        outcome = on_another_thread(lambda: outcome_of(lambda: enter_and_leave(wp)))
    return Evidence(observed={"entering": outcome}, expected={"entering": re.compile("RuntimeError: .*already active")})


def enter_and_leave(wp: WarpSubject) -> None:
    with wp.Tape():
        pass


@check(
    "tape.nested",
    case="caught",
    isolated=True,
    faults=[faults.suspends_the_outer_tape],
    near_misses=[faults.notes_who_enters],
)
def nested_and_caught(wp: WarpSubject) -> Evidence:
    """The error is caught inside the outer scope, which goes on."""
    x, y = variable(wp, 3.0), variable(wp, 0.0)
    with wp.Tape() as tape:
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y])
        entering = outcome_of(lambda: enter_and_leave(wp))
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y])
    return Evidence(observed={"entering": entering, "launches on the outer tape": len(tape.launches)})


@check(
    "tape.nested",
    case="unwound",
    isolated=True,
    faults=[faults.keeps_the_outer_tape_open],
    near_misses=[faults.notes_who_enters],
)
def nested_and_unwound(wp: WarpSubject) -> Evidence:
    """The error leaves the outer scope too, and closes it."""
    x, y = variable(wp, 3.0), variable(wp, 0.0)
    tape = wp.Tape()

    def nest() -> None:
        with tape:
            wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y])
            enter_and_leave(wp)

    entering = outcome_of(nest)
    wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y])
    return Evidence(observed={"entering": entering, "launches on the outer tape": len(tape.launches)})


@check(
    "tape.nested",
    case="left-unentered",
    isolated=True,
    faults=[faults.leaves_only_itself],
    near_misses=[faults.notes_who_enters],
)
def nested_and_left(wp: WarpSubject) -> Evidence:
    """The inner tape is left although it could not be entered, as a `finally` does."""
    x, y = variable(wp, 3.0), variable(wp, 0.0)
    outer, inner = wp.Tape(), wp.Tape()
    outer.__enter__()
    outcome_of(inner.__enter__)
    leaving = {"the inner": outcome_of(lambda: inner.__exit__(None, None, None))}
    wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y])
    leaving["the outer"] = outcome_of(lambda: outer.__exit__(None, None, None))
    return Evidence(observed={"leaving": leaving, "launches on the outer tape": len(outer.launches)})


@check(
    "tape.backward-on-tape",
    case="launch",
    faults=[faults.records_no_adjoint_launch],
    near_misses=[faults.walks_a_copied_list],
)
def backward_on_tape(wp: WarpSubject) -> Evidence:
    """The outer tape replays what it recorded as if the adjoint launch had been a forward one."""
    x, y, tape = squared(wp)
    with wp.Tape() as outer:
        tape.backward(grads={y: ones(wp)})
    inner_gradient = x.grad.numpy().tolist()
    y.grad.fill_(1.0)
    outer.backward()
    return Evidence(
        observed={
            "launches on the outer tape": len(outer.launches),
            "x.grad": inner_gradient,
            "x.grad after the outer backward": x.grad,
        }
    )


@check(
    "tape.backward-on-tape",
    case="function",
    faults=[faults.runs_recorded_functions_off_tape],
    near_misses=[faults.walks_a_copied_list],
)
def backward_of_a_function_on_tape(wp: WarpSubject) -> Evidence:
    """A recorded function that launches a kernel, in a backward on the outer tape."""
    x, y = variable(wp, 3.0), variable(wp, 0.0)
    tape = wp.Tape()
    tape.record_func(lambda: wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y]), [x, y])
    with wp.Tape() as outer:
        tape.backward()
    return Evidence(observed={"launches on the outer tape": len(outer.launches), "y": y})
