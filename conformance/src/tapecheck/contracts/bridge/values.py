"""Values and derivatives of one call, and what it leaves in its outputs."""

import gc
import weakref
from contextlib import nullcontext
from typing import Any

import warp

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import (
    RIGHT_OR_REFUSED,
    all_right,
    attributed,
    calls_counted,
    check_probes,
    copies,
    described,
    differentiable,
    gradients,
    leaves_of,
    numbered,
    of_precision,
    outputs_of,
    refusal,
    seeds_of,
    step_for,
    verdict,
    verdicts,
)
from tapecheck.faults.bridge import values as faults
from tapecheck.lazy import torch
from tapecheck.subjects.probe import SIZE, Probe, is_floating


def sizes_of(probe: Probe) -> tuple[int, ...]:
    """The sizes at which a call is compared with its reference."""
    return (SIZE, 1, SIZE + 3) if callable(probe.inputs) else (SIZE,)


def reference_of(probe: Probe, size: int) -> tuple[Probe, list[Any]]:
    """The plain reference as a probe, and the inputs in double precision."""
    assert probe.reference is not None
    arguments = [
        a.detach().double().requires_grad_(a.requires_grad) if is_floating(a) else a for a in probe.example(size)
    ]
    return probe.calling(probe.reference), arguments


@check_probes(
    "bridge.forward-matches",
    needs=["reference"],
    faults=[faults.sums_in_single_precision],
    near_misses=[faults.rounds_otherwise],
)
def forward_matches(probe: Probe) -> Evidence:
    found = {}
    for size in sizes_of(probe):
        observed = numbered(outputs_of(probe, probe.example(size)))
        due = numbered(outputs_of(*reference_of(probe, size)))
        found[f"size {size}"] = verdicts(observed, due, of_precision(probe, probe.example(), 1e-9, 1e-4))
    return all_right(found)


@check_probes(
    "bridge.gradcheck",
    case="differences",
    needs=["double-precision inputs", "differentiable input"],
    faults=[faults.last_gradient_negated, faults.gradients_stop],
    near_misses=[faults.gradients_round_otherwise],
)
def gradcheck(probe: Probe) -> Evidence:
    found = {}
    for name in leaves_of(probe, probe.example()):
        arguments = probe.example()
        for other, leaf in leaves_of(probe, arguments).items():
            leaf.requires_grad_(other == name)
        with attributed("forward"):
            probe.call(*arguments)
        try:
            torch.autograd.gradcheck(probe.call, arguments, nondet_tol=1e-9, check_undefined_grad=False)
        except Exception as problem:  # noqa: BLE001  # whatever it raises is what is seen
            found[name] = described(problem)
        else:
            found[name] = "right"
    return all_right(found)


@check_probes(
    "bridge.gradcheck",
    case="reference",
    needs=["reference", "differentiable input"],
    faults=[faults.last_gradient_negated, faults.gradients_stop],
    near_misses=[faults.gradients_round_otherwise],
)
def gradients_of_the_reference(probe: Probe) -> Evidence:
    found = {}
    for size in sizes_of(probe):
        observed, due = gradients(probe, probe.example(size)), gradients(*reference_of(probe, size))
        found[f"size {size}"] = verdicts(observed, due, of_precision(probe, probe.example(), 1e-9, 1e-4))
    return all_right(found)


@check_probes(
    "bridge.gradgradcheck",
    needs=["differentiable input"],
    faults=[faults.backward_is_detached],
    near_misses=[faults.second_backward_refused],
)
def gradgradcheck(probe: Probe) -> Evidence:
    seeds = seeds_of(differentiable(outputs_of(probe, probe.example())))

    def slope(arguments: list[Any], **options: Any) -> list[torch.Tensor]:
        """The gradient of a function of which the call is a part, so that a lost derivative leaves a wrong number."""
        leaves = list(leaves_of(probe, arguments).values())
        outputs = differentiable(outputs_of(probe, arguments))
        loss: Any = sum(((o + o * o) * seed).sum() for o, seed in zip(outputs, seeds, strict=True))
        loss = loss + sum((leaf**3).sum() for leaf in leaves)
        return list(torch.autograd.grad(loss, leaves, **options))

    with attributed("backward"):
        slope(probe.example())
    arguments = probe.example()
    leaves = leaves_of(probe, arguments)
    directions = seeds_of(list(leaves.values()), salt=1)

    def second() -> str:
        first = slope(arguments, create_graph=True)
        along = sum((g * d).sum() for g, d in zip(first, directions, strict=True))
        observed = torch.autograd.grad(along, list(leaves.values()), allow_unused=True)
        step, around = step_for(leaves.values()), []
        for sign in (1.0, -1.0):
            moved = copies(arguments)
            with torch.no_grad():
                for leaf, direction in zip(leaves_of(probe, moved).values(), directions, strict=True):
                    leaf += sign * step * direction
            around.append(slope(moved))
        due = [(above - below) / (2.0 * step) for above, below in zip(*around, strict=True)]
        texts = [verdict(o, d, of_precision(probe, arguments, 1e-5, 2e-2)) for o, d in zip(observed, due, strict=True)]
        return next((text for text in texts if not text.startswith("right")), texts[0])

    return all_right({"second derivatives": refusal(second)}, RIGHT_OR_REFUSED)


@check_probes("bridge.torch-output", faults=[faults.foreign_memory], near_misses=[faults.outputs_copied])
def torch_output(probe: Probe) -> Evidence:
    outputs = outputs_of(probe, probe.example())
    observed = {
        name: {
            "type": type(output).__name__,
            "memory": "torch's" if output.untyped_storage().resizable() else "of somebody else",
            "attributes": sorted(getattr(output, "__dict__", {})),
        }
        for name, output in numbered(outputs).items()
    }
    due = {"type": "Tensor", "memory": "torch's", "attributes": []}
    return Evidence(observed, dict.fromkeys(observed, due))


@check_probes(
    "bridge.no-tape-without-grad",
    cases={"inputs-without-grad": False, "no-grad-mode": True},
    faults=[faults.tape_around_every_call, faults.outputs_hold_inputs],
    near_misses=[faults.outputs_copied],
)
def no_tape_without_grad(probe: Probe, with_grad: bool) -> Evidence:
    saved = []

    def pack(tensor: Any) -> Any:
        saved.append(1)
        return tensor

    arguments = probe.example()
    if not with_grad:
        arguments = [a.detach() if isinstance(a, torch.Tensor) else a for a in arguments]
    inputs = [weakref.ref(a) for a in arguments if isinstance(a, torch.Tensor)]
    with (
        torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor),
        torch.no_grad() if with_grad else nullcontext(),
        calls_counted(warp.Tape, "__init__", "record_launch") as tapes,
    ):
        outputs = outputs_of(probe, arguments)
    arguments.clear()
    gc.collect()
    observed = {
        "outputs require a gradient": any(output.requires_grad for output in outputs),
        "tapes": sum(tapes.values()),
        "tensors saved": len(saved),
        "inputs held by the outputs": sum(ref() is not None for ref in inputs),
    }
    return Evidence(observed, {**dict.fromkeys(observed, 0), "outputs require a gradient": False})
