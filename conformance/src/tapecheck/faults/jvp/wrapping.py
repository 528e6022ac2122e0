"""What plants of this family are made of: a bridge whose tangents pass through something on their way in or out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapecheck.faults.bridge.wrapping import as_before, tuple_of
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject, Probe, is_floating

Mapping = Callable[[Sequence[Any]], Sequence[Any]]
"""From all tangents to all tangents, None where there is none."""


def tangent_of(tensor: Any) -> Any:
    """The tangent of a dual tensor, or None."""
    from torch.autograd import forward_ad

    return forward_ad.unpack_dual(tensor).tangent if is_floating(tensor) and forward_ad._current_level >= 0 else None


def with_tangent(tensor: Any, tangent: Any) -> Any:
    """The same value with another tangent, or without one."""
    from torch.autograd import forward_ad

    primal = forward_ad.unpack_dual(tensor).primal
    return primal if tangent is None else forward_ad.make_dual(primal, tangent)


def mapped(tensors: Sequence[Any], mapping: Mapping) -> list[Any]:
    """The tensors with the tangents that the mapping makes; as they are where none has one."""
    tangents = [tangent_of(tensor) for tensor in tensors]
    if all(tangent is None for tangent in tangents):
        return list(tensors)
    pairs = zip(tensors, tangents, mapping(tangents), strict=True)
    return [t if after is before else with_tangent(t, after) for t, before, after in pairs]


def with_tangents_in(subject: BridgeSubject, mapping: Mapping) -> BridgeSubject:
    """The bridge that gets its inputs' tangents from the mapping."""
    return subject.calling(lambda probe: lambda *arguments: probe.call(*mapped(arguments, mapping)))


def with_tangents_out(subject: BridgeSubject, mapping: Mapping) -> BridgeSubject:
    """The bridge that gives its outputs' tangents through the mapping."""

    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            outputs = probe.call(*arguments)
            return as_before(mapped(tuple_of(outputs), mapping), outputs)

        return call

    return subject.calling(wrap)


def each(mapping: Callable[[Any], Any]) -> Mapping:
    """That of every tangent by itself."""
    return lambda tangents: [None if tangent is None else mapping(tangent) for tangent in tangents]


def looking(look: Callable[[list[Any]], None]) -> Callable[[BridgeSubject], BridgeSubject]:
    """The bridge that looks at its inputs' tangents before each call."""

    def plant(subject: BridgeSubject) -> BridgeSubject:
        def wrap(probe: Probe) -> Callable[..., Any]:
            def call(*arguments: Any) -> Any:
                look([tangent_of(a) for a in arguments])
                return probe.call(*arguments)

            return call

        return subject.calling(wrap)

    return plant


def detached(tensor: Any) -> Any:
    """The tensor cut off from reverse mode, its tangent kept."""
    tangent = tangent_of(tensor)
    value = tensor.detach() if isinstance(tensor, torch.Tensor) else tensor
    return value if tangent is None else with_tangent(value, tangent)
