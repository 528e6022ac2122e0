"""Overwritten arrays: only the last write of an element passes its gradient on."""

from collections.abc import Callable
from typing import Any

from tapecheck.contract import Evidence, check
from tapecheck.contracts.retain_grad import kernels
from tapecheck.contracts.retain_grad.arrays import leaves, output
from tapecheck.faults.retain_grad import overwrites as faults
from tapecheck.subjects.warp import WarpSubject


def seed(wp: WarpSubject, y: Any) -> dict[str, dict[Any, Any]]:
    """Arguments of `Tape.backward` that seed an output with ones."""
    return {"grads": {y: wp.full(y.shape, y.dtype(1.0), dtype=y.dtype)}}


def seed_adopted(wp: WarpSubject, y: Any) -> dict[str, dict[Any, Any]]:
    y.grad = None
    return seed(wp, y)


def seed_preset(wp: WarpSubject, y: Any) -> dict[str, Any]:
    y.grad = wp.ones(y.shape, dtype=float)
    return {}


@check(
    "retain.output-zeroed",
    cases={
        "grads-copied": (4, seed),
        "grads-adopted": (4, seed_adopted),
        "preset": (4, seed_preset),
        "loss": (1, lambda wp, y: {"loss": y}),
    },
    faults=[faults.seed_is_put_back],
    near_misses=[faults.replays_a_copied_list],
)
def output_zeroed(wp: WarpSubject, case: tuple[int, Callable[..., dict[str, Any]]]) -> Evidence:
    size, seeding = case
    (x,), y = leaves(wp, 1, size), output(wp, size)
    seeds = seeding(wp, y)
    with wp.Tape() as tape:
        wp.launch(kernels.double, dim=size, inputs=[x], outputs=[y])
    tape.backward(**seeds)
    return Evidence(
        observed={"x.grad": x.grad, "y.grad": y.grad},
        expected={"x.grad": [2.0] * size, "y.grad": [0.0] * size},
    )


@check(
    "retain.last-write-wins",
    faults=[faults.zeros_like_always_retains],
    near_misses=[faults.zeros_like_by_cloning],
)
def last_write_wins(wp: WarpSubject) -> Evidence:
    x_a, x_b = leaves(wp, 2)
    y = wp.zeros_like(x_b)
    with wp.Tape() as tape:
        wp.launch(kernels.double, dim=4, inputs=[x_a, y])
        wp.launch(kernels.triple, dim=4, inputs=[x_b, y])
    y.grad = wp.ones_like(y)
    tape.backward()
    return Evidence(
        observed={"y": y, "x_a.grad": x_a.grad, "x_b.grad": x_b.grad, "y.grad": y.grad},
        expected={"y": [3.0] * 4, "x_a.grad": [0.0] * 4, "x_b.grad": [3.0] * 4, "y.grad": [0.0] * 4},
    )


@check(
    "retain.last-write-in-kernel",
    cases={"in-sequence": (kernels.double_then_triple, 4), "in-a-loop": (kernels.double_then_triple_in_a_loop, 1)},
    faults=[faults.zeros_like_always_retains],
    near_misses=[faults.zeros_like_by_cloning],
)
def last_write_in_kernel(wp: WarpSubject, case: tuple[Any, int]) -> Evidence:
    kernel, dim = case
    x_a, x_b = leaves(wp, 2)
    y = wp.zeros_like(x_b)
    with wp.Tape() as tape:
        wp.launch(kernel, dim=dim, inputs=[x_a, x_b], outputs=[y])
    tape.backward(**seed(wp, y))
    return Evidence(
        observed={"x_a.grad": x_a.grad, "x_b.grad": x_b.grad},
        expected={"x_a.grad": [0.0] * 4, "x_b.grad": [3.0] * 4},
    )


@check(
    "retain.loop-overwrite",
    faults=[faults.seed_reaches_every_launch],
    near_misses=[faults.replays_with_idle_functions],
)
def loop_overwrite(wp: WarpSubject) -> Evidence:
    states, buffer = leaves(wp, 5), output(wp)
    with wp.Tape() as tape:
        for state in states:
            wp.launch(kernels.double, dim=4, inputs=[state], outputs=[buffer])
    tape.backward(**seed(wp, buffer))
    return Evidence(
        observed={f"state_{step}.grad": state.grad for step, state in enumerate(states, 1)},
        expected={f"state_{step}.grad": [2.0 if step == 5 else 0.0] * 4 for step in range(1, 6)},
    )


@check(
    "retain.partial-overwrite",
    cases={
        "disjoint": (2, 2, [2.0, 2.0]),
        "overlapping": (3, 2, [2.0, 2.0, 0.0]),
        "inside": (4, 1, [2.0, 0.0, 0.0, 2.0]),
    },
    faults=[faults.launches_consume_whole_outputs],
    near_misses=[faults.replays_with_idle_functions],
)
def partial_overwrite(wp: WarpSubject, case: tuple[int, int, list[float]]) -> Evidence:
    size, first, expected = case
    (x_a,), (x_b,), y = leaves(wp, 1, size), leaves(wp, 1, 2), output(wp)
    with wp.Tape() as tape:
        wp.launch(kernels.double, dim=size, inputs=[x_a], outputs=[y])
        wp.launch(kernels.triple_from, dim=2, inputs=[x_b, first], outputs=[y])
    tape.backward(**seed(wp, y))
    return Evidence(
        observed={"x_a.grad": x_a.grad, "x_b.grad": x_b.grad},
        expected={"x_a.grad": expected, "x_b.grad": [3.0, 3.0]},
    )


@check(
    "retain.component-writes",
    cases={
        "vector-index": (kernels.vector_by_index, "vec3", [1.0, 10.0, 100.0], 432.0),
        "vector-name": (kernels.vector_by_name, "vec3", [1.0, 10.0, 100.0], 432.0),
        "vector-built-first": (kernels.vector_built_first, "vec3", [1.0, 10.0, 100.0], 432.0),
        "matrix-index": (kernels.matrix_by_index, "mat22", [[1.0, 10.0], [100.0, 1000.0]], 5432.0),
    },
    faults=[faults.last_component_is_dropped],
    near_misses=[faults.replays_with_idle_functions],
)
def component_writes(wp: WarpSubject, case: tuple[Any, str, list[Any], float]) -> Evidence:
    kernel, dtype, weights, expected = case
    (x,), y = leaves(wp, 1, 2), wp.zeros(2, dtype=getattr(wp, dtype), requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernel, dim=2, inputs=[x], outputs=[y])
    tape.backward(grads={y: wp.array([weights] * 2, dtype=getattr(wp, dtype))})
    return Evidence(observed={"x.grad": x.grad}, expected={"x.grad": [expected] * 2})


@check(
    "retain.component-writes",
    case="overwritten-component",
    faults=[faults.last_component_is_dropped, faults.zeros_always_retains],
    near_misses=[faults.replays_a_copied_list],
)
def component_overwritten(wp: WarpSubject) -> Evidence:
    (x_a, x_b), y = leaves(wp, 2, 2), wp.zeros(2, dtype=wp.vec3, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernels.vector_then_component, dim=2, inputs=[x_a, x_b], outputs=[y])
    tape.backward(grads={y: wp.array([[1.0, 10.0, 100.0]] * 2, dtype=wp.vec3)})
    return Evidence(
        observed={"x_a.grad": x_a.grad, "x_b.grad": x_b.grad},
        expected={"x_a.grad": [101.0] * 2, "x_b.grad": [30.0] * 2},
    )


@check(
    "retain.inplace-add",
    cases={
        "add-assign": (kernels.add_assign, 2.0),
        "subtract-assign": (kernels.subtract_assign, -2.0),
        "atomic-add": (kernels.atomic_add, 2.0),
        "atomic-sub": (kernels.atomic_sub, -2.0),
    },
    faults=[faults.launches_consume_whole_outputs],
    near_misses=[faults.replays_a_copied_list],
)
def inplace_add(wp: WarpSubject, case: tuple[Any, float]) -> Evidence:
    kernel, factor = case
    (x_a, x_b, x_c), y = leaves(wp, 3), output(wp)
    with wp.Tape() as tape:
        wp.launch(kernels.triple, dim=4, inputs=[x_a], outputs=[y])
        wp.launch(kernel, dim=4, inputs=[x_b], outputs=[y])
        wp.launch(kernel, dim=4, inputs=[x_c], outputs=[y])
    tape.backward(**seed(wp, y))
    return Evidence(
        observed={"y": y, "x_a.grad": x_a.grad, "x_b.grad": x_b.grad, "x_c.grad": x_c.grad},
        expected={
            "y": [3.0 + 2.0 * factor] * 4,
            "x_a.grad": [3.0] * 4,
            "x_b.grad": [factor] * 4,
            "x_c.grad": [factor] * 4,
        },
    )


@check(
    "retain.copy",
    cases={
        "copy": (lambda wp, y, source: wp.copy(y, source), [0.0] * 4, [3.0] * 4),
        "copy-count": (lambda wp, y, source: wp.copy(y, source, count=2), [0.0, 0.0, 2.0, 2.0], [3.0, 3.0, 0.0, 0.0]),
        "copy-offsets": (
            lambda wp, y, source: wp.copy(y, source, dest_offset=2, src_offset=1, count=2),
            [2.0, 2.0, 0.0, 0.0],
            [0.0, 3.0, 3.0, 0.0],
        ),
        "assign": (lambda wp, y, source: y.assign(source), [0.0] * 4, [3.0] * 4),
    },
    faults=[faults.zeros_always_retains],
    near_misses=[faults.copy_with_everything_spelt_out],
)
def copies(wp: WarpSubject, case: tuple[Callable[..., Any], list[float], list[float]]) -> Evidence:
    copy, a_gradient, b_gradient = case
    (x_a, x_b), source, y = leaves(wp, 2), output(wp), output(wp)
    with wp.Tape() as tape:
        wp.launch(kernels.double, dim=4, inputs=[x_a], outputs=[y])
        wp.launch(kernels.triple, dim=4, inputs=[x_b], outputs=[source])
        copy(wp, y, source)
    tape.backward(**seed(wp, y))
    return Evidence(
        observed={"x_a.grad": x_a.grad, "x_b.grad": x_b.grad},
        expected={"x_a.grad": a_gradient, "x_b.grad": b_gradient},
    )


@check(
    "retain.copy-adds-to-source",
    cases={
        "copy": lambda wp, y, source: wp.copy(y, source),
        "assign": lambda wp, y, source: y.assign(source),
        "clone": lambda wp, y, source: wp.clone(source),
    },
    faults=[faults.later_readers_are_forgotten],
    near_misses=[faults.copy_with_everything_spelt_out],
)
def copy_adds_to_source(wp: WarpSubject, copy: Callable[..., Any]) -> Evidence:
    (source,), y, z = leaves(wp, 1), output(wp), output(wp)
    with wp.Tape() as tape:
        made = copy(wp, y, source)
        wp.launch(kernels.triple, dim=4, inputs=[source], outputs=[z])
    copied = y if made is None else made
    tape.backward(grads={copied: wp.ones(4, dtype=float), z: wp.ones(4, dtype=float)})
    return Evidence(observed={"source.grad": source.grad}, expected={"source.grad": [4.0] * 4})


@check(
    "retain.zero-unrecorded",
    cases={
        "zero_": (lambda wp, y: y.zero_(), 0.0),
        "fill_": (lambda wp, y: y.fill_(5.0), 5.0),
        "assign-numbers": (lambda wp, y: y.assign([5.0] * 4), 5.0),
        "copy-without-gradient": (lambda wp, y: wp.copy(y, wp.full(4, 5.0, dtype=float)), 5.0),
    },
    faults=[faults.constant_overwrites_are_recorded],
    near_misses=[faults.constant_overwrites_are_noticed],
)
def zero_unrecorded(wp: WarpSubject, case: tuple[Callable[..., Any], float]) -> Evidence:
    overwrite, value = case
    (x,), y = leaves(wp, 1), output(wp)
    with wp.Tape() as tape:
        wp.launch(kernels.double, dim=4, inputs=[x], outputs=[y])
        overwrite(wp, y)
    tape.backward(**seed(wp, y))
    return Evidence(
        observed={"y": y, "x.grad": x.grad},
        expected={"y": [value] * 4, "x.grad": [2.0] * 4},
    )


@check(
    "retain.struct-field",
    case="last-write-wins",
    faults=[faults.zeros_always_retains],
    near_misses=[faults.replays_with_idle_functions],
)
def struct_field(wp: WarpSubject) -> Evidence:
    (x_a, x_b), y = leaves(wp, 2), output(wp)
    y.grad.fill_(1.0)
    fields = kernels.Output()
    fields.y = y
    with wp.Tape() as tape:
        wp.launch(kernels.double_into_field, dim=4, inputs=[x_a, fields])
        wp.launch(kernels.triple_into_field, dim=4, inputs=[x_b, fields])
    tape.backward()
    return Evidence(
        observed={"x_a.grad": x_a.grad, "x_b.grad": x_b.grad, "y.grad": y.grad},
        expected={"x_a.grad": [0.0] * 4, "x_b.grad": [3.0] * 4, "y.grad": [0.0] * 4},
    )


@check(
    "retain.struct-field",
    case="retained",
    needs=["zeros(retain_grad)"],
    faults=[faults.zeros_drops_the_flag],
    near_misses=[faults.replays_with_idle_functions],
)
def struct_field_retained(wp: WarpSubject) -> Evidence:
    (x,), y = leaves(wp, 1), output(wp, retain_grad=True)
    y.grad.fill_(1.0)
    fields = kernels.Output()
    fields.y = y
    with wp.Tape() as tape:
        wp.launch(kernels.double_into_field, dim=4, inputs=[x, fields])
    tape.backward()
    return Evidence(
        observed={"x.grad": x.grad, "y.grad": y.grad},
        expected={"x.grad": [2.0] * 4, "y.grad": [1.0] * 4},
    )
