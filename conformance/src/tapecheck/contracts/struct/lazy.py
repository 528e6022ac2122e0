"""When a struct's fields are read: the tape holds the struct, and backward reads what is in it then."""

import gc
import weakref
from typing import Any, NamedTuple

from tapecheck.contract import Evidence, check
from tapecheck.contracts.struct import kernels
from tapecheck.faults.struct import lazy as faults
from tapecheck.subjects.warp import WarpSubject


class Form(NamedTuple):
    """A way of making two calls: the struct's type, the kernel that squares its array, the number of tapes."""

    struct: Any
    kernel: Any
    tapes: int

    def filled(self, x: Any, struct: Any = None) -> Any:
        """The struct, or a fresh one, with its array field set."""
        struct = struct or self.struct()
        (struct.inner if self.struct is kernels.Outer else struct).x = x
        return struct


FORMS = {
    "two-tapes": Form(kernels.Source, kernels.square_field, 2),
    "one-tape": Form(kernels.Source, kernels.square_field, 1),
    "nested-struct": Form(kernels.Outer, kernels.square_nested_field, 2),
}


def two_calls(wp: WarpSubject, form: Form, refill: bool) -> dict[str, Any]:
    """Squares a = 3 and b = 5 through one struct filled twice, or through two structs, then differentiates both."""
    a, b, y_a, y_b = (wp.full(3, value, dtype=float, requires_grad=True) for value in (3.0, 5.0, 0.0, 0.0))
    tapes = [wp.Tape() for _ in range(form.tapes)]
    struct = form.filled(a)
    with tapes[0]:
        wp.launch(form.kernel, dim=3, inputs=[struct], outputs=[y_a])
    struct = form.filled(b, struct if refill else None)
    with tapes[-1]:
        wp.launch(form.kernel, dim=3, inputs=[struct], outputs=[y_b])
    seeds = {y: wp.ones(3, dtype=float) for y in (y_a, y_b)}
    for tape, outputs in zip(tapes, [(y_a,), (y_b,)] if form.tapes == 2 else [(y_a, y_b)], strict=True):
        tape.backward(grads={y: seeds[y] for y in outputs})
    return {"y_a": y_a, "y_b": y_b, "a.grad": a.grad, "b.grad": b.grad}


@check(
    "struct.lazy-read",
    faults=[faults.launch_copies_structs],
    near_misses=[faults.tape_copies_argument_lists],
    cases=FORMS,
)
def lazy_read(wp: WarpSubject, form: Form) -> Evidence:
    return Evidence(
        observed=two_calls(wp, form, refill=True),
        expected={"y_a": [9.0] * 3, "y_b": [25.0] * 3, "a.grad": [0.0] * 3, "b.grad": [20.0] * 3},
    )


@check(
    "struct.fresh-is-safe",
    faults=[faults.launch_pools_structs],
    near_misses=[faults.launch_copies_structs],
    cases=FORMS,
)
def fresh_is_safe(wp: WarpSubject, form: Form) -> Evidence:
    return Evidence(
        observed=two_calls(wp, form, refill=False),
        expected={"y_a": [9.0] * 3, "y_b": [25.0] * 3, "a.grad": [6.0] * 3, "b.grad": [10.0] * 3},
    )


@check(
    "struct.plain-args-eager",
    faults=[faults.tape_refills_one_list, faults.tape_holds_copies],
    near_misses=[faults.tape_copies_argument_lists],
)
def plain_args_eager(wp: WarpSubject) -> Evidence:
    x, other, y, y_other = (wp.full(3, value, dtype=float, requires_grad=True) for value in (3.0, 5.0, 0.0, 0.0))
    first, gradient, second = weakref.ref(x), x.grad, other.grad
    with wp.Tape() as tape:
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y])
        x = other
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y_other])
    held = first() is not None
    tape.backward(grads={output: wp.ones(3, dtype=float) for output in (y, y_other)})
    return Evidence(
        observed={"first array held": held, "first.grad": gradient, "second.grad": second},
        expected={"first array held": True, "first.grad": [6.0] * 3, "second.grad": [10.0] * 3},
    )


@check(
    "struct.releases-old",
    faults=[faults.tape_keeps_field_arrays],
    near_misses=[faults.tape_copies_argument_lists],
    cases={"field": FORMS["one-tape"], "nested-field": FORMS["nested-struct"]},
)
def releases_old(wp: WarpSubject, form: Form) -> Evidence:
    x, plain, other, y, y_plain = (wp.ones(3, dtype=float, requires_grad=True) for _ in range(5))
    struct = form.filled(x)
    with wp.Tape() as tape:
        wp.launch(form.kernel, dim=3, inputs=[struct], outputs=[y])
        wp.launch(kernels.square, dim=3, inputs=[plain], outputs=[y_plain])
    watched = {"replaced field": x, "its gradient": x.grad, "plain argument": plain}
    alive = {name: weakref.ref(array) for name, array in watched.items()}
    form.filled(other, struct)
    del x, plain, watched
    gc.collect()
    return Evidence(
        observed={"launches": len(tape.launches)} | {name: array() is not None for name, array in alive.items()},
        expected={"launches": 2, "replaced field": False, "its gradient": False, "plain argument": True},
    )


@check("struct.scalar-fields", faults=[faults.launch_copies_structs], near_misses=[faults.tape_copies_argument_lists])
def scalar_fields(wp: WarpSubject) -> Evidence:
    """The kernel's derivative is factor * direction[1] = 2 * 3 at the launch, where power is 1."""
    changes = {
        "unchanged": {},
        "float": {"factor": 10.0},
        "vector": {"direction": wp.vec3(1.0, 5.0, 1.0)},
        "integer": {"power": 2},
    }
    observed = {}
    for name, change in changes.items():
        x, y = (wp.full(3, value, dtype=float, requires_grad=True) for value in (3.0, 0.0))
        scaling = kernels.Scaling()
        scaling.factor, scaling.direction, scaling.power = 2.0, wp.vec3(1.0, 3.0, 1.0), 1
        with wp.Tape() as tape:
            wp.launch(kernels.scale_by_fields, dim=3, inputs=[x, scaling], outputs=[y])
        for field, value in change.items():
            setattr(scaling, field, value)
        tape.backward(grads={y: wp.ones(3, dtype=float)})
        observed[name] = x.grad
    return Evidence(observed=observed)
