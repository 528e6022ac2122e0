"""Gradients that stay: with `retain_grad`, of inputs, and of seeds that are used twice."""

from collections.abc import Callable
from typing import Any

from tapecheck.contract import Evidence, check
from tapecheck.contracts.retain_grad import kernels
from tapecheck.contracts.retain_grad.arrays import SEED, leaves, output, times
from tapecheck.faults.retain_grad import keeping as faults
from tapecheck.subjects.warp import WarpSubject

RETAINING = ("zeros(retain_grad)",)


@check(
    "retain.preserved",
    cases={
        "store": lambda wp, x, y: wp.launch(kernels.double, dim=4, inputs=[x], outputs=[y]),
        "add-assign": lambda wp, x, y: wp.launch(kernels.add_assign, dim=4, inputs=[x], outputs=[y]),
        "copy": lambda wp, x, y: (wp.copy(y, x), wp.launch(kernels.add_assign, dim=4, inputs=[x], outputs=[y])),
    },
    needs=RETAINING,
    faults=[faults.outputs_are_consumed_at_the_end],
    near_misses=[faults.replays_with_idle_functions],
)
def preserved(wp: WarpSubject, write: Callable[..., Any]) -> Evidence:
    (x,), y = leaves(wp, 1), output(wp, retain_grad=True)
    with wp.Tape() as tape:
        write(wp, x, y)
    tape.backward(grads={y: wp.array(SEED, dtype=float)})
    return Evidence(observed={"y.grad": y.grad}, expected={"y.grad": SEED})


@check(
    "retain.preserved",
    case="components",
    needs=RETAINING,
    faults=[faults.outputs_are_consumed_at_the_end],
    near_misses=[faults.replays_with_idle_functions],
)
def components_preserved(wp: WarpSubject) -> Evidence:
    (x,), y = leaves(wp, 1, 2), wp.zeros(2, dtype=wp.vec3, requires_grad=True, retain_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernels.vector_by_index, dim=2, inputs=[x], outputs=[y])
    tape.backward(grads={y: wp.array([[1.0, 10.0, 100.0]] * 2, dtype=wp.vec3)})
    return Evidence(observed={"y.grad": y.grad}, expected={"y.grad": [[1.0, 10.0, 100.0]] * 2})


@check(
    "retain.intermediate-preserved",
    needs=RETAINING,
    faults=[faults.outputs_are_consumed_at_the_end, faults.retaining_producers_replay_twice],
    near_misses=[faults.replays_a_copied_list],
)
def intermediate_preserved(wp: WarpSubject) -> Evidence:
    (x,), between, y = leaves(wp, 1), output(wp, retain_grad=True), output(wp)
    with wp.Tape() as tape:
        wp.launch(kernels.double, dim=4, inputs=[x], outputs=[between])
        wp.launch(kernels.triple, dim=4, inputs=[between], outputs=[y])
    tape.backward(grads={y: wp.array(SEED, dtype=float)})
    return Evidence(
        observed={"between.grad": between.grad, "x.grad": x.grad},
        expected={"between.grad": times(3.0), "x.grad": times(6.0)},
    )


@check(
    "retain.inputs-unaffected",
    cases={"without": {}, "with": {"retain_grad": True}},
    needs=lambda options: ("ones(retain_grad)",) if options else (),
    faults=[faults.inputs_are_consumed_at_the_end],
    near_misses=[faults.replays_with_idle_functions],
)
def inputs_unaffected(wp: WarpSubject, options: dict[str, bool]) -> Evidence:
    x, y, z = wp.ones(4, dtype=float, requires_grad=True, **options), output(wp), output(wp)
    with wp.Tape() as tape:
        wp.launch(kernels.double, dim=4, inputs=[x], outputs=[y])
        wp.launch(kernels.triple, dim=4, inputs=[x], outputs=[z])
    tape.backward(grads={each: wp.array(SEED, dtype=float) for each in (y, z)})
    return Evidence(observed={"x.grad": x.grad}, expected={"x.grad": times(5.0)})


@check(
    "retain.double-count",
    cases={"two-launches": 2, "five-launches": 5},
    needs=RETAINING,
    faults=[faults.zeros_drops_the_flag],
    near_misses=[faults.replays_with_idle_functions],
)
def double_count(wp: WarpSubject, count: int) -> Evidence:
    (x,), y = leaves(wp, 1), output(wp, retain_grad=True)
    with wp.Tape() as tape:
        for _ in range(count):
            wp.launch(kernels.double, dim=4, inputs=[x], outputs=[y])
    tape.backward(grads={y: wp.array(SEED, dtype=float)})
    return Evidence(observed={"y": y, "x.grad": x.grad}, expected={"y": [2.0] * 4, "x.grad": times(2.0 * count)})


@check(
    "retain.double-count",
    case="one-kernel",
    needs=RETAINING,
    faults=[faults.zeros_drops_the_flag],
    near_misses=[faults.replays_with_idle_functions],
)
def double_count_in_kernel(wp: WarpSubject) -> Evidence:
    (x,), y = leaves(wp, 1), output(wp, retain_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernels.double_then_triple, dim=4, inputs=[x, x], outputs=[y])
    tape.backward(grads={y: wp.array(SEED, dtype=float)})
    return Evidence(observed={"y": y, "x.grad": x.grad}, expected={"y": [3.0] * 4, "x.grad": times(5.0)})


@check(
    "retain.flows-through",
    needs=RETAINING,
    faults=[faults.zeros_drops_the_flag],
    near_misses=[faults.replays_a_copied_list],
)
def flows_through(wp: WarpSubject) -> Evidence:
    (x_a, x_b), y = leaves(wp, 2), output(wp, retain_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernels.double, dim=4, inputs=[x_a], outputs=[y])
        wp.launch(kernels.triple, dim=4, inputs=[x_b], outputs=[y])
    tape.backward(grads={y: wp.array(SEED, dtype=float)})
    return Evidence(
        observed={"x_a.grad": x_a.grad, "x_b.grad": x_b.grad, "y.grad": y.grad},
        expected={"x_a.grad": times(2.0), "x_b.grad": times(3.0), "y.grad": SEED},
    )


@check(
    "retain.stale-seed",
    case="seed-of-the-first",
    faults=[faults.seed_is_put_back],
    near_misses=[faults.replays_a_copied_list],
)
def stale_seed(wp: WarpSubject) -> Evidence:
    return second_gradient(wp, fresh=False, expected=[0.0] * 4)


@check(
    "retain.stale-seed",
    case="fresh-seed",
    faults=[faults.only_the_first_seeds_count],
    near_misses=[faults.replays_a_copied_list],
)
def fresh_seed(wp: WarpSubject) -> Evidence:
    return second_gradient(wp, fresh=True, expected=times(2.0))


def second_gradient(wp: WarpSubject, *, fresh: bool, expected: list[float]) -> Evidence:
    """The gradients of two backward passes, the input's gradient set to zero between them."""
    (x,), y = leaves(wp, 1), output(wp)
    with wp.Tape() as tape:
        wp.launch(kernels.double, dim=4, inputs=[x], outputs=[y])
    tape.backward(grads={y: wp.array(SEED, dtype=float)})
    first = x.grad.numpy().copy()
    x.grad.zero_()
    tape.backward(grads={y: wp.array(SEED, dtype=float)} if fresh else None)
    return Evidence(
        observed={"first x.grad": first, "second x.grad": x.grad},
        expected={"first x.grad": times(2.0), "second x.grad": expected},
    )


@check(
    "retain.explicit-adjoint",
    cases={"separate-buffer": False, "own-gradient": True},
    faults=[faults.explicit_adjoints_swap_the_seed],
    near_misses=[faults.explicit_dimension_as_tuple],
)
def explicit_adjoint(wp: WarpSubject, own: bool) -> Evidence:
    (x,), y = leaves(wp, 1), output(wp)
    buffer, gradient = wp.array(SEED, dtype=float), wp.zeros(4, dtype=float)
    if own:
        y.grad = buffer
    options = {"inputs": [x], "outputs": [y], "adj_inputs": [gradient], "adj_outputs": [buffer]}
    wp.launch(kernels.double, dim=4, adjoint=True, **options)
    return Evidence(observed={"gradient": gradient, "seed": buffer})
