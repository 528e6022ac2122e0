"""Seeds that do not fit, losses that count as none, kernels without backward, launches and arrays of size zero."""

import re
from collections.abc import Callable
from typing import Any

from tapecheck.capture import captured
from tapecheck.contract import Evidence, check, outcome_of
from tapecheck.contracts.tape import forward_only, kernels
from tapecheck.contracts.tape.hazards import ones, squared, variable
from tapecheck.faults.tape import edge_cases as faults
from tapecheck.subjects.warp import WarpSubject


def said(action: Callable[[], Any]) -> dict[str, str]:
    """What an action comes to, and what is written meanwhile."""
    with captured() as text:
        outcome = outcome_of(action)
        return {"backward": outcome, "message": text()}


@check(
    "tape.unrelated-seed",
    cases={"grads": True, "grads-without-gradient": False},
    faults=[faults.refuses_unrelated_seeds, faults.warns_of_unrelated_seeds],
    near_misses=[faults.copies_the_seed_dictionary],
)
def unrelated_seed(wp: WarpSubject, requires_grad: bool) -> Evidence:
    x, _, tape = squared(wp)
    other = wp.zeros(3, dtype=float, requires_grad=requires_grad)
    spoken = said(lambda: tape.backward(grads={other: ones(wp)}))
    return Evidence(observed={**spoken, "x.grad": x.grad, "other.grad": other.grad})


@check(
    "tape.unrelated-seed",
    case="loss",
    faults=[faults.refuses_unrelated_seeds, faults.warns_of_unrelated_seeds],
    near_misses=[faults.copies_the_seed_dictionary],
)
def unrelated_loss(wp: WarpSubject) -> Evidence:
    x, _, tape = squared(wp)
    other = variable(wp, 0.0, size=1)
    spoken = said(lambda: tape.backward(other))
    return Evidence(observed={**spoken, "x.grad": x.grad, "other.grad": other.grad})


@check(
    "tape.short-seed",
    cases={
        "short-copied": (2, True),
        "short-assigned": (2, False),
        "long-copied": (4, True),
        "long-assigned": (4, False),
    },
    faults=[faults.stretches_seeds],
    near_misses=[faults.copies_the_seed_dictionary],
)
def seed_of_another_length(wp: WarpSubject, seed: tuple[int, bool]) -> Evidence:
    """A seed of another length than the output's three, copied into its gradient or assigned where it has none."""
    size, has_gradient = seed
    x, y = variable(wp, 3.0), wp.zeros(3, dtype=float, requires_grad=has_gradient)
    with wp.Tape() as tape:
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y])
    spoken = said(lambda: tape.backward(grads={y: ones(wp, size)}))
    return Evidence(observed={**spoken, "x.grad": x.grad})


@check(
    "tape.no-seed",
    faults=[faults.refuses_missing_seeds, faults.seeds_everything_with_one],
    near_misses=[faults.passes_the_loss_by_name],
)
def no_seed(wp: WarpSubject) -> Evidence:
    x, _, tape = squared(wp)
    return Evidence(observed={**said(lambda: tape.backward()), "x.grad": x.grad})


FALSY: dict[str, Callable[[WarpSubject], Any]] = {
    "empty": lambda wp: wp.zeros(0, dtype=float, requires_grad=True),
    "empty-without-gradient": lambda wp: wp.zeros(0, dtype=float),
    "empty-vector": lambda wp: wp.zeros(0, dtype=wp.vec3, requires_grad=True),
    "number": lambda wp: 0.0,
}


@check(
    "tape.falsy-loss",
    cases=FALSY,
    faults=[faults.refuses_falsy_losses],
    near_misses=[faults.passes_the_loss_by_name],
)
def falsy_loss(wp: WarpSubject, loss: Callable[[WarpSubject], Any]) -> Evidence:
    x, _, tape = squared(wp)
    return Evidence(observed={**said(lambda: tape.backward(loss(wp))), "x.grad": x.grad})


@check(
    "tape.backward-disabled",
    cases={"kernel": kernels.square_forward_only, "module": forward_only.square},
    faults=[faults.is_silent_about_disabled_kernels, faults.differentiates_disabled_kernels],
    near_misses=[faults.warns_on_standard_output],
)
def backward_disabled(wp: WarpSubject, kernel: Any) -> Evidence:
    x, y, tape = squared(wp, kernel)
    spoken = said(lambda: tape.backward(grads={y: ones(wp)}))
    return Evidence(
        observed={**spoken, "y": y, "x.grad": x.grad},
        expected={
            "backward": "no error",
            "message": re.compile(f"{kernel.key}.*enable_backward=False"),
            "y": [9.0] * 3,
            "x.grad": [0.0] * 3,
        },
    )


@check(
    "tape.empty-launch",
    cases={"zero": 0, "zero-axis": (3, 0)},
    faults=[faults.skips_empty_launches, faults.runs_empty_launches_once],
    near_misses=[faults.launches_with_a_tuple],
)
def empty_launch(wp: WarpSubject, dim: Any) -> Evidence:
    x, y = variable(wp, 3.0), variable(wp, 0.0)
    with wp.Tape() as tape:
        wp.launch(kernels.square, dim=dim, inputs=[x], outputs=[y])
    tape.backward(grads={y: ones(wp)})
    return Evidence(observed={"launches on the tape": len(tape.launches), "y": y, "x.grad": x.grad, "y.grad": y.grad})


@check(
    "tape.empty-launch",
    case="negative",
    isolated=True,
    faults=[faults.takes_negative_sizes_for_zero],
    near_misses=[faults.launches_with_a_tuple],
)
def negative_launch(wp: WarpSubject) -> Evidence:
    x, y = variable(wp, 3.0), variable(wp, 0.0)
    with wp.Tape() as tape:
        launching = outcome_of(lambda: wp.launch(kernels.square, dim=-1, inputs=[x], outputs=[y]))
    return Evidence(observed={"launching": launching, "launches on the tape": len(tape.launches)})


@check(
    "tape.empty-array",
    case="adjoint",
    faults=[faults.gives_empty_arrays_their_gradient],
    near_misses=[faults.makes_empty_arrays_aside],
)
def adjoint_of_an_empty_array(wp: WarpSubject) -> Evidence:
    x = wp.zeros(0, dtype=float, requires_grad=True)
    return Evidence(
        observed={"true": bool(x), "x.grad": x.grad, "adjoint": wp.Tape().get_adjoint(x)},
        expected={"true": False, "x.grad": [], "adjoint": None},
    )


@check(
    "tape.empty-array",
    case="gradients",
    faults=[faults.gives_empty_arrays_their_gradient],
    near_misses=[faults.makes_empty_arrays_aside],
)
def gradients_of_empty_arrays(wp: WarpSubject) -> Evidence:
    x, y = (wp.zeros(0, dtype=float, requires_grad=True) for _ in "xy")
    with wp.Tape() as tape:
        wp.launch(kernels.square, dim=0, inputs=[x], outputs=[y])
    tape.backward(grads={y: ones(wp, 0)})
    return Evidence(
        observed={"x in gradients": x in tape.gradients, "y in gradients": y in tape.gradients},
        expected={"x in gradients": False, "y in gradients": False},
    )


@check(
    "tape.empty-array",
    case="record-func",
    faults=[faults.records_functions_of_empty_arrays],
    near_misses=[faults.makes_empty_arrays_aside],
)
def function_of_an_empty_array(wp: WarpSubject) -> Evidence:
    x = wp.zeros(0, dtype=float, requires_grad=True)
    outcome = outcome_of(lambda: wp.Tape().record_func(lambda: None, [x]))
    return Evidence(
        observed={"record_func": outcome},
        expected={"record_func": re.compile("RuntimeError: Array .* missing a gradient array")},
    )


@check(
    "tape.refused-func-stays",
    faults=[faults.forgets_refused_functions],
    near_misses=[faults.names_recorded_functions],
)
def refused_function_stays(wp: WarpSubject) -> Evidence:
    plain, calls = wp.zeros(3, dtype=float), []
    tape = wp.Tape()
    outcome = outcome_of(lambda: tape.record_func(lambda: calls.append("called"), [plain]))
    tape.backward()
    return Evidence(
        observed={"record_func": outcome, "calls in backward": len(calls)},
        expected={"record_func": re.compile("RuntimeError: Array .* missing a gradient array"), "calls in backward": 1},
    )
