"""What may be differentiated through a tensor, told by metadata alone: nothing here looks at a value."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from sphweft.transforms import may_vary, transforming, varies


def tracked_places(tensors: Sequence[torch.Tensor | None]) -> list[int]:
    """The places of the tensors through which something can be pushed, in either direction; metadata alone tells.

    A tensor wrapped by a function transform always counts: what it hides is not known here.
    """
    grad = torch.is_grad_enabled()
    if not may_vary():
        return [n for n, t in enumerate(tensors) if grad and t is not None and t.requires_grad]
    return [n for n, t in enumerate(tensors) if t is not None and ((grad and t.requires_grad) or varies(t))]


def recorded_further(tensors: Sequence[torch.Tensor | None]) -> bool:
    """Whether what a derivative makes of these may be differentiated further: by reverse mode or a function transform,
    since torch has one level of dual tensors alone.
    """
    found = [tensor for tensor in tensors if tensor is not None]
    grad = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in found)
    return grad or (bool(found) and transforming())
