"""What plants of this family are made of: a bridge whose calls, seeds or gradients pass through something first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject, Probe

Backward: TypeAlias = Callable[[Any], Any]
"""From the gradient of what came out to that of what went in."""


def passed_through(tensors: Sequence[Any], backward: Callable[[Sequence[Any]], Sequence[Any]]) -> tuple[Any, ...]:
    """The same tensors, whose gradients pass through a function together; None where a tensor got none."""

    class Passing(torch.autograd.Function):
        @staticmethod
        def forward(*values: Any) -> Any:
            return tuple(value.view_as(value) for value in values)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.set_materialize_grads(False)

        @staticmethod
        def backward(ctx: Any, *seeds: Any) -> Any:
            return tuple(backward(seeds))

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            return tuple(None if tangent is None else tangent.view_as(tangent) for tangent in tangents)

        @staticmethod
        def vmap(info: Any, in_dims: Any, *values: Any) -> Any:
            return Passing.apply(*values), in_dims

    passed: tuple[Any, ...] = Passing.apply(*tensors)
    return passed


def tuple_of(outputs: Any) -> tuple[Any, ...]:
    """Outputs as a tuple."""
    return tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)


def as_before(outputs: Sequence[Any], original: Any) -> Any:
    """Outputs as the call gives them, a tuple or one."""
    return tuple(outputs) if isinstance(original, (tuple, list)) else outputs[0]


def with_seeds(subject: BridgeSubject, mapping: Callable[[Any], Any]) -> BridgeSubject:
    """The bridge whose backward gets each seed as that makes it; None stays None."""

    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            outputs = probe.call(*arguments)
            passed = passed_through(tuple_of(outputs), lambda seeds: [None if s is None else mapping(s) for s in seeds])
            return as_before(passed, outputs)

        return call

    return subject.calling(wrap)


def with_outputs(subject: BridgeSubject, mapping: Callable[[Any], Any]) -> BridgeSubject:
    """The bridge whose outputs are what that makes of each."""

    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            outputs = probe.call(*arguments)
            return as_before([mapping(output) for output in tuple_of(outputs)], outputs)

        return call

    return subject.calling(wrap)


def with_inputs(subject: BridgeSubject, mapping: Callable[[Any], Any]) -> BridgeSubject:
    """The bridge that works on what that makes of each tensor."""
    is_tensor = torch.is_tensor

    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            return probe.call(*[mapping(a) if is_tensor(a) else a for a in arguments])

        return call

    return subject.calling(wrap)


def with_gradients(subject: BridgeSubject, make: Callable[[Any, list[Any]], Backward]) -> BridgeSubject:
    """The bridge whose gradients pass through a function, made at each call of an input and of all inputs."""

    def through(argument: Any, arguments: list[Any]) -> Any:
        if not (isinstance(argument, torch.Tensor) and argument.is_floating_point()):
            return argument
        backward = make(argument, arguments)
        return passed_through([argument], lambda seeds: [None if s is None else backward(s) for s in seeds])[0]

    return subject.calling(
        lambda probe: lambda *arguments: probe.call(*(through(a, list(arguments)) for a in arguments))
    )
