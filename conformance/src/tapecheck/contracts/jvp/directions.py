"""Derivatives along directions: each input alone, all together, and what they have to do with gradients."""

import re
from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import (
    all_right,
    attributed,
    check_probes,
    copies,
    gradients,
    of_precision,
    outputs_of,
    refusal,
    seeds_by_place,
    seeds_of,
    verdict,
    verdicts,
)
from tapecheck.contracts.tangents import by_differences, directions, dual, judged, replaced_by_name, still
from tapecheck.faults.jvp import directions as faults
from tapecheck.lazy import torch
from tapecheck.subjects.probe import Probe

FORWARD = ["forward mode", "double-precision inputs"]
RIGHT_OR_REFUSED_CLEARLY = re.compile("(?#right or refused with the reason)^(right|refused(?!.*does not require grad))")


@check_probes(
    "jvp.value",
    needs=[*FORWARD, "field values"],
    faults=[faults.first_tangent_dropped],
    near_misses=[faults.tangents_copied],
)
def value(probe: Probe) -> Evidence:
    arguments = still(probe)
    along = directions(probe, arguments)
    return all_right({name: judged(probe, arguments, {name: along[name]}) for name in probe.values})


@check_probes(
    "jvp.geometry",
    needs=FORWARD,
    faults=[faults.second_tangent_dropped, faults.tangents_halved],
    near_misses=[faults.tangents_copied],
)
def geometry(probe: Probe) -> Evidence:
    arguments = still(probe)
    along = {name: v for name, v in directions(probe, arguments).items() if name not in probe.values}
    found = {name: judged(probe, arguments, {name: direction}) for name, direction in along.items()}
    return all_right(found | {"together": judged(probe, arguments, along)})


@check_probes(
    "jvp.combined",
    needs=[*FORWARD, "two differentiable inputs of one shape"],
    faults=[faults.lone_tangents_halved],
    near_misses=[faults.tangents_copied],
)
def combined(probe: Probe) -> Evidence:
    arguments = still(probe)
    along = directions(probe, arguments)
    _, together = dual(probe, copies(arguments), along)
    alone = [dual(probe, copies(arguments), {name: direction})[1] for name, direction in along.items()]
    sums = [
        sum(parts) if (parts := [t for t in every if t is not None]) else None for every in zip(*alone, strict=True)
    ]
    pairs = enumerate(zip(together, sums, strict=True))
    return all_right({f"output {at}": verdict(found, due, probe) for at, (found, due) in pairs})


@check_probes(
    "jvp.dual-equals-explicit",
    needs=["forward mode", "explicit tangent"],
    faults=[faults.tangents_rounded_otherwise, faults.explicit_call_ignores_the_last],
    near_misses=[faults.tangents_copied],
)
def dual_equals_explicit(probe: Probe) -> Evidence:
    assert probe.tangent is not None
    arguments = still(probe)
    along = directions(probe, arguments)
    observed = {}
    for name, chosen in {"all": along, **{name: {name: v} for name, v in along.items()}}.items():
        _, found = dual(probe, copies(arguments), chosen)
        with attributed("explicit tangent"):
            explicit = probe.tangent(copies(arguments), [chosen.get(each) for each in probe.names])
        listed = list(explicit) if isinstance(explicit, (tuple, list)) else [explicit]
        floating = [tangent for tangent in found if tangent is not None]
        same = len(floating) == len(listed) and all(map(torch.equal, floating, listed))
        observed[name] = "equal to the bit" if same else "not equal"
    return Evidence(observed, dict.fromkeys(observed, "equal to the bit"))


@check_probes(
    "jvp.adjoint-identity",
    needs=FORWARD,
    faults=[faults.tangents_halved, faults.first_tangent_dropped],
    near_misses=[faults.tangents_copied],
)
def adjoint_identity(probe: Probe) -> Evidence:
    found, seeds = gradients(probe, probe.example()), seeds_by_place(probe)
    arguments = still(probe)
    along = directions(probe, arguments)
    _, tangents = dual(probe, copies(arguments), along)
    forward = [(u * t).flatten() for at, u in seeds.items() if (t := tangents[at]) is not None]
    backward = [(along[name] * g).flatten() for name, g in found.items() if g is not None]
    scale = float(torch.cat([*forward, *backward]).abs().sum())
    apart = abs(float(torch.cat(forward).sum() - torch.cat(backward).sum())) / scale
    return all_right(
        {"⟨u, J v⟩ - ⟨Jᵀ u, v⟩": f"right to {apart:.0e}" if apart < 1e-12 else f"{apart:.1e} of the terms"}
    )


@check_probes(
    "jvp.mixed-modes",
    needs=[*FORWARD, "two differentiable inputs of one shape"],
    faults=[faults.first_tangent_dropped, faults.gradients_lost_beside_tangents],
    near_misses=[faults.tangents_copied],
)
def mixed_modes(probe: Probe) -> Evidence:
    example = probe.example()
    names, along = probe.names, directions(probe, example)
    first, *others = along
    arguments = [value.detach() if names[at] == first else value for at, value in enumerate(example)]
    outputs, tangents = dual(probe, arguments, {first: along[first]})
    due = by_differences(probe, still(probe), {first: along[first]})
    rough = of_precision(probe, arguments, 1e-7, 3e-2)
    found = {
        f"tangent of output {at}": verdict(None if t is None else t.detach(), w, rough)
        for at, (t, w) in enumerate(zip(tangents, due, strict=True))
    }
    leaves = [value for value in arguments if isinstance(value, torch.Tensor) and value.requires_grad]
    expected, seeds = gradients(probe, probe.example()), seeds_by_place(probe)
    pulled = {at: output for at, output in enumerate(outputs) if output.requires_grad}
    with attributed("backward"):
        answers = torch.autograd.grad(list(pulled.values()), leaves, [seeds[at] for at in pulled], allow_unused=True)
    given = dict(zip(others, answers, strict=True))
    return all_right(found | verdicts(given, {name: expected[name] for name in others}, probe))


@check_probes(
    "jvp.output-shape",
    needs=["forward mode"],
    faults=[faults.tangents_flattened, faults.tangents_of_other_precision],
    near_misses=[faults.tangents_copied],
)
def output_shape(probe: Probe) -> Evidence:
    arguments = still(probe)
    _, tangents = dual(probe, arguments, directions(probe, arguments))

    def described(tensor: Any) -> str:
        return "none" if tensor is None else f"{tuple(tensor.shape)}, {tensor.dtype}"

    plain = outputs_of(probe, still(probe))
    due = [described(None if tangent is None else output) for output, tangent in zip(plain, tangents, strict=True)]
    return Evidence([described(tangent) for tangent in tangents], due)


@check_probes(
    "jvp.multi-output",
    needs=["forward mode", "second output"],
    faults=[faults.first_tangent_for_every_output, faults.last_output_without_tangent],
    near_misses=[faults.tangents_copied],
)
def multi_output(probe: Probe) -> Evidence:
    arguments = still(probe)
    return all_right(judged(probe, arguments, directions(probe, arguments)))


@check_probes(
    "jvp.reverse-over-forward",
    needs=FORWARD,
    oracle=faults.in_plain_torch,
    faults=[faults.tangents_detached, faults.tangents_of_values_as_they_were],
    near_misses=[faults.tangents_copied],
)
def reverse_over_forward(probe: Probe) -> Evidence:
    arguments = still(probe)
    along = directions(probe, arguments)
    verdicts_found: dict[str, str] = {}

    def total(tensors: dict[str, Any], moved: dict[str, Any]) -> Any:
        _, tangents = dual(probe, replaced_by_name(probe, arguments, tensors), moved)
        floating = [tangent for tangent in tangents if tangent is not None]
        return sum((seed * tangent).sum() for seed, tangent in zip(seeds_of(floating), floating, strict=True))

    def slope(of: str, name: str) -> str:
        named = {key: value for key, value in zip(probe.names, arguments, strict=True) if key in along}
        tensors = {key: value.clone() for key, value in named.items()}
        moved = {key: value.clone() for key, value in along.items()}
        leaf = (tensors if of == "input" else moved)[name].requires_grad_()
        (found,) = torch.autograd.grad(total(tensors, moved), leaf, allow_unused=True)
        direction = directions(probe, arguments, salt=4)[name]

        def at(scale: float) -> float:
            kept = leaf.detach() + scale * direction
            other = {**(named if of == "input" else along), name: kept}
            return float(total(other if of == "input" else named, other if of == "tangent" else along))

        step = 1e-4
        due = (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)
        seen = 0.0 if found is None else float((found * direction).sum())
        error = abs(seen - due) / max(abs(due), 1e-3)
        return f"right to {error:.0e}" if error < 1e-6 else f"{seen:.6g}, where {due:.6g} is due"

    for of in ("input", "tangent"):
        for name in along:
            verdicts_found[f"{of} {name}"] = refusal(lambda of=of, name=name: slope(of, name))
    return all_right(verdicts_found, RIGHT_OR_REFUSED_CLEARLY)
