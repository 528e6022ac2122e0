"""What torch's function transforms, and its traces, make of a tensor; all that has no public name in torch is here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.autograd import forward_ad

_functorch = torch._C._functorch


def transforming() -> bool:
    """Whether a function transform is under way."""
    return _functorch.peek_interpreter_stack() is not None


def may_vary() -> bool:
    """Whether anything can carry a tangent now: inside a dual level, or a function transform."""
    return forward_ad._current_level >= 0 or transforming()


def varies(tensor: torch.Tensor) -> bool:
    """Whether a tensor carries a tangent or is wrapped by a transform; what a wrapper hides is not known here."""
    if _functorch.is_functorch_wrapped_tensor(tensor):
        return True
    if forward_ad._current_level < 0 or not tensor.is_floating_point():
        return False
    # asked of every tensor of a call: the public `unpack_dual` says the same in five times the time
    return torch._unpack_dual(tensor, level=forward_ad._current_level)[1] is not None


@contextmanager
def outside_transforms() -> Iterator[None]:
    """No gradient and no transform within: for what reads values and is differentiated by none.

    Raises:
        NotImplementedError: torch is tracing.
    """
    refuse_tracing()
    with torch.no_grad():
        if not transforming():
            yield
        else:
            with temporarily_clear_interpreter_stack():
                yield


def plain(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """The value below all transforms.

    Raises:
        NotImplementedError: the tensor is a batch of `torch.func.vmap`, which has one value for each item.
    """
    while _functorch.is_functorch_wrapped_tensor(tensor):
        if _functorch.is_batchedtensor(tensor):
            remedy = "give a list made outside that holds for every item, or call it for each item"
            raise NotImplementedError(f"{name}: torch.func.vmap over what a neighbour search reads; {remedy}")
        tensor = _functorch.get_unwrapped(tensor)
    return forward_ad.unpack_dual(tensor).primal if forward_ad._current_level >= 0 else tensor


def refuse_tracing() -> None:
    """A trace of torch operations does not see what a kernel writes, and replays without it.

    Raises:
        NotImplementedError: torch is tracing.
    """
    if torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.PROXY) is not None:
        remedy = "call torch.func.jvp for each tangent instead of torch.func.linearize"
        raise NotImplementedError(f"torch is tracing, which does not see a Warp kernel; {remedy}")


def refuse_batches(tensor: torch.Tensor) -> None:
    """A tensor of torch's old `vmap` has no memory of its own, and a custom Function is not asked to loop over it.

    Raises:
        NotImplementedError: it is one.
    """
    if _functorch.is_legacy_batchedtensor(tensor):
        remedy = "use torch.func.vmap, jacrev or hessian instead"
        raise NotImplementedError(f"vectorize=True and is_grads_batched=True do not see a Warp kernel; {remedy}")
