"""Functions: their derivative inside a kernel, their own gradient and replay; a guard."""

from typing import Any, NamedTuple

from tapecheck.contract import Evidence, check
from tapecheck.contracts.codegen import control_kernels as kernels
from tapecheck.contracts.codegen.idiom import Idiom, adjoint
from tapecheck.faults.codegen import functions as faults
from tapecheck.subjects.warp import WarpSubject


@check(
    "codegen.where-guard",
    case="where",
    faults=[faults.guards_by_if],
    near_misses=[faults.guards_by_where_the_other_way_round],
)
def guarded_by_where(wp: WarpSubject) -> Evidence:
    idiom = Idiom(kernels.reciprocal_by_where, {"x": [0.0, 2.0]}, output=(2,))
    return Evidence(observed=adjoint(wp, idiom), expected={"x.grad": [float("nan"), -1.3 / 4]}, tolerance=1e-12)


@check(
    "codegen.where-guard",
    case="if",
    safe=True,
    faults=[faults.guards_by_where],
    near_misses=[faults.guards_by_if_the_other_way_round],
)
def guarded_by_if(wp: WarpSubject) -> Evidence:
    idiom = Idiom(kernels.reciprocal_by_if, {"x": [0.0, 2.0]}, output=(2,))
    return Evidence(observed=adjoint(wp, idiom), expected={"x.grad": [0.0, -1.3 / 4]}, tolerance=1e-12)


DERIVATIVES = {
    "one-argument": ("derivative_of_func", [3 * 4.0, 3 * 9.0]),
    "two-arguments": ("derivative_by_two_arguments", [4.0 + 10 * 8.0, 9.0 + 10 * 18.0]),
}


@check(
    "codegen.grad-of-func",
    faults=[faults.gradients_flow_through_grad, faults.grad_by_differences],
    near_misses=[faults.grad_is_a_constant],
    cases=DERIVATIVES,
    needs=("grad",),
)
def derivative_in_a_kernel(wp: WarpSubject, case: tuple[str, list[float]]) -> Evidence:
    name, derivative = case
    idiom = Idiom(getattr(kernels, name), {"x": [2.0, 3.0]}, output=(2,))
    fixed, arrays, y = idiom.arrays(wp, idiom.values())
    idiom.launch(wp, fixed, arrays, y)
    return Evidence(
        observed={"y": y, **adjoint(wp, idiom)},
        expected={"y": derivative, "x.grad": [0.0, 0.0]},
    )


@check(
    "codegen.custom-grad",
    faults=[faults.forgets_own_gradients],
    near_misses=[faults.own_gradient_in_two_terms],
    cases={"gradient": (kernels.own_gradient, 7.0), "gradient-nested": (kernels.own_gradient_nested, 21.0)},
)
def own_gradient(wp: WarpSubject, case: tuple[Any, float]) -> Evidence:
    kernel, gradient = case
    return Evidence(
        observed=adjoint(wp, Idiom(kernel, {"x": [2.0, 3.0]}, output=(2,))),
        expected={"x.grad": [gradient, 1.3 * gradient]},
        tolerance=1e-12,
    )


class Replay(NamedTuple):
    """A kernel that fetches its slot from a counter, and the first slot that it writes to."""

    kernel: Any
    first: int


def replayed(wp: WarpSubject, replay: Replay) -> Evidence:
    """Backward must read the stored slots: the counter stays, and the gradient comes from the slots written to."""
    x = wp.array([2.0, 3.0, 5.0], dtype=wp.float64, requires_grad=True)
    y = wp.zeros(8, dtype=wp.float64, requires_grad=True)
    counter, slots = wp.zeros(1, dtype=int), wp.zeros(3, dtype=int)
    with wp.Tape() as tape:
        wp.launch(replay.kernel, dim=3, inputs=[counter, slots, x], outputs=[y])
    written = range(replay.first, replay.first + 3)
    tape.backward(grads={y: wp.array([float(slot in written) for slot in range(8)], dtype=wp.float64)})
    return Evidence(
        observed={"counter": counter, "x.grad": x.grad},
        expected={"counter": [3], "x.grad": [4.0, 6.0, 10.0]},
    )


@check(
    "codegen.custom-grad",
    case="replay",
    faults=[faults.forgets_own_replays],
    near_misses=[faults.replays_inline],
)
def own_replay(wp: WarpSubject) -> Evidence:
    return replayed(wp, Replay(kernels.own_replay, first=0))


@check(
    "codegen.custom-grad",
    case="replay-nested",
    faults=[faults.forgets_own_replays],
    near_misses=[faults.replays_inline],
    oracle=faults.replays_nested_functions,
)
def own_replay_nested(wp: WarpSubject) -> Evidence:
    return replayed(wp, Replay(kernels.own_replay_nested, first=1))
