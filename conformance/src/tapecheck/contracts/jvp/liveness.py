"""Which tangents count: none, zeros, NaN, and those of operations that have no forward mode."""

import re
from typing import Any

from tapecheck.contract import Evidence, outcome_of
from tapecheck.contracts.probing import all_right, calls_counted, check_probes, copies, outputs_of, verdict
from tapecheck.contracts.tangents import directions, dual, still
from tapecheck.faults.jvp import liveness as faults
from tapecheck.lazy import torch
from tapecheck.subjects.probe import OFFERS, Probe


def same_values(probe: Probe, outputs: list[Any]) -> bool:
    """Whether these are the outputs of a plain call, to the bit."""
    return all(map(torch.equal, outputs, outputs_of(probe, still(probe))))


@check_probes("jvp.none-live", faults=[faults.dual_levels_refused], near_misses=[faults.dual_levels_noticed])
def none_live(probe: Probe) -> Evidence:
    outputs, tangents = dual(probe, still(probe), {})
    observed = {"plain values": same_values(probe, outputs), "tangents": [t is not None for t in tangents]}
    return Evidence(observed, {"plain values": True, "tangents": [False] * len(outputs)})


@check_probes(
    "jvp.all-dead",
    needs=["forward mode"],
    faults=[faults.zero_tangents_refused, faults.values_of_duals_rounded_otherwise],
    near_misses=[faults.zero_tangents_dropped],
)
def all_dead(probe: Probe) -> Evidence:
    arguments = still(probe)
    along = {name: torch.zeros_like(v) for name, v in directions(probe, arguments).items()}
    outputs, tangents = dual(probe, copies(arguments), along)
    nothing = [tangent is None or not tangent.any() for tangent in tangents]
    return Evidence(
        {"plain values": same_values(probe, outputs), "nothing in the tangents": nothing},
        {"plain values": True, "nothing in the tangents": [True] * len(outputs)},
    )


@check_probes(
    "jvp.zero-synthesis",
    needs=["forward mode", "two differentiable inputs of one shape"],
    faults=[faults.tangents_counted],
    near_misses=[faults.zero_tangents_dropped],
)
def zero_synthesis(probe: Probe) -> Evidence:
    arguments = still(probe)
    along = directions(probe, arguments)
    found = {}
    for name, direction in along.items():
        _, alone = dual(probe, copies(arguments), {name: direction})
        zeros = {other: torch.zeros_like(v) for other, v in along.items() if other != name}
        _, beside = dual(probe, copies(arguments), {name: direction, **zeros})
        pairs = enumerate(zip(beside, alone, strict=True))
        found[name] = {f"output {at}": verdict(tangent, due, probe) for at, (tangent, due) in pairs}
    return all_right(found)


@check_probes(
    "jvp.nan-tangent",
    needs=["forward mode"],
    faults=[faults.nan_tangents_dropped],
    near_misses=[faults.zero_tangents_dropped],
)
def nan_tangent(probe: Probe) -> Evidence:
    arguments = still(probe)
    found = {}
    for name, direction in directions(probe, arguments).items():
        _, tangents = dual(probe, copies(arguments), {name: torch.full_like(direction, torch.nan)})
        _, plain = dual(probe, copies(arguments), {name: direction})
        arrives, beforehand = (any(t is not None and bool(t.isnan().any()) for t in each) for each in (tangents, plain))
        found[name] = {"NaN arrives": arrives, "NaN without one": beforehand}
    return Evidence(found, {name: {"NaN arrives": True, "NaN without one": False} for name in found})


@check_probes(
    "jvp.unregistered-raises",
    needs=["operation without forward mode"],
    faults=[faults.outputs_without_tangent, faults.outputs_with_zero_tangent],
    near_misses=[faults.dual_levels_noticed],
)
def unregistered_raises(probe: Probe) -> Evidence:
    arguments = still(probe)
    observed = {
        name: outcome_of(lambda along={name: v}: dual(probe, copies(arguments), along))
        for name, v in directions(probe, arguments).items()
    }
    return Evidence(observed, dict.fromkeys(observed, re.compile("(?#an error)^(?!no error)")))


@check_probes(
    "jvp.saved-only-with-jvp", faults=[faults.always_saved_for_forward_mode], near_misses=[faults.dual_levels_noticed]
)
def saved_only_with_jvp(probe: Probe) -> Evidence:
    from torch.autograd.function import FunctionCtx

    with calls_counted(FunctionCtx, "save_for_forward") as counts:
        outputs_of(probe, probe.example())
    saves = counts["save_for_forward"] > 0
    forward = OFFERS["forward mode"](probe)
    return Evidence({"saved for forward mode": saves and not forward}, {"saved for forward mode": False})
