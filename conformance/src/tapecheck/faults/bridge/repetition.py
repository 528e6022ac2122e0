"""Faults and near misses of the checks of what one call leaves behind for another."""

from collections.abc import Callable
from typing import Any

from tapecheck.faults.bridge.wrapping import as_before, passed_through, tuple_of, with_gradients, with_inputs
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject, Probe


def _with_buffers(subject: BridgeSubject, key: Callable[[Any], Any], kept: bool) -> BridgeSubject:
    """The bridge that adds up gradients in buffers of some key, zeroed when acquired unless they are kept."""
    buffers: dict[Any, Any] = {}

    def make(argument: Any, arguments: list[Any]) -> Callable[[Any], Any]:
        def backward(gradient: Any) -> Any:
            held = buffers.get(key(argument)) if kept else None
            total = gradient if held is None else held + gradient
            buffers[key(argument)] = total.detach().clone()
            return total

        return backward

    return with_gradients(subject, make)


def leaf_keeps_its_buffer(subject: BridgeSubject) -> BridgeSubject:
    """Each leaf has a gradient buffer to which every call adds."""
    alive: list[Any] = []

    def key(argument: Any) -> int:
        alive.append(argument)
        return id(argument)

    return _with_buffers(subject, key, kept=True)


def buffer_of_a_shape_left_full(subject: BridgeSubject) -> BridgeSubject:
    """Inputs of one shape share a gradient buffer to which every call adds."""
    return _with_buffers(subject, lambda argument: argument.shape, kept=True)


def buffer_zeroed(subject: BridgeSubject) -> BridgeSubject:
    """Inputs of one shape share a gradient buffer that is zeroed when it is acquired."""
    return _with_buffers(subject, lambda argument: argument.shape, kept=False)


def _counting_forwards(subject: BridgeSubject, every: bool) -> BridgeSubject:
    pending: dict[int, int] = {}
    alive: list[Any] = []

    def make(argument: Any, arguments: list[Any]) -> Callable[[Any], Any]:
        alive.append(argument)
        pending[id(argument)] = pending.get(id(argument), 0) + 1 if every else 1
        return lambda gradient: gradient * float(pending.pop(id(argument), 1))

    return with_gradients(subject, make)


def every_forward_counts(subject: BridgeSubject) -> BridgeSubject:
    """A backward is that of all forwards since the last one."""
    return _counting_forwards(subject, every=True)


def only_the_last_forward_counts(subject: BridgeSubject) -> BridgeSubject:
    """A forward forgets the unused ones before it."""
    return _counting_forwards(subject, every=False)


def _recomputing(subject: BridgeSubject, latest: bool) -> BridgeSubject:
    """The bridge whose backward calls forward again, with its own inputs or with those of the latest call."""

    def wrap(probe: Probe) -> Callable[..., Any]:
        newest: list[Any] = []

        def call(*arguments: Any) -> Any:
            newest[:] = arguments
            with torch.no_grad():
                outputs = probe.call(*arguments)
            given = list(arguments)
            floating = [at for at, a in enumerate(given) if isinstance(a, torch.Tensor) and a.is_floating_point()]

            class Recomputing(torch.autograd.Function):
                @staticmethod
                def forward(ctx: Any, *inputs: Any) -> Any:
                    return tuple(output.clone() for output in tuple_of(outputs))

                @staticmethod
                def backward(ctx: Any, *seeds: Any) -> Any:
                    inputs = list(newest if latest else given)
                    for at in floating:
                        inputs[at] = inputs[at].detach().requires_grad_()
                    with torch.enable_grad():
                        again = tuple_of(probe.call(*inputs))
                    return torch.autograd.grad(again, [inputs[at] for at in floating], seeds, allow_unused=True)

            return as_before(Recomputing.apply(*(given[at] for at in floating)), outputs)

        return call

    return subject.calling(wrap)


def backward_reads_the_latest_inputs(subject: BridgeSubject) -> BridgeSubject:
    """Backward reads the inputs from a struct that the next call fills anew."""
    return _recomputing(subject, latest=True)


def backward_reads_its_own_inputs(subject: BridgeSubject) -> BridgeSubject:
    """Backward computes the outputs again from the call's own inputs."""
    return _recomputing(subject, latest=False)


def _with_scratch(subject: BridgeSubject, by_size: bool) -> BridgeSubject:
    """The bridge that keeps what backward reads in scratch memory of the call's size, one for all sizes or one each."""
    scratch: dict[Any, Any] = {}

    def make(argument: Any, arguments: list[Any]) -> Callable[[Any], Any]:
        size = argument.shape[0]
        if not by_size and size not in scratch:
            scratch.clear()
        mine = scratch.setdefault(size, object())
        return lambda gradient: gradient if scratch.get(size) is mine else gradient * 0.0

    return with_gradients(subject, make)


def scratch_kept_for_one_size(subject: BridgeSubject) -> BridgeSubject:
    """What backward reads lies in memory that a call of another size allocates anew."""
    return _with_scratch(subject, by_size=False)


def scratch_kept_by_size(subject: BridgeSubject) -> BridgeSubject:
    """What backward reads lies in memory of its own for each size."""
    return _with_scratch(subject, by_size=True)


def second_backward_adds(subject: BridgeSubject) -> BridgeSubject:
    """A second backward of one graph adds to the gradient of the first."""

    def make(argument: Any, arguments: list[Any]) -> Callable[[Any], Any]:
        times = [0]

        def backward(gradient: Any) -> Any:
            times[0] += 1
            return gradient * float(times[0])

        return backward

    return with_gradients(subject, make)


def gradients_copied(subject: BridgeSubject) -> BridgeSubject:
    """Gradients are clones."""
    return with_gradients(subject, lambda argument, arguments: lambda gradient: gradient.clone())


def leaf_filled_behind_torch(subject: BridgeSubject) -> BridgeSubject:
    """Backward adds to a leaf's `.grad` itself, and gives torch the gradient to add as well."""

    def make(argument: Any, arguments: list[Any]) -> Callable[[Any], Any]:
        def backward(gradient: Any) -> Any:
            with torch.no_grad():
                argument.grad = gradient.clone() if argument.grad is None else argument.grad + gradient
            return gradient

        return backward

    return with_gradients(subject, make)


def lone_gradient_of_a_neighbour(subject: BridgeSubject) -> BridgeSubject:
    """Where one input alone is differentiable, it gets a gradient that is meant for another position."""

    def make(argument: Any, arguments: list[Any]) -> Callable[[Any], Any]:
        asked = sum(isinstance(a, torch.Tensor) and a.requires_grad for a in arguments)
        return lambda gradient: gradient.flip(0) if asked == 1 else gradient

    return with_gradients(subject, make)


def _seeding_unused(subject: BridgeSubject, make: Callable[[Any], Any]) -> BridgeSubject:
    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            outputs = probe.call(*arguments)
            shapes = [output.detach() for output in tuple_of(outputs)]

            def backward(seeds: Any) -> list[Any]:
                return [make(s) if seed is None else seed for s, seed in zip(shapes, seeds, strict=True)]

            return as_before(passed_through(tuple_of(outputs), backward), outputs)

        return call

    return subject.calling(wrap)


def unused_output_seeded_with_ones(subject: BridgeSubject) -> BridgeSubject:
    """An output that nothing used is differentiated as if it were summed."""
    return _seeding_unused(subject, torch.ones_like)


def unused_output_seeded_with_zeros(subject: BridgeSubject) -> BridgeSubject:
    """An output that nothing used gets a seed of zeros."""
    return _seeding_unused(subject, torch.zeros_like)


def gradients_lie_in_a_reused_buffer(subject: BridgeSubject) -> BridgeSubject:
    """Gradients of one shape are returned in one buffer, which the next call fills anew."""
    buffers: dict[Any, Any] = {}

    def make(argument: Any, arguments: list[Any]) -> Callable[[Any], Any]:
        def backward(gradient: Any) -> Any:
            at = next(at for at, other in enumerate(arguments) if other is argument)
            return buffers.setdefault((at, gradient.shape), torch.empty_like(gradient)).copy_(gradient)

        return backward

    return with_gradients(subject, make)


def second_forward_differs(subject: BridgeSubject) -> BridgeSubject:
    """A second forward on the same memory computes with other values than the first."""
    seen: dict[int, Any] = {}

    def read(tensor: Any) -> Any:
        again = tensor.data_ptr() in seen
        seen[tensor.data_ptr()] = tensor.detach()
        return tensor + 0.1 if again and tensor.is_floating_point() else tensor

    return with_inputs(subject, read)
