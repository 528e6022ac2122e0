"""Faults and near misses of the checks of one call's values and derivatives."""

from collections.abc import Callable
from typing import Any

import warp

from tapecheck.faults.bridge.wrapping import as_before, passed_through, tuple_of, with_gradients, with_outputs
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject, Probe


def sums_in_single_precision(subject: BridgeSubject) -> BridgeSubject:
    """Outputs have the type of the inputs and the precision of float32."""
    return with_outputs(subject, lambda output: output.float().to(output.dtype))


def rounds_otherwise(subject: BridgeSubject) -> BridgeSubject:
    """Outputs differ in the last digits."""
    return with_outputs(subject, lambda output: output * (1.0 + 1e-15))


def last_gradient_negated(subject: BridgeSubject) -> BridgeSubject:
    """The gradient of the last floating input has the wrong sign."""

    def make(argument: Any, arguments: list[Any]) -> Callable[[Any], Any]:
        last = [a for a in arguments if isinstance(a, torch.Tensor) and a.is_floating_point()][-1]
        return lambda gradient: -gradient if argument is last else gradient

    return with_gradients(subject, make)


def gradients_stop(subject: BridgeSubject) -> BridgeSubject:
    """Gradients of every input are zero."""
    return with_gradients(subject, lambda argument, arguments: torch.zeros_like)


def gradients_round_otherwise(subject: BridgeSubject) -> BridgeSubject:
    """Gradients differ in the last digits."""
    return with_gradients(subject, lambda argument, arguments: lambda gradient: gradient * (1.0 + 1e-14))


def backward_is_detached(subject: BridgeSubject) -> BridgeSubject:
    """What backward gives depends on nothing: second derivatives are silently zero."""
    return with_gradients(subject, lambda argument, arguments: lambda gradient: gradient.detach())


def second_backward_refused(subject: BridgeSubject) -> BridgeSubject:
    """Backward refuses to be differentiated."""

    def backward(gradient: Any) -> Any:
        def refuse(seeds: Any) -> Any:
            raise RuntimeError("no second derivatives here")

        return passed_through([gradient], refuse)[0]

    return with_gradients(subject, lambda argument, arguments: backward)


def foreign_memory(subject: BridgeSubject) -> BridgeSubject:
    """Outputs lie in memory that torch did not allocate."""

    class Foreign(torch.autograd.Function):
        @staticmethod
        def forward(value: Any) -> Any:
            return torch.from_numpy(value.numpy().copy())

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, seed: Any) -> Any:
            return seed

    return with_outputs(subject, Foreign.apply)


def outputs_copied(subject: BridgeSubject) -> BridgeSubject:
    """Outputs are clones."""
    return with_outputs(subject, lambda output: output.clone())


def tape_around_every_call(subject: BridgeSubject) -> BridgeSubject:
    """A tape is open during every call."""

    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            with warp.Tape():
                return probe.call(*arguments)

        return call

    return subject.calling(wrap)


def outputs_hold_inputs(subject: BridgeSubject) -> BridgeSubject:
    """Each output carries the inputs with it."""

    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            outputs = probe.call(*arguments)
            for output in tuple_of(outputs):
                output.inputs = arguments
            return as_before(tuple_of(outputs), outputs)

        return call

    return subject.calling(wrap)
