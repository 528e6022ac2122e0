"""What a tape records: launches inside its scope, in order, and whose gradients it tracks."""

from typing import Any

from tapecheck.contract import Evidence, check
from tapecheck.contracts.tape import kernels
from tapecheck.contracts.tape.arrays import factors, leaves, seed
from tapecheck.faults.tape import recording as faults
from tapecheck.subjects.warp import WarpSubject


@check(
    "tape.records-launches",
    case="chain",
    faults=[faults.replays_in_recorded_order, faults.replays_the_last_launch_alone],
    near_misses=[faults.backward_through_a_copied_list],
)
def records_chain(wp: WarpSubject) -> Evidence:
    x, a, b, y = leaves(wp, 3.0, 0.0, 0.0, 0.0)
    with wp.Tape() as tape:
        wp.launch(kernels.scale, dim=3, inputs=[x, 2.0], outputs=[a])
        wp.launch(kernels.square, dim=3, inputs=[a], outputs=[b])
        wp.launch(kernels.scale, dim=3, inputs=[b, 5.0], outputs=[y])
    tape.backward(grads={y: seed(wp)})
    return Evidence(observed={"y": y, "x.grad": x.grad}, expected={"y": [180.0] * 3, "x.grad": [120.0] * 3})


@check(
    "tape.records-launches",
    case="two-paths",
    faults=[faults.replays_in_recorded_order, faults.replays_the_last_launch_alone],
    near_misses=[faults.backward_through_a_copied_list],
)
def records_two_paths(wp: WarpSubject) -> Evidence:
    x, a, b, y = leaves(wp, 3.0, 0.0, 0.0, 0.0)
    with wp.Tape() as tape:
        wp.launch(kernels.scale, dim=3, inputs=[x, 2.0], outputs=[a])
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[b])
        wp.launch(kernels.add, dim=3, inputs=[a, b], outputs=[y])
    tape.backward(grads={y: seed(wp)})
    return Evidence(observed={"y": y, "x.grad": x.grad}, expected={"y": [15.0] * 3, "x.grad": [8.0] * 3})


@check(
    "tape.ignores-outside",
    cases={"before": (5.0, None), "after": (None, 5.0)},
    faults=[faults.records_outside_its_scope],
    near_misses=[faults.launches_outside_do_not_ask_for_the_tape],
)
def ignores_outside(wp: WarpSubject, factors_outside: tuple[float | None, float | None]) -> Evidence:
    before, after = factors_outside
    x, inside, outside = leaves(wp, 3.0, 0.0, 0.0)
    if before is not None:
        wp.launch(kernels.scale, dim=3, inputs=[x, before], outputs=[outside])
    with wp.Tape() as tape:
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[inside])
    if after is not None:
        wp.launch(kernels.scale, dim=3, inputs=[x, after], outputs=[outside])
    tape.backward(grads={inside: seed(wp), outside: seed(wp)})
    return Evidence(
        observed={"outside": outside, "x.grad": x.grad},
        expected={"outside": [15.0] * 3, "x.grad": [6.0] * 3},
    )


def _array_keys(wp: WarpSubject, gradients: dict[Any, Any], **named: Any) -> list[str]:
    names = {id(array): name for name, array in named.items()}
    return sorted(names.get(id(key), "another") for key in gradients if isinstance(key, wp.array))


@check(
    "tape.gradients-dict",
    case="arrays",
    faults=[faults.gradients_are_copies, faults.gradients_name_every_array],
    near_misses=[faults.gradients_in_an_ordered_dict],
)
def gradients_of_arrays(wp: WarpSubject) -> Evidence:
    x, y = leaves(wp, 3.0, 0.0)
    constant = seed(wp, 4.0)
    with wp.Tape() as tape:
        wp.launch(kernels.add, dim=3, inputs=[x, constant], outputs=[y])
    tape.backward(grads={y: seed(wp)})
    return Evidence(
        observed={
            "array keys": _array_keys(wp, tape.gradients, x=x, y=y, constant=constant),
            "gradients[x] is x.grad": tape.gradients.get(x) is x.grad,
            "gradients[y] is y.grad": tape.gradients.get(y) is y.grad,
            "gradients[x]": tape.gradients.get(x),
        },
        expected={
            "array keys": ["x", "y"],
            "gradients[x] is x.grad": True,
            "gradients[y] is y.grad": True,
            "gradients[x]": [1.0] * 3,
        },
    )


@check(
    "tape.gradients-dict",
    case="struct",
    faults=[faults.gradients_name_no_struct, faults.gradients_are_copies],
    near_misses=[faults.gradients_in_an_ordered_dict],
)
def gradients_of_structs(wp: WarpSubject) -> Evidence:
    s = factors(wp, 2.0, 3.0)
    s.b = constant = seed(wp, 3.0)
    (y,) = leaves(wp, 0.0)
    with wp.Tape() as tape:
        wp.launch(kernels.multiply_factors, dim=3, inputs=[s], outputs=[y])
    tape.backward(grads={y: seed(wp)})
    mirrored = tape.gradients.get(s)
    return Evidence(
        observed={
            "array keys": _array_keys(wp, tape.gradients, a=s.a, b=constant, y=y),
            "gradients[s.a] is s.a.grad": tape.gradients.get(s.a) is s.a.grad,
            "gradients[s] is a mirrored struct": type(mirrored) is type(s) and mirrored is not s,
            "gradients[s].a": getattr(mirrored, "a", None),
        },
        expected={
            "array keys": ["a", "y"],
            "gradients[s.a] is s.a.grad": True,
            "gradients[s] is a mirrored struct": True,
            "gradients[s].a": [15.0] * 3,
        },
    )
