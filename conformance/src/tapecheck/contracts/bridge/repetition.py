"""Many calls: what one leaves behind for another."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import (
    Raised,
    all_right,
    attributed,
    check_probes,
    copies,
    differentiable,
    gradients,
    leaves_of,
    outputs_of,
    pulled_back,
    seeds_by_place,
    seeds_of,
    varied,
    verdicts,
)
from tapecheck.faults.bridge import repetition as faults
from tapecheck.lazy import torch
from tapecheck.subjects.probe import SIZE, Probe

NEEDS = ["differentiable input"]
SIZES = ["inputs of other sizes", "differentiable input"]


@check_probes(
    "bridge.reentrant", needs=NEEDS, faults=[faults.leaf_keeps_its_buffer], near_misses=[faults.buffer_zeroed]
)
def reentrant(probe: Probe) -> Evidence:
    due = gradients(probe, probe.example())
    arguments = probe.example()
    found = {f"call {at}": verdicts(gradients(probe, arguments), due, probe) for at in (1, 2, 3)}
    for step in (1, 2, 3):
        with torch.no_grad():
            for leaf in leaves_of(probe, arguments).values():
                leaf.mul_(0.97)
        observed, due = gradients(probe, arguments), gradients(probe, copies(arguments))
        found[f"training step {step}"] = verdicts(observed, due, probe)
    return all_right(found)


@check_probes(
    "bridge.unused-forward",
    needs=NEEDS,
    faults=[faults.every_forward_counts],
    near_misses=[faults.only_the_last_forward_counts],
)
def unused_forward(probe: Probe) -> Evidence:
    due = gradients(probe, probe.example())
    arguments = probe.example()
    for _ in range(3):
        outputs_of(probe, arguments)
    return all_right(verdicts(gradients(probe, arguments), due, probe))


@check_probes(
    "bridge.deferred-backward",
    cases={"first-call-first": (0, 1), "last-call-first": (1, 0)},
    needs=NEEDS,
    faults=[faults.backward_reads_the_latest_inputs],
    near_misses=[faults.backward_reads_its_own_inputs],
)
def deferred_backward(probe: Probe, order: Sequence[int]) -> Evidence:
    inputs = [probe.example(), varied(probe.example(), 0.9)]
    due = [gradients(probe, copies(arguments)) for arguments in inputs]
    outputs = [outputs_of(probe, arguments) for arguments in inputs]
    observed = {at: pulled_back(probe, inputs[at], outputs[at]) for at in order}
    return all_right({f"call {at + 1}": verdicts(observed[at], due[at], probe) for at in (0, 1)})


@check_probes(
    "bridge.interleaved-shapes",
    needs=SIZES,
    faults=[faults.scratch_kept_for_one_size],
    near_misses=[faults.scratch_kept_by_size],
)
def interleaved_shapes(probe: Probe) -> Evidence:
    due = gradients(probe, probe.example())
    arguments = probe.example()
    outputs = outputs_of(probe, arguments)
    for size, dtype in ((SIZE // 2, torch.float64), (SIZE + 3, torch.float64), (SIZE, torch.float32)):
        with suppress(Raised):
            gradients(probe, probe.example(size, dtype))
    return all_right(verdicts(pulled_back(probe, arguments, outputs), due, probe))


@check_probes(
    "bridge.retain-graph", needs=NEEDS, faults=[faults.second_backward_adds], near_misses=[faults.gradients_copied]
)
def retain_graph(probe: Probe) -> Evidence:
    due = gradients(probe, probe.example())
    arguments = probe.example()
    outputs = outputs_of(probe, arguments)
    twice = [pulled_back(probe, arguments, outputs, retain_graph=True) for _ in range(2)]
    return all_right({f"backward {at}": verdicts(observed, due, probe) for at, observed in enumerate(twice, start=1)})


@check_probes(
    "bridge.partial-inputs",
    case="inputs",
    needs=NEEDS,
    faults=[faults.lone_gradient_of_a_neighbour],
    near_misses=[faults.gradients_copied],
)
def some_inputs(probe: Probe) -> Evidence:
    due = gradients(probe, probe.example())
    seeds, found = seeds_by_place(probe), {}
    for name in due:
        arguments = probe.example()
        outputs = differentiable(outputs_of(probe, arguments))
        with attributed("backward"):
            got = torch.autograd.grad(
                outputs, [leaves_of(probe, arguments)[name]], seeds_of(outputs), allow_unused=True
            )
        found[f"only {name} asked for"] = verdicts({name: got[0]}, {name: due[name]}, probe)
        arguments = probe.example()
        for other, leaf in leaves_of(probe, arguments).items():
            leaf.requires_grad_(other == name)
        mine = {at: output for at, output in enumerate(outputs_of(probe, arguments)) if output.requires_grad}
        observed = pulled_back(probe, arguments, list(mine.values()), [seeds[at] for at in mine]) if mine else {}
        found[f"only {name} differentiable"] = verdicts(observed, {name: due[name]}, probe)
    return all_right(found)


@check_probes(
    "bridge.partial-inputs",
    case="outputs",
    needs=["second output", *NEEDS],
    faults=[faults.unused_output_seeded_with_ones],
    near_misses=[faults.unused_output_seeded_with_zeros],
)
def some_outputs(probe: Probe) -> Evidence:
    count = len(differentiable(outputs_of(probe, probe.example())))
    found = {}
    for used in range(count):
        arguments, other = probe.example(), probe.example()
        outputs = outputs_of(probe, other)
        seeds = [seed * (at == used) for at, seed in enumerate(seeds_of(differentiable(outputs)))]
        due = pulled_back(probe, other, outputs, seeds)
        mine = differentiable(outputs_of(probe, arguments))
        observed = pulled_back(probe, arguments, [mine[used]], [seeds_of(mine)[used]])
        found[f"output {used} alone"] = verdicts(observed, due, probe)
    return all_right(found)


@check_probes(
    "bridge.tape-cleared", needs=NEEDS, faults=[faults.buffer_of_a_shape_left_full], near_misses=[faults.buffer_zeroed]
)
def tape_cleared(probe: Probe) -> Evidence:
    arguments = probe.example()
    gradients(probe, arguments)
    left = {
        name: "right" if leaf.grad is None else "a `.grad` has appeared"
        for name, leaf in leaves_of(probe, arguments).items()
    }
    found: dict[str, Any] = {"the inputs": left}
    others = {"the same inputs": arguments, "others of the same shapes": varied(probe.example(), 0.9)}
    for name, inputs in others.items():
        outputs = outputs_of(probe, inputs)
        observed = pulled_back(probe, inputs, outputs, [torch.zeros_like(o) for o in differentiable(outputs)])
        zeros = {name: None if g is None else torch.zeros_like(g) for name, g in observed.items()}
        found[f"zero seed, {name}"] = verdicts(observed, zeros, probe)
    return all_right(found)


@check_probes(
    "bridge.leaf-grad", needs=NEEDS, faults=[faults.leaf_filled_behind_torch], near_misses=[faults.gradients_copied]
)
def leaf_grad(probe: Probe) -> Evidence:
    due = gradients(probe, probe.example())
    arguments, found = probe.example(), {}
    for calls in (1, 2):
        outputs = differentiable(outputs_of(probe, arguments))
        with attributed("backward"):
            torch.autograd.backward(outputs, seeds_of(outputs))
        added = {name: leaf.grad for name, leaf in leaves_of(probe, arguments).items()}
        total = {name: None if gradient is None else calls * gradient for name, gradient in due.items()}
        found[f"`.grad` after {calls} of 2 calls"] = verdicts(added, total, probe)
    return all_right(found)


@check_probes(
    "bridge.hooks", needs=NEEDS, faults=[faults.gradients_lie_in_a_reused_buffer], near_misses=[faults.gradients_copied]
)
def hooks(probe: Probe) -> Evidence:
    arguments = probe.example()
    outputs = outputs_of(probe, arguments)
    kept: dict[str, tuple[Any, Any]] = {}
    watched = leaves_of(probe, arguments) | {f"output {at}": o for at, o in enumerate(differentiable(outputs))}
    for name, tensor in watched.items():
        tensor.register_hook(lambda gradient, name=name: kept.__setitem__(name, (gradient, gradient.clone())))
    returned = {
        f"{name}, returned": (g, None if g is None else g.clone())
        for name, g in pulled_back(probe, arguments, outputs).items()
    }
    gradients(probe, varied(probe.example(), 0.9), salt=1)
    gradients(probe, arguments, salt=2)
    seen = kept | returned
    return all_right(
        verdicts({n: now for n, (now, _) in seen.items()}, {n: then for n, (_, then) in seen.items()}, probe)
    )


@check_probes(
    "bridge.checkpoint",
    cases={"reentrant": True, "not-reentrant": False},
    needs=NEEDS,
    faults=[faults.second_forward_differs],
    near_misses=[faults.gradients_copied],
)
def checkpoint(probe: Probe, reentrant: bool) -> Evidence:
    from torch.utils.checkpoint import checkpoint as run

    due = gradients(probe, probe.example())
    arguments = probe.example()
    with attributed("checkpoint"):
        outputs = run(probe.call, *arguments, use_reentrant=reentrant)
        outputs = differentiable(outputs if isinstance(outputs, (tuple, list)) else (outputs,))
        torch.autograd.backward(outputs, seeds_of(outputs))
    return all_right(verdicts({name: leaf.grad for name, leaf in leaves_of(probe, arguments).items()}, due, probe))
