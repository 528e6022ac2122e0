"""What may be differentiated through a tensor, told by metadata alone: nothing here looks at a value."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.autograd import forward_ad


def tracked_places(tensors: Sequence[torch.Tensor | None]) -> list[int]:
    """The places of the tensors through which something can be pushed, in either direction; metadata alone tells.

    A tensor wrapped by a function transform always counts: what it hides is not known here.
    """
    grad = torch.is_grad_enabled()
    if not may_vary():
        return [n for n, t in enumerate(tensors) if grad and t is not None and t.requires_grad]
    return [n for n, t in enumerate(tensors) if t is not None and ((grad and t.requires_grad) or _transformed(t))]


def recorded_further(tensors: Sequence[torch.Tensor | None]) -> bool:
    """Whether what a derivative makes of these may be differentiated further: by reverse mode or a function transform,
    since torch has one level of dual tensors alone.
    """
    found = [tensor for tensor in tensors if tensor is not None]
    grad = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in found)
    return grad or (bool(found) and torch._C._functorch.peek_interpreter_stack() is not None)


def may_vary() -> bool:
    """Whether anything can carry a tangent now: inside a dual level, or a function transform."""
    return forward_ad._current_level >= 0 or torch._C._functorch.peek_interpreter_stack() is not None


def _transformed(tensor: torch.Tensor) -> bool:
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return True
    if forward_ad._current_level < 0 or not tensor.is_floating_point():
        return False
    return forward_ad.unpack_dual(tensor).tangent is not None
