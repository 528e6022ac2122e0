"""Faults and near misses of the checks of readbacks."""

from collections.abc import Callable
from typing import Any

import warp

from tapecheck.faults.bridge.wrapping import with_inputs, with_outputs, with_seeds
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject, Probe


def _looking(look: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def mapping(tensor: Any) -> Any:
        look(tensor)
        return tensor

    return mapping


def forward_asks(subject: BridgeSubject) -> BridgeSubject:
    """Forward reads the largest input."""
    return with_inputs(subject, _looking(lambda tensor: tensor.max().item()))


def forward_looks_at_shapes(subject: BridgeSubject) -> BridgeSubject:
    """Forward computes a maximum on the device and reads sizes on the host."""
    return with_inputs(subject, _looking(lambda tensor: (tensor.max(), tensor.shape[0] > 0, tensor.numel())))


def backward_asks(subject: BridgeSubject) -> BridgeSubject:
    """Backward looks whether the seed is zero."""
    return with_seeds(subject, _looking(lambda seed: bool(seed.any())))


def backward_looks_at_shapes(subject: BridgeSubject) -> BridgeSubject:
    """Backward looks whether the seed is contiguous."""
    return with_seeds(subject, _looking(lambda seed: seed.is_contiguous()))


def _tangent(tensor: Any) -> Any:
    from torch.autograd import forward_ad

    return forward_ad.unpack_dual(tensor).tangent


def one_question_a_tangent(subject: BridgeSubject) -> BridgeSubject:
    """Of each tangent it is asked whether it is zero."""

    def ask(tensor: Any) -> None:
        tangent = _tangent(tensor)
        if tangent is not None:
            bool(tangent.any())

    return with_inputs(subject, _looking(ask))


def one_question_for_all_tangents(subject: BridgeSubject) -> BridgeSubject:
    """All tangents are asked at once whether they are zero."""

    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            tangents = [_tangent(a) for a in arguments if isinstance(a, torch.Tensor)]
            live = [tangent.any() for tangent in tangents if tangent is not None]
            if live:
                torch.stack(live).tolist()
            return probe.call(*arguments)

        return call

    return subject.calling(wrap)


def every_input_asked_whether_it_varies(subject: BridgeSubject) -> BridgeSubject:
    """An input without tangent is compared with itself to see whether it takes part."""

    def ask(tensor: Any) -> None:
        if _tangent(tensor) is None:
            bool((tensor == tensor).all())

    return with_inputs(subject, _looking(ask))


def every_input_asked_by_metadata(subject: BridgeSubject) -> BridgeSubject:
    """An input is asked for `requires_grad` and for its tangent."""
    return with_inputs(subject, _looking(lambda tensor: tensor.requires_grad or _tangent(tensor) is not None))


def waits_for_the_device(subject: BridgeSubject) -> BridgeSubject:
    """Each call ends with a wait for the device."""
    return with_outputs(subject, _looking(lambda output: warp.synchronize()))


def asks_before_the_census(subject: BridgeSubject) -> BridgeSubject:
    """The first call of all reads its inputs, later ones do not."""
    asked: list[str] = []

    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if probe.name not in asked:
                asked.append(probe.name)
                bool(arguments[0].any())
            return probe.call(*arguments)

        return call

    return subject.calling(wrap)
