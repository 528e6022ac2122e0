"""What `zero`, `reset` and a second backward do to gradients."""

from typing import Any

from tapecheck.contract import Evidence, check
from tapecheck.contracts.tape import kernels
from tapecheck.contracts.tape.arrays import factors, leaves, seed, tree, values
from tapecheck.faults.tape import clearing as faults
from tapecheck.faults.tape.seeding import seeds_in_reverse_order
from tapecheck.subjects.warp import WarpSubject


def _before_and_after_zero(tape: Any, arrays: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The gradients of these arrays before `zero` and after it."""
    before = {f"{name}.grad": values(array.grad) for name, array in arrays.items()}
    tape.zero()
    return {"before": before, "after": {f"{name}.grad": array.grad for name, array in arrays.items()}}


@check(
    "tape.zero",
    case="arrays",
    faults=[faults.zero_forgets_instead, faults.zero_clears_the_first_alone],
    near_misses=[faults.zero_twice],
)
def zero_arrays(wp: WarpSubject) -> Evidence:
    a, b, y = leaves(wp, 2.0, 3.0, 0.0)
    with wp.Tape() as tape:
        wp.launch(kernels.add, dim=3, inputs=[a, b], outputs=[y])
    tape.backward(grads={y: seed(wp)})
    return Evidence(
        observed=_before_and_after_zero(tape, {"a": a, "b": b}),
        expected={
            "before": {"a.grad": [1.0] * 3, "b.grad": [1.0] * 3},
            "after": {"a.grad": [0.0] * 3, "b.grad": [0.0] * 3},
        },
    )


@check(
    "tape.zero",
    case="struct",
    faults=[faults.zero_forgets_instead, faults.zero_skips_the_arrays_of_structs],
    near_misses=[faults.zero_twice],
)
def zero_struct(wp: WarpSubject) -> Evidence:
    s = factors(wp, 2.0, 3.0)
    (y,) = leaves(wp, 0.0)
    with wp.Tape() as tape:
        wp.launch(kernels.multiply_factors, dim=3, inputs=[s], outputs=[y])
    tape.backward(grads={y: seed(wp)})
    return Evidence(
        observed=_before_and_after_zero(tape, {"a": s.a, "b": s.b}),
        expected={
            "before": {"a.grad": [15.0] * 3, "b.grad": [10.0] * 3},
            "after": {"a.grad": [0.0] * 3, "b.grad": [0.0] * 3},
        },
    )


@check(
    "tape.zero",
    case="nested-struct",
    faults=[faults.zero_forgets_instead, faults.zero_skips_the_arrays_of_structs],
    near_misses=[faults.zero_twice],
)
def zero_nested_struct(wp: WarpSubject) -> Evidence:
    t = tree(wp, 2.0, 3.0, 5.0, 7.0)
    (y,) = leaves(wp, 0.0)
    with wp.Tape() as tape:
        wp.launch(kernels.multiply_tree, dim=3, inputs=[t], outputs=[y])
    tape.backward(grads={y: seed(wp)})
    inner = t.branch.factors
    arrays = {"a": inner.a, "b": inner.b, "c": t.branch.c, "d": t.d}
    gradients = {"a.grad": 105.0, "b.grad": 70.0, "c.grad": 42.0, "d.grad": 30.0}
    return Evidence(
        observed=_before_and_after_zero(tape, arrays),
        expected={
            "before": {name: [value] * 3 for name, value in gradients.items()},
            "after": {name: [0.0] * 3 for name in gradients},
        },
    )


@check(
    "tape.zero",
    case="adopted-seed",
    faults=[faults.zero_forgets_instead, faults.zero_skips_outputs],
    near_misses=[faults.zero_twice],
)
def zero_adopted_seed(wp: WarpSubject) -> Evidence:
    (x,) = leaves(wp, 3.0)
    y, incoming = wp.zeros(3, dtype=float), seed(wp)
    with wp.Tape() as tape:
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y])
    tape.backward(grads={y: incoming})
    incoming.fill_(7.0)
    tape.zero()
    return Evidence(observed={"seed": incoming}, expected={"seed": [0.0] * 3})


@check(
    "tape.reset",
    faults=[faults.reset_keeps_the_launches, faults.reset_keeps_the_gradients],
    near_misses=[faults.reset_zeroes_first],
)
def reset(wp: WarpSubject) -> Evidence:
    x, y = leaves(wp, 3.0, 0.0)
    with wp.Tape() as tape:
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y])
    tape.backward(grads={y: seed(wp)})
    steps = {"x.grad": values(x.grad)}
    tape.reset()
    steps["x.grad after reset"] = values(x.grad)
    tape.backward(grads={y: seed(wp)})
    steps["x.grad after another backward"] = values(x.grad)
    return Evidence(
        observed=steps,
        expected={
            "x.grad": [6.0] * 3,
            "x.grad after reset": [0.0] * 3,
            "x.grad after another backward": [0.0] * 3,
        },
    )


@check(
    "tape.backward-twice-accumulates",
    cases={"one-launch": 1, "chain": 2},
    faults=[faults.backward_starts_from_zero, faults.zero_forgets_instead],
    near_misses=[seeds_in_reverse_order],
)
def backward_twice(wp: WarpSubject, launches: int) -> Evidence:
    x, *others = leaves(wp, 1.0, *[0.0] * launches)
    chain = [x, *others]
    with wp.Tape() as tape:
        for source, target in zip(chain, others, strict=False):
            wp.launch(kernels.scale, dim=3, inputs=[source, 3.0], outputs=[target])
    steps = {}
    for step in ("first", "second", "zeroed between"):
        if step == "zeroed between":
            tape.zero()
        tape.backward(grads={others[-1]: seed(wp)})
        steps[step] = values(x.grad)
    once = 3.0**launches
    return Evidence(
        observed=steps,
        expected={"first": [once] * 3, "second": [2.0 * once] * 3, "zeroed between": [once] * 3},
    )
