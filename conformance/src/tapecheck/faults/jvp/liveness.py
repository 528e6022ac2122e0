"""Faults and near misses of the checks of which tangents count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapecheck.faults.bridge.wrapping import as_before, with_outputs
from tapecheck.faults.jvp.wrapping import each, looking, tangent_of, with_tangents_in, with_tangents_out
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject, Probe, is_floating


def _level() -> int:
    from torch.autograd import forward_ad

    level: int = forward_ad._current_level
    return level


def dual_levels_refused(subject: BridgeSubject) -> BridgeSubject:
    """Inside a dual level there must be a tangent."""

    def look(tangents: list[Any]) -> None:
        if _level() >= 0 and all(tangent is None for tangent in tangents):
            raise RuntimeError("no tangent inside a dual level")

    return looking(look)(subject)


def dual_levels_noticed(subject: BridgeSubject) -> BridgeSubject:
    """Before each call it is asked whether there is a dual level."""
    return looking(lambda tangents: None)(subject)


def zero_tangents_refused(subject: BridgeSubject) -> BridgeSubject:
    """Where every tangent is zero, torch finds that something is missing."""

    def look(tangents: list[Any]) -> None:
        given = [tangent for tangent in tangents if tangent is not None]
        if given and not any(bool(tangent.any()) for tangent in given):
            raise RuntimeError("INTERNAL ASSERT FAILED: a tangent is due")

    return looking(look)(subject)


def values_of_duals_rounded_otherwise(subject: BridgeSubject) -> BridgeSubject:
    """Values of dual tensors differ in the last digit."""
    return with_outputs(subject, lambda output: output * (1 + 4e-16) if tangent_of(output) is not None else output)


def zero_tangents_dropped(subject: BridgeSubject) -> BridgeSubject:
    """A tangent that is zero is dropped, if another is not."""

    def mapping(tangents: Any) -> Any:
        zeros = [tangent is not None and not bool((tangent != 0).any()) for tangent in tangents]
        live = any(t is not None and not zero for t, zero in zip(tangents, zeros, strict=True))
        return [None if zero and live else t for t, zero in zip(tangents, zeros, strict=True)]

    return with_tangents_in(subject, mapping)


def tangents_counted(subject: BridgeSubject) -> BridgeSubject:
    """Tangents are divided by their number, zeros included."""

    def mapping(tangents: Any) -> Any:
        count = sum(tangent is not None for tangent in tangents)
        return [None if t is None else t / count for t in tangents]

    return with_tangents_in(subject, mapping)


def nan_tangents_dropped(subject: BridgeSubject) -> BridgeSubject:
    """NaN is not larger than zero, and so no live tangent."""
    return with_tangents_out(subject, each(lambda tangent: torch.nan_to_num(tangent, 0.0)))


def _outputs_of_primals(subject: BridgeSubject, mapping: Callable[[Any], Any]) -> BridgeSubject:
    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            from torch.autograd import forward_ad

            if all(tangent_of(a) is None for a in arguments):
                return probe.call(*arguments)
            primals = [forward_ad.unpack_dual(a).primal if is_floating(a) else a for a in arguments]
            outputs = probe.call(*primals)
            listed = outputs if isinstance(outputs, tuple) else (outputs,)
            return as_before([mapping(output) for output in listed], outputs)

        return call

    return subject.calling(wrap)


def outputs_without_tangent(subject: BridgeSubject) -> BridgeSubject:
    """A tangent is ignored, and the plain value comes."""
    return _outputs_of_primals(subject, lambda output: output)


def outputs_with_zero_tangent(subject: BridgeSubject) -> BridgeSubject:
    """A tangent is ignored, and the plain value comes with a tangent of zeros."""

    def with_zeros(output: Any) -> Any:
        from torch.autograd import forward_ad

        return forward_ad.make_dual(output, torch.zeros_like(output))

    return _outputs_of_primals(subject, with_zeros)


def always_saved_for_forward_mode(subject: BridgeSubject) -> BridgeSubject:
    """Everything is saved for forward mode, whether there is one or not."""

    class Saving(torch.autograd.Function):
        @staticmethod
        def forward(value: Any) -> Any:
            return value.view_as(value)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, seed: Any) -> Any:
            return seed

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            return tangent.view_as(tangent)

    def saving(output: Any) -> Any:
        return Saving.apply(output) if output.is_floating_point() else output  # type: ignore[no-untyped-call]

    return with_outputs(subject, saving)
