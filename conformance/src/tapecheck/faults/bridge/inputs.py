"""Faults and near misses of the checks of inputs that are laid out otherwise, changed in between, or wrong."""

from collections.abc import Callable
from typing import Any

import warp

from tapecheck.faults.bridge.wrapping import tuple_of, with_inputs
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject, Probe


def _reading_later(subject: BridgeSubject, keep: Callable[[Any], Any]) -> BridgeSubject:
    """The bridge whose backward computes with tensors that it kept aside, out of torch's sight."""

    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            kept = [keep(a) if isinstance(a, torch.Tensor) else a for a in arguments]
            floating = [at for at, a in enumerate(kept) if isinstance(a, torch.Tensor) and a.is_floating_point()]

            class Later(torch.autograd.Function):
                @staticmethod
                def forward(ctx: Any, *inputs: Any) -> Any:
                    with torch.no_grad():
                        return tuple_of(probe.call(*arguments))

                @staticmethod
                def backward(ctx: Any, *seeds: Any) -> Any:
                    inputs = [a.detach() if isinstance(a, torch.Tensor) else a for a in kept]
                    for at in floating:
                        inputs[at].requires_grad_()
                    with torch.enable_grad():
                        again = tuple_of(probe.call(*inputs))
                    return torch.autograd.grad(again, [inputs[at] for at in floating], seeds, allow_unused=True)

            outputs = Later.apply(*(arguments[at] for at in floating))
            return outputs if len(outputs) > 1 else outputs[0]

        return call

    return subject.calling(wrap)


def backward_reads_what_is_there(subject: BridgeSubject) -> BridgeSubject:
    """Backward reads inputs that were not saved with `save_for_backward`."""
    return _reading_later(subject, lambda tensor: tensor)


def backward_reads_copies(subject: BridgeSubject) -> BridgeSubject:
    """Backward reads copies of the inputs, which nobody can change."""
    return _reading_later(subject, lambda tensor: tensor.detach().clone())


def memory_read_from_its_beginning(subject: BridgeSubject) -> BridgeSubject:
    """The memory of an input is read from its beginning, element by element, whatever its strides and offset."""

    class Reading(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, tensor: Any) -> Any:
            memory = tensor.new_empty(0).set_(tensor.untyped_storage())
            return torch.cat([memory, memory.new_zeros(tensor.numel())])[: tensor.numel()].reshape(tensor.shape)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient

    return with_inputs(subject, Reading.apply)


def inputs_made_contiguous(subject: BridgeSubject) -> BridgeSubject:
    """Inputs are made contiguous first."""
    return with_inputs(subject, lambda tensor: tensor.contiguous())


def _checking(subject: BridgeSubject, before: Callable[[], None], text: Callable[[Exception], str]) -> BridgeSubject:
    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            try:
                return probe.call(*arguments)
            except (TypeError, ValueError) as problem:
                before()
                raise type(problem)(text(problem)) from None

        return call

    return subject.calling(wrap)


def errors_name_nothing(subject: BridgeSubject) -> BridgeSubject:
    """An error says that an argument is wrong, and not which."""
    return _checking(subject, lambda: None, lambda problem: "an argument is wrong")


def arguments_checked_after_a_launch(subject: BridgeSubject) -> BridgeSubject:
    """A kernel is launched before the arguments are checked."""

    def launch() -> None:
        from tapecheck.subjects.miniature_kernels import product

        arrays = [warp.zeros((1, 2), dtype=warp.float64) for _ in range(3)]
        warp.launch(product, 1, arrays, [warp.zeros(1, dtype=warp.float64)])

    return _checking(subject, launch, str)


def errors_say_more(subject: BridgeSubject) -> BridgeSubject:
    """An error says more than is needed."""
    return _checking(subject, lambda: None, lambda problem: f"wrong arguments: {problem}; see the guide")
