"""Warp views of torch tensors, kept beside the tensor object in a weak side table.

The key is the object's identity, checked by a weak reference: a new tensor at a freed one's address finds nothing, and
a view dies with its tensor. Nothing is attached to the caller's tensor, so pickling and copying do not change. A view
never carries a gradient buffer: backward brings its own (see `bridge.launch`), so that a shared view has nothing to
leak from one call into another.
"""

from __future__ import annotations

import math
import weakref
from typing import Any

import torch
import warp as wp

from sphweft.runtime import COUNTERS, start

_VIEWS: dict[int, tuple[weakref.ref[torch.Tensor], int, torch.Size, torch.dtype, Any, Any]] = {}


def view(tensor: torch.Tensor, element: Any, shape: tuple[int, ...], *, keep: bool = True) -> Any:
    """The Warp array of shape (n,) over a tensor of shape (n, …).

    Args:
        tensor: any strides; what is not contiguous is copied and never kept.
        element: Warp type of an entry.
        shape: of an entry; as many scalars as the tensor's trailing axes have.
        keep: whether to look in the table and keep the view there.
    """
    if not keep:
        return _made(tensor, element, shape)
    entry = _VIEWS.get(id(tensor))
    if (
        entry is not None
        and entry[0]() is tensor
        and entry[1] == tensor.data_ptr()
        and entry[2] == tensor.shape
        and entry[3] == tensor.dtype
        and entry[4] is element
        and tensor.is_contiguous()
    ):
        COUNTERS["views_reused"] += 1
        return entry[5]
    made = _made(tensor, element, shape)
    if tensor.is_contiguous():
        key = id(tensor)
        reference = weakref.ref(tensor, lambda dead: _forget(key, dead))
        _VIEWS[key] = (reference, tensor.data_ptr(), tensor.shape, tensor.dtype, element, made)
    return made


def _forget(key: int, dead: weakref.ref[torch.Tensor]) -> None:
    entry = _VIEWS.get(key)
    if entry is not None and entry[0] is dead:
        del _VIEWS[key]


def _made(tensor: torch.Tensor, element: Any, shape: tuple[int, ...]) -> Any:
    COUNTERS["views_built"] += 1
    start()
    own = tensor.detach()
    if not own.is_contiguous():
        own = own.clone(memory_format=torch.contiguous_format)
    rows = (tensor.shape[0], *shape)
    # as_strided, since a contiguous tensor may have odd strides on axes of size zero or one, which Warp refuses
    own = own.as_strided(rows, [math.prod(rows[axis + 1 :]) for axis in range(len(rows))])
    return wp.from_torch(own, dtype=element, requires_grad=False)


def kept(tensor: torch.Tensor) -> Any:
    """The view that the table holds for this tensor object, or None."""
    entry = _VIEWS.get(id(tensor))
    return entry[5] if entry is not None and entry[0]() is tensor else None


def kept_count() -> int:
    """How many views the table holds."""
    return len(_VIEWS)
