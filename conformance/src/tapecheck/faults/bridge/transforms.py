"""Faults and near misses of the checks of transforms, compilation, modes and serialization."""

from collections.abc import Callable
from typing import Any

import warp

from tapecheck.faults.bridge.wrapping import as_before, tuple_of, with_inputs, with_outputs
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject, Probe


def _is_wrapped(tensor: Any) -> bool:
    return bool(torch._C._functorch.is_functorch_wrapped_tensor(tensor))


def detached_in_a_transform(subject: BridgeSubject) -> BridgeSubject:
    """An input that a transform has wrapped is detached."""
    return with_inputs(subject, lambda tensor: tensor.detach() if _is_wrapped(tensor) else tensor)


def tangents_dropped(subject: BridgeSubject) -> BridgeSubject:
    """Forward mode finds outputs without tangents."""

    def dropped(output: Any) -> Any:
        return output.detach() if _is_wrapped(output) else output

    return with_outputs(with_inputs(subject, dropped), dropped)


def first_sample_for_all(subject: BridgeSubject) -> BridgeSubject:
    """Of a batch only the first sample is computed."""

    class First(torch.autograd.Function):
        @staticmethod
        def forward(value: Any) -> Any:
            return value.clone()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, seed: Any) -> Any:
            return seed

        @staticmethod
        def vmap(info: Any, in_dims: Any, value: Any) -> Any:
            return value.select(in_dims[0], 0).unsqueeze(0).expand(info.batch_size, *[-1] * (value.dim() - 1)), 0

    return with_inputs(subject, lambda tensor: First.apply(tensor) if tensor.is_floating_point() else tensor)


def viewed_in_a_transform(subject: BridgeSubject) -> BridgeSubject:
    """Inputs are viewed in their own shape."""
    return with_inputs(subject, lambda tensor: tensor.view_as(tensor))


def detached_when_compiled(subject: BridgeSubject) -> BridgeSubject:
    """Compiled code loses the gradient of its inputs."""
    is_compiling = torch.compiler.is_compiling

    def lost(tensor: Any) -> Any:
        return tensor.detach() + 0.0 * tensor if is_compiling() and tensor.requires_grad else tensor

    return with_inputs(subject, lost)


def cloned_when_compiled(subject: BridgeSubject) -> BridgeSubject:
    """Compiled code gets its inputs as clones."""
    is_compiling = torch.compiler.is_compiling
    return with_inputs(subject, lambda tensor: tensor.clone() if is_compiling() else tensor)


def _with_arrays(subject: BridgeSubject, attached: bool) -> BridgeSubject:
    arrays = torch.utils.weak.WeakIdKeyDictionary()

    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            for argument in arguments:
                if isinstance(argument, torch.Tensor) and argument.is_floating_point() and argument.numel():
                    array = warp.from_torch(argument.detach())
                    if attached:
                        vars(argument)["warp_array"] = array
                    else:
                        arrays[argument] = array
            return probe.call(*arguments)

        return call

    return subject.calling(wrap)


def arrays_attached_to_inputs(subject: BridgeSubject) -> BridgeSubject:
    """Each input carries its Warp array as an attribute."""
    return _with_arrays(subject, attached=True)


def arrays_kept_beside(subject: BridgeSubject) -> BridgeSubject:
    """Warp arrays are kept in a weak table beside the inputs."""
    return _with_arrays(subject, attached=False)


def _in_mode(subject: BridgeSubject, mode: Callable[[], Any], after: Callable[[Any], Any]) -> BridgeSubject:
    def wrap(probe: Probe) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            with mode():
                outputs = probe.call(*arguments)
                return as_before([after(output) for output in tuple_of(outputs)], outputs)

        return call

    return subject.calling(wrap)


def grad_enabled_again(subject: BridgeSubject) -> BridgeSubject:
    """Gradients are enabled whatever the caller said."""
    return _in_mode(subject, torch.enable_grad, lambda output: output)


def inference_left(subject: BridgeSubject) -> BridgeSubject:
    """Outputs are made outside inference mode."""
    return _in_mode(subject, lambda: torch.inference_mode(False), lambda output: output.clone())


def type_of_autocast(subject: BridgeSubject) -> BridgeSubject:
    """Outputs have the type that autocast names."""
    return with_outputs(subject, lambda output: output.bfloat16() if torch.is_autocast_enabled("cpu") else output)


def modes_left_alone(subject: BridgeSubject) -> BridgeSubject:
    """Outputs are viewed in their own shape, in whatever mode."""
    return with_outputs(subject, lambda output: output.view_as(output))


def saved_by_address(subject: BridgeSubject) -> BridgeSubject:
    """Backward reads a saved tensor at the address that it had in forward."""

    class Addressed(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, tensor: Any) -> Any:
            ctx.save_for_backward(tensor)
            ctx.address = tensor.data_ptr()
            return tensor.view_as(tensor)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient if ctx.saved_tensors[0].data_ptr() == ctx.address else gradient * 0.0

    return with_inputs(subject, lambda tensor: Addressed.apply(tensor) if tensor.is_floating_point() else tensor)
