"""What else is put on a tape: functions, launches that did not run, scopes, and flags on the arrays that were read."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from tapecheck.capture import captured
from tapecheck.contract import Evidence, check
from tapecheck.contracts.tape import kernels
from tapecheck.contracts.tape.arrays import leaves, seed, values
from tapecheck.faults.tape import bookkeeping as faults
from tapecheck.faults.tape.recording import backward_through_a_copied_list
from tapecheck.subjects.warp import WarpSubject


def _reports_an_overwrite(action: Callable[[], None]) -> bool:
    with captured() as text:
        action()
        return "already been read" in text()


def _reading_tape(wp: WarpSubject, x: Any) -> tuple[Any, Any]:
    """A tape that has read x, and its output."""
    (y,) = leaves(wp, 0.0)
    with wp.Tape() as tape:
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y])
    return tape, y


def _overwrite(wp: WarpSubject, x: Any, tape: Any) -> None:
    with tape:
        wp.launch(kernels.scale, dim=3, inputs=[seed(wp), 2.0], outputs=[x])


@check(
    "tape.access-flags-cleared",
    case="reported-before-backward",
    isolated=True,
    faults=[faults.launches_unverified],
    near_misses=[backward_through_a_copied_list],
)
def overwrite_is_reported(wp: WarpSubject) -> Evidence:
    wp.config.verify_autograd_array_access = True
    (x,) = leaves(wp, 3.0)
    tape, _ = _reading_tape(wp, x)
    return Evidence(
        observed={"overwrite reported": _reports_an_overwrite(lambda: _overwrite(wp, x, tape))},
        expected={"overwrite reported": True},
    )


@check(
    "tape.access-flags-cleared",
    cases={"new-tape": "new", "another-reading-tape": "another", "second-backward": "same"},
    isolated=True,
    faults=[faults.backward_unverified],
    near_misses=[backward_through_a_copied_list],
)
def overwrite_after_backward(wp: WarpSubject, writing: str) -> Evidence:
    wp.config.verify_autograd_array_access = True
    (x,) = leaves(wp, 3.0)
    tape, y = _reading_tape(wp, x)
    another, _ = _reading_tape(wp, x)
    writer = {"new": wp.Tape(), "another": another, "same": tape}[writing]
    tape.backward(grads={y: seed(wp)})

    def write() -> None:
        _overwrite(wp, x, writer)
        if writer is tape:
            tape.backward(grads={y: seed(wp)})

    return Evidence(
        observed={"overwrite reported": _reports_an_overwrite(write)}, expected={"overwrite reported": False}
    )


@check(
    "tape.record-func-order",
    faults=[faults.functions_run_when_recorded, faults.functions_run_first],
    near_misses=[faults.functions_are_wrapped],
)
def record_func_order(wp: WarpSubject) -> Evidence:
    x, a, b, y = leaves(wp, 1.0, 0.0, 0.0, 0.0)
    log: list[dict[str, Any]] = []

    def logger(name: str) -> Callable[[], None]:
        return lambda: log.append({"function": name, **{k: values(v.grad)[0] for k, v in {"a": a, "x": x}.items()}})

    with wp.Tape() as tape:
        wp.launch(kernels.scale, dim=3, inputs=[x, 2.0], outputs=[a])
        tape.record_func(logger("first"), [a])
        wp.launch(kernels.scale, dim=3, inputs=[a, 3.0], outputs=[b])
        tape.record_func(logger("second"), [b])
        wp.launch(kernels.scale, dim=3, inputs=[b, 5.0], outputs=[y])
    in_forward = len(log)
    tape.backward(grads={y: seed(wp)})
    return Evidence(
        observed={"calls in forward": in_forward, "gradients at each call": log, "x.grad": x.grad},
        expected={
            "calls in forward": 0,
            "gradients at each call": [
                {"function": "second", "a": 0.0, "x": 0.0},
                {"function": "first", "a": 15.0, "x": 0.0},
            ],
            "x.grad": [30.0] * 3,
        },
    )


@check(
    "tape.record-func-arrays",
    faults=[faults.functions_without_their_arrays],
    near_misses=[faults.functions_are_wrapped],
)
def record_func_arrays(wp: WarpSubject) -> Evidence:
    named, unnamed = leaves(wp, 1.0, 1.0)
    with wp.Tape() as tape:
        tape.record_func(lambda: [array.grad.fill_(7.0) for array in (named, unnamed)], [named])
    tape.backward()
    written = values(named.grad)
    tape.zero()
    return Evidence(
        observed={"written": written, "named": named.grad, "unnamed": unnamed.grad},
        expected={"written": [7.0] * 3, "named": [0.0] * 3, "unnamed": [7.0] * 3},
    )


@check(
    "tape.record-launch",
    cases={"every-argument": {"block_dim": 256, "metadata": {"step": 7}}, "defaults": {}},
    faults=[faults.runs_what_it_records, faults.records_no_launch],
    near_misses=[faults.records_copied_lists],
)
def record_launch(wp: WarpSubject, optional: dict[str, Any]) -> Evidence:
    x, y = leaves(wp, 3.0, 0.0)
    tape = wp.Tape()
    tape.record_launch(
        kernel=kernels.square,
        dim=3,
        max_blocks=0,
        inputs=[x],
        outputs=[y],
        device=wp.get_device(),
        **optional,
    )
    tape.backward(grads={y: seed(wp)})
    return Evidence(observed={"y": y, "x.grad": x.grad}, expected={"y": [0.0] * 3, "x.grad": [6.0] * 3})


def _record(wp: WarpSubject, steps: Sequence[str]) -> tuple[Any, Any]:
    """A tape on which `+name` begins a scope, `-` ends one (`-keep` also if it is empty), and `launch` doubles; and x.

    The gradient of x is 2 to the power of the number of launches.
    """
    x, *others = leaves(wp, 1.0, *[0.0] * steps.count("launch"))
    source = x
    with wp.Tape() as tape:
        for step in steps:
            if step.startswith("+"):
                tape.record_scope_begin(step[1:])
            elif step == "launch":
                target = others.pop(0)
                wp.launch(kernels.scale, dim=3, inputs=[source, 2.0], outputs=[target])
                source = target
            elif step == "-keep":
                tape.record_scope_end(remove_scope_if_empty=False)
            else:
                tape.record_scope_end()
    tape.backward(grads={source: seed(wp)})
    return tape, x


def _drawn(tape: Any) -> dict[str, list[str]]:
    """The scopes in the order of the diagram, and the path of the scopes around each launch."""
    scopes: list[str] = []
    path: list[str] = []
    launches: list[str] = []
    for line in map(str.strip, tape.visualize(simplify_graph=False).splitlines()):
        if line.startswith("subgraph"):
            path.append("unnamed")
        elif line == "};" and path:
            path.pop()
        elif name := re.fullmatch(r"label=<<b>(.*)</b>>;", line):
            path[-1] = name[1]
            scopes.append(name[1])
        elif re.match(r"kernel\d+ \[", line):
            launches.append("/".join(path) or "no scope")
    return {"scopes": scopes, "launches": launches}


NESTED = {
    "nested": (
        ["+outer", "launch", "+inner", "launch", "-", "launch", "-", "launch"],
        ["outer", "outer/inner", "outer"],
    ),
    "ending-together": (["+outer", "launch", "+inner", "launch", "-", "-", "launch"], ["outer", "outer/inner"]),
}


@check(
    "tape.scopes",
    cases=NESTED,
    faults=[faults.scopes_do_not_nest],
    near_misses=[faults.scopes_without_metadata],
)
def scopes_nest(wp: WarpSubject, nested: tuple[list[str], list[str]]) -> Evidence:
    steps, inside = nested
    tape, _ = _record(wp, steps)
    return Evidence(observed=_drawn(tape), expected={"scopes": ["outer", "inner"], "launches": [*inside, "no scope"]})


@check(
    "tape.scopes",
    case="empty-removed",
    faults=[faults.empty_scopes_stay],
    near_misses=[faults.scopes_without_metadata],
)
def empty_scope_is_removed(wp: WarpSubject) -> Evidence:
    tape, _ = _record(wp, ["+empty", "-", "launch"])
    return Evidence(observed=_drawn(tape), expected={"scopes": [], "launches": ["no scope"]})


@check(
    "tape.scopes",
    case="empty-kept",
    faults=[faults.empty_scopes_go],
    near_misses=[faults.scopes_without_metadata],
)
def empty_scope_is_kept(wp: WarpSubject) -> Evidence:
    tape, _ = _record(wp, ["+empty", "-keep", "launch"])
    return Evidence(observed=_drawn(tape), expected={"scopes": ["empty"], "launches": ["no scope"]})


@check(
    "tape.scopes",
    case="metadata",
    faults=[faults.scopes_without_metadata],
    near_misses=[faults.empty_scopes_stay],
)
def scope_carries_metadata(wp: WarpSubject) -> Evidence:
    tape = wp.Tape()
    tape.record_scope_begin("step", metadata={"number": 7})
    return Evidence(
        observed={"carried": any({"number": 7} in list(scope) for scope in tape.scopes)}, expected={"carried": True}
    )


@check(
    "tape.scopes",
    case="same-gradients",
    faults=[faults.scopes_swallow_their_launches],
    near_misses=[faults.empty_scopes_stay],
)
def scopes_do_not_change_gradients(wp: WarpSubject) -> Evidence:
    grouped = ["+outer", "launch", "+inner", "launch", "-", "+empty", "-", "-", "launch"]
    gradients = {
        name: _record(wp, steps)[1].grad for name, steps in {"scopes": grouped, "none": ["launch"] * 3}.items()
    }
    return Evidence(observed=gradients, expected={"scopes": [8.0] * 3, "none": [8.0] * 3})
