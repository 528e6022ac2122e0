"""How the checks of forward mode see a bridge: directions, what comes of them, and what is due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapecheck.contracts.probing import attributed, copies, of_precision, outputs_of, step_for, verdict
from tapecheck.lazy import torch
from tapecheck.subjects.probe import Probe, is_floating

Directions = Mapping[str, torch.Tensor]


def still(probe: Probe) -> list[Any]:
    """Inputs of which none requires a gradient."""
    return [value.detach() if isinstance(value, torch.Tensor) else value for value in probe.example()]


def directions(probe: Probe, arguments: Sequence[Any], salt: int = 3) -> dict[str, torch.Tensor]:
    """A direction for each differentiable input, always the same ones."""
    generator = torch.Generator().manual_seed(salt)
    names = probe.names
    return {
        names[at]: torch.randn(arguments[at].shape, dtype=torch.float64, generator=generator).to(arguments[at])
        for at in probe.positions
    }


def replaced_by_name(probe: Probe, arguments: Sequence[Any], tensors: Mapping[str, Any]) -> list[Any]:
    """The inputs with some of them replaced."""
    return [tensors.get(name, value) for name, value in zip(probe.names, arguments, strict=True)]


def dual(probe: Probe, arguments: Sequence[Any], along: Directions) -> tuple[list[Any], list[Any]]:
    """Values and tangents of the outputs, where some inputs are dual tensors; None is no tangent."""
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        named = dict(zip(probe.names, arguments, strict=True))
        duals = {name: forward_ad.make_dual(named[name], direction) for name, direction in along.items()}
        outputs = outputs_of(probe, replaced_by_name(probe, arguments, duals))
        with attributed("forward mode"):
            pairs = [forward_ad.unpack_dual(output) if is_floating(output) else (output, None) for output in outputs]
            return [value for value, _ in pairs], [tangent for _, tangent in pairs]


def by_differences(probe: Probe, arguments: Sequence[Any], along: Directions) -> list[Any]:
    """The tangents by Richardson's central differences; None for an output of integers."""
    named = dict(zip(probe.names, arguments, strict=True))
    step = 100 * step_for([named[name] for name in along])

    def outputs(scale: float) -> list[torch.Tensor]:
        moved = {name: named[name] + scale * direction for name, direction in along.items()}
        return list(outputs_of(probe, replaced_by_name(probe, arguments, moved)))

    def central(h: float) -> list[Any]:
        pairs = zip(outputs(h), outputs(-h), strict=True)
        return [(above - below) / (2 * h) if is_floating(above) else None for above, below in pairs]

    wide, narrow = central(step), central(step / 2)
    return [None if b is None else (4 * b - a) / 3 for a, b in zip(wide, narrow, strict=True)]


def judged(probe: Probe, arguments: Sequence[Any], along: Directions) -> dict[str, str]:
    """What is to be said of the tangent of each output along these directions."""
    _, found = dual(probe, copies(arguments), along)
    due = by_differences(probe, copies(arguments), along)
    rough = of_precision(probe, arguments, 1e-7, 3e-2)
    pairs = enumerate(zip(found, due, strict=True))
    return {f"output {at}": verdict(tangent, wanted, rough) for at, (tangent, wanted) in pairs}
