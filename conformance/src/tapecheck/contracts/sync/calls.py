"""No call reads anything back from the device."""

from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import (
    attributed,
    check_probes,
    differentiable,
    gradients,
    leaves_of,
    outputs_of,
    pulled_back,
    seeds_of,
)
from tapecheck.contracts.sync.census import readbacks
from tapecheck.faults.sync import calls as faults
from tapecheck.lazy import torch
from tapecheck.subjects.probe import Probe

LOOKING_AT_NONE = ["call that looks at no value"]
NEEDS = ["differentiable input", *LOOKING_AT_NONE]


@check_probes(
    "sync.forward", needs=LOOKING_AT_NONE, faults=[faults.forward_asks], near_misses=[faults.forward_looks_at_shapes]
)
def forward(probe: Probe) -> Evidence:
    outputs_of(probe, probe.example())
    arguments = probe.example()
    with readbacks() as found:
        outputs_of(probe, arguments)
    return Evidence({"readbacks": dict(found)}, {"readbacks": {}})


@check_probes(
    "sync.backward", needs=NEEDS, faults=[faults.backward_asks], near_misses=[faults.backward_looks_at_shapes]
)
def backward(probe: Probe) -> Evidence:
    gradients(probe, probe.example())
    arguments = probe.example()
    outputs = outputs_of(probe, arguments)
    seeds = seeds_of(differentiable(outputs))
    with readbacks() as found:
        pulled_back(probe, arguments, outputs, seeds)
    return Evidence({"readbacks": dict(found)}, {"readbacks": {}})


def with_tangents(probe: Probe, arguments: list[Any], names: list[str]) -> Any:
    """Readbacks of one call in which some inputs carry a tangent."""
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        duals = list(arguments)
        for name, leaf in leaves_of(probe, arguments).items():
            if name in names:
                duals[probe.names.index(name)] = forward_ad.make_dual(leaf.detach(), torch.ones_like(leaf))
        with readbacks() as found, attributed("forward mode"):
            probe.call(*duals)
    return found


@check_probes(
    "sync.jvp-one",
    needs=["forward mode", *LOOKING_AT_NONE],
    faults=[faults.one_question_a_tangent],
    near_misses=[faults.one_question_for_all_tangents],
)
def jvp_one(probe: Probe) -> Evidence:
    names = list(leaves_of(probe, probe.example()))
    with_tangents(probe, probe.example(), names)
    found = {
        "all inputs": sum(with_tangents(probe, probe.example(), names).values()),
        "one input": sum(with_tangents(probe, probe.example(), names[:1]).values()),
    }
    return Evidence(
        {name: "at most one" if count <= 1 else f"{count} readbacks" for name, count in found.items()},
        dict.fromkeys(found, "at most one"),
    )


@check_probes(
    "sync.inert-check",
    needs=["forward mode", *LOOKING_AT_NONE],
    faults=[faults.every_input_asked_whether_it_varies],
    near_misses=[faults.every_input_asked_by_metadata],
)
def inert_check(probe: Probe) -> Evidence:
    arguments = [a.detach() if isinstance(a, torch.Tensor) else a for a in probe.example()]
    outputs_of(probe, arguments)
    found = {"no input varies": dict(with_tangents(probe, arguments, []))}
    for name in leaves_of(probe, probe.example()):
        arguments = probe.example()
        for other, leaf in leaves_of(probe, arguments).items():
            leaf.requires_grad_(other == name)
        found[f"only {name} varies"] = dict(with_tangents(probe, arguments, []))
    return Evidence({"readbacks": found}, {"readbacks": {name: {} for name in found}})


@check_probes(
    "sync.census", needs=NEEDS, faults=[faults.waits_for_the_device], near_misses=[faults.asks_before_the_census]
)
def census(probe: Probe) -> Evidence:
    gradients(probe, probe.example())
    arguments = probe.example()
    seeds = seeds_of(differentiable(outputs_of(probe, arguments)))
    with readbacks() as found:
        outputs = outputs_of(probe, arguments)
        pulled_back(probe, arguments, outputs, seeds)
    return Evidence({"readbacks": dict(found)}, {"readbacks": {}})
