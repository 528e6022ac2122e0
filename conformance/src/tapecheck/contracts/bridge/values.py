"""Values and derivatives of one call, and what it leaves in its outputs."""

from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import (
    all_right,
    check_probes,
    numbered,
    outputs_of,
    verdicts,
)
from tapecheck.faults.bridge import values as faults
from tapecheck.lazy import torch
from tapecheck.subjects.probe import Probe


def reference_of(probe: Probe) -> Probe:
    """The plain reference as a probe: of double-precision inputs, under the same names."""
    from dataclasses import replace

    assert probe.reference is not None
    return replace(probe, call=probe.reference)


def doubled(values: list[Any]) -> list[Any]:
    """Inputs in double precision, leaves of their own."""
    return [
        v.detach().double().requires_grad_(v.requires_grad)
        if isinstance(v, torch.Tensor) and v.is_floating_point()
        else v
        for v in values
    ]


@check_probes(
    "bridge.forward-matches",
    needs=["reference"],
    faults=[faults.sums_in_single_precision],
    near_misses=[faults.rounds_otherwise],
)
def forward_matches(probe: Probe) -> Evidence:
    arguments = probe.example()
    due = outputs_of(reference_of(probe), doubled(arguments))
    return all_right(verdicts(numbered(outputs_of(probe, arguments)), numbered(due), probe))
