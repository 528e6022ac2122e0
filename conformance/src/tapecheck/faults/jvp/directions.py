"""Faults and near misses of the checks of directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tapecheck.faults.jvp.wrapping import detached, each, tangent_of, with_tangents_in, with_tangents_out
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject, Probe, is_floating


def in_plain_torch(subject: BridgeSubject) -> BridgeSubject:
    """The references themselves, which have every derivative."""
    return replace(
        subject, probes=tuple(replace(p, call=p.reference) for p in subject.probes if p.reference is not None)
    )


def tangents_copied(subject: BridgeSubject) -> BridgeSubject:
    """Each output's tangent is copied."""
    return with_tangents_out(subject, each(lambda tangent: tangent.clone()))


def tangents_halved(subject: BridgeSubject) -> BridgeSubject:
    """Each output's tangent is half of what it should be."""
    return with_tangents_out(subject, each(lambda tangent: tangent / 2))


def _dropped(at: int) -> Callable[[BridgeSubject], BridgeSubject]:
    def mapping(tangents: Any) -> Any:
        return [torch.zeros_like(t) if n == at and t is not None else t for n, t in enumerate(tangents)]

    return lambda subject: with_tangents_in(subject, mapping)


def first_tangent_dropped(subject: BridgeSubject) -> BridgeSubject:
    """The tangent of the first argument counts as zero."""
    return _dropped(0)(subject)


def second_tangent_dropped(subject: BridgeSubject) -> BridgeSubject:
    """The tangent of the second argument counts as zero."""
    return _dropped(1)(subject)


def lone_tangents_halved(subject: BridgeSubject) -> BridgeSubject:
    """A tangent that comes alone counts half."""

    def mapping(tangents: Any) -> Any:
        live = [tangent for tangent in tangents if tangent is not None]
        return [t / 2 if t is not None and len(live) == 1 else t for t in tangents]

    return with_tangents_in(subject, mapping)


def tangents_rounded_otherwise(subject: BridgeSubject) -> BridgeSubject:
    """Tangents of dual tensors differ in the last digit."""
    return with_tangents_out(subject, each(lambda tangent: tangent * (1 + 4e-16)))


def explicit_call_ignores_the_last(subject: BridgeSubject) -> BridgeSubject:
    """The explicit call ignores the last tangent."""

    def other(probe: Probe) -> Probe:
        if probe.tangent is None:
            return probe
        explicit = probe.tangent

        def tangent(inputs: Any, tangents: Any) -> Any:
            return explicit(inputs, [*tangents[:-1], None])

        return replace(probe, tangent=tangent)

    return replace(subject, probes=tuple(other(probe) for probe in subject.probes))


def gradients_lost_beside_tangents(subject: BridgeSubject) -> BridgeSubject:
    """Where something carries a tangent, nothing has a gradient."""

    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if all(tangent_of(a) is None for a in arguments):
                return probe.call(*arguments)
            return probe.call(*(detached(a) if tangent_of(a) is None else a for a in arguments))

        return call

    return subject.calling(wrap)


def tangents_flattened(subject: BridgeSubject) -> BridgeSubject:
    """The explicit shape of a tangent is lost: an output with several axes has a tangent with one."""

    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            outputs = probe.call(*arguments)
            if all(tangent_of(a) is None for a in arguments):
                return outputs
            return tuple(o.flatten() for o in outputs) if isinstance(outputs, tuple) else outputs.flatten()[:1]

        return call

    return subject.calling(wrap)


def tangents_of_other_precision(subject: BridgeSubject) -> BridgeSubject:
    """In forward mode outputs come in single precision."""

    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            outputs = probe.call(*arguments)
            if all(tangent_of(a) is None for a in arguments):
                return outputs
            return tuple(o.float() for o in outputs) if isinstance(outputs, tuple) else outputs.float()

        return call

    return subject.calling(wrap)


def first_tangent_for_every_output(subject: BridgeSubject) -> BridgeSubject:
    """Every output gets the mean of the first one's tangent."""

    def mapping(tangents: Any) -> Any:
        return [t if n == 0 or t is None else t * 0 + tangents[0].mean() for n, t in enumerate(tangents)]

    return with_tangents_out(subject, mapping)


def last_output_without_tangent(subject: BridgeSubject) -> BridgeSubject:
    """The last output has no tangent."""
    return with_tangents_out(subject, lambda tangents: [*tangents[:-1], None])


def tangents_detached(subject: BridgeSubject) -> BridgeSubject:
    """Tangents cannot be differentiated."""
    return with_tangents_out(subject, each(lambda tangent: tangent.detach()))


def tangents_of_values_as_they_were(subject: BridgeSubject) -> BridgeSubject:
    """A tangent can be differentiated by the direction, and not by the inputs."""

    def wrap(probe: Probe) -> Callable[..., Any]:
        return lambda *arguments: probe.call(
            *(_value_detached(a) if is_floating(a) and tangent_of(a) is not None else a for a in arguments)
        )

    return subject.calling(wrap)


def _value_detached(tensor: Any) -> Any:
    from torch.autograd import forward_ad

    primal, tangent = forward_ad.unpack_dual(tensor)
    return forward_ad.make_dual(primal.detach(), tangent)
