"""Where backward takes its incoming gradients from, and what becomes of the arrays that carry them."""

import re
import weakref
from collections.abc import Callable
from typing import Any

from tapecheck.contract import Blocked, Evidence, check, outcome_of
from tapecheck.contracts.tape import kernels
from tapecheck.contracts.tape.arrays import leaves, seed
from tapecheck.faults.tape import seeding as faults
from tapecheck.subjects.warp import WarpSubject


def _squared(wp: WarpSubject, y: Any) -> tuple[Any, Any]:
    """A tape on which y = x² at x = 3, and x."""
    (x,) = leaves(wp, 3.0)
    with wp.Tape() as tape:
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y])
    return tape, x


@check(
    "tape.preset-gradient",
    faults=[faults.bare_backward_does_nothing],
    near_misses=[faults.bare_backward_passes_no_grads],
)
def preset_gradient(wp: WarpSubject) -> Evidence:
    (y,) = leaves(wp, 0.0)
    tape, x = _squared(wp, y)
    y.grad = wp.ones_like(y)
    tape.backward()
    return Evidence(observed={"x.grad": x.grad}, expected={"x.grad": [6.0] * 3})


@check(
    "tape.loss-seeds-one",
    faults=[faults.seeds_the_value_of_the_loss, faults.adds_one_to_the_seed],
    near_misses=[faults.passes_the_loss_by_name],
)
def loss_seeds_one(wp: WarpSubject) -> Evidence:
    (x,) = leaves(wp, 3.0)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernels.total, dim=3, inputs=[x], outputs=[loss])
    loss.grad.fill_(7.0)
    tape.backward(loss)
    return Evidence(observed={"loss": loss, "x.grad": x.grad}, expected={"loss": [9.0], "x.grad": [1.0] * 3})


LOSSES: dict[str, tuple[Callable[[WarpSubject], Any], str]] = {
    "two-elements": (lambda wp: wp.zeros(2, dtype=float, requires_grad=True), "scalar|single|one element"),
    "vector": (lambda wp: wp.zeros(1, dtype=wp.vec3, requires_grad=True), "scalar|single|one element"),
    "without-gradient": (lambda wp: wp.zeros(1, dtype=float), "requires_grad"),
}


@check(
    "tape.loss-single-element",
    cases=LOSSES,
    faults=[faults.takes_any_loss, faults.refuses_the_loss_too_late],
    near_misses=[faults.refuses_with_another_error],
)
def loss_single_element(wp: WarpSubject, loss_case: tuple[Callable[[WarpSubject], Any], str]) -> Evidence:
    make_loss, wording = loss_case
    (y,) = leaves(wp, 0.0)
    tape, x = _squared(wp, y)
    y.grad.fill_(1.0)
    loss = make_loss(wp)
    return Evidence(
        observed={"error": outcome_of(lambda: tape.backward(loss)), "x.grad": x.grad, "y.grad": y.grad},
        expected={"error": re.compile(rf"Error: .*({wording})"), "x.grad": [0.0] * 3, "y.grad": [1.0] * 3},
    )


@check(
    "tape.grads-assigned",
    faults=[faults.copies_every_seed],
    near_misses=[faults.applies_seeds_by_hand],
)
def grads_assigned(wp: WarpSubject) -> Evidence:
    y = wp.zeros(3, dtype=float)
    tape, x = _squared(wp, y)
    incoming = seed(wp)
    tape.backward(grads={y: incoming})
    return Evidence(
        observed={"y.grad is the seed": y.grad is incoming, "x.grad": x.grad},
        expected={"y.grad is the seed": True, "x.grad": [6.0] * 3},
    )


@check(
    "tape.grads-copied",
    faults=[faults.adopts_every_seed, faults.clears_the_seed],
    near_misses=[faults.applies_seeds_by_hand],
)
def grads_copied(wp: WarpSubject) -> Evidence:
    (y,) = leaves(wp, 0.0)
    tape, x = _squared(wp, y)
    incoming, buffer, pointer = seed(wp, 2.0), y.grad, y.grad.ptr
    tape.backward(grads={y: incoming})
    return Evidence(
        observed={
            "y.grad is its old buffer": y.grad is buffer,
            "the buffer has moved": y.grad.ptr != pointer,
            "seed": incoming,
            "x.grad": x.grad,
        },
        expected={
            "y.grad is its old buffer": True,
            "the buffer has moved": False,
            "seed": [2.0] * 3,
            "x.grad": [12.0] * 3,
        },
    )


def _external_seed(wp: WarpSubject, y: Any, expected: dict[str, Any]) -> Evidence:
    """Runs backward with a tensor of torch as the seed of y = x²; evidence of what `expected` names."""
    import torch

    device = str(wp.device_to_torch(wp.get_device()))
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise Blocked("the installed torch has no CUDA")
    tape, x = _squared(wp, y)
    grad_output = torch.ones(3, device=device)
    tape.backward(grads={y: wp.from_torch(grad_output)})
    seen = {
        "grad_output": grad_output.tolist(),
        "y.grad is its memory": y.grad.ptr == grad_output.data_ptr(),
        "x.grad": x.grad,
    }
    kept = weakref.ref(grad_output)
    del grad_output
    seen["kept alive"] = kept() is not None
    return Evidence(observed={name: seen[name] for name in expected}, expected=expected)


@check(
    "tape.external-buffer-retained",
    needs=[":torch"],
    faults=[faults.copies_every_seed],
    near_misses=[faults.applies_seeds_by_hand],
)
def external_buffer_retained(wp: WarpSubject) -> Evidence:
    y = wp.zeros(3, dtype=float)
    return _external_seed(wp, y, {"y.grad is its memory": True, "kept alive": True, "x.grad": [6.0] * 3})


@check(
    "tape.external-buffer-overwritten",
    needs=[":torch"],
    faults=[faults.copies_every_seed, faults.restores_every_seed],
    near_misses=[faults.passes_a_copied_dict],
)
def external_buffer_overwritten(wp: WarpSubject) -> Evidence:
    y = wp.zeros(3, dtype=float)
    return _external_seed(wp, y, {"grad_output": [0.0] * 3, "x.grad": [6.0] * 3})


@check(
    "tape.external-buffer-isolated",
    needs=[":torch"],
    faults=[faults.adopts_every_seed, faults.clears_the_seed, faults.holds_on_to_the_seed],
    near_misses=[faults.passes_a_copied_dict],
)
def external_buffer_isolated(wp: WarpSubject) -> Evidence:
    y = wp.zeros(3, dtype=float)
    y.grad = wp.zeros(3, dtype=float)
    expected = {"grad_output": [1.0] * 3, "y.grad is its memory": False, "kept alive": False, "x.grad": [6.0] * 3}
    return _external_seed(wp, y, expected)


@check(
    "tape.multiple-seeds",
    faults=[faults.seeds_the_first_array_alone],
    near_misses=[faults.seeds_in_reverse_order],
)
def multiple_seeds(wp: WarpSubject) -> Evidence:
    x, doubled, squared, tripled = leaves(wp, 3.0, 0.0, 0.0, 0.0)
    with wp.Tape() as tape:
        wp.launch(kernels.scale, dim=3, inputs=[x, 2.0], outputs=[doubled])
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[squared])
        wp.launch(kernels.scale, dim=3, inputs=[x, 3.0], outputs=[tripled])
    tape.backward(grads={doubled: seed(wp), squared: seed(wp, 10.0), tripled: seed(wp, 100.0)})
    return Evidence(observed={"x.grad": x.grad}, expected={"x.grad": [362.0] * 3})


@check(
    "tape.loss-with-grads",
    cases={"different-arrays": "squared", "same-array": "loss"},
    faults=[faults.the_loss_excludes_grads],
    near_misses=[faults.passes_a_copied_dict],
)
def loss_with_grads(wp: WarpSubject, seeded: str) -> Evidence:
    x, squared = leaves(wp, 3.0, 0.0)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[squared])
        wp.launch(kernels.total, dim=3, inputs=[x], outputs=[loss])
    grads = {"squared": {squared: seed(wp, 10.0)}, "loss": {loss: wp.full(1, 5.0, dtype=float)}}
    return Evidence(
        observed={"outcome": outcome_of(lambda: tape.backward(loss, grads=grads[seeded])), "x.grad": x.grad}
    )
