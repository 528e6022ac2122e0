"""Warp views of torch tensors, kept beside the tensor object in a weak side table.

The key is the object's identity, checked by a weak reference: a new tensor at a freed one's address finds nothing, and
a view dies with its tensor. Nothing is attached to the caller's tensor, so pickling and copying do not change. A view
never carries a gradient buffer: backward brings its own (see `bridge.launch`), so that a shared view has nothing to
leak from one call into another.
"""

from __future__ import annotations

import math
import weakref
from functools import cache, lru_cache
from typing import Any

import torch
import warp as wp

from sphweft.runtime import COUNTERS, start
from sphweft.transforms import refuse_batches


class View:
    """A tensor of shape (n, …) as a Warp array of shape (n,).

    Attributes:
        descriptor: what Warp passes to a kernel for it.
        content: address and length, which tell whether a struct holds it already.
        owner: weak reference to the tensor object that the view is kept for; None where it is not kept.
        pointer, count, dtype, element: of the tensor when the view was made.
    """

    __slots__ = ("_array", "_own", "content", "count", "descriptor", "dtype", "element", "owner", "pointer")

    def __init__(self, tensor: torch.Tensor, element: Any, shape: tuple[int, ...]) -> None:
        COUNTERS["views_built"] += 1
        self._array: Any = None
        self._own = entries_of(tensor, shape)
        self.descriptor = wp.from_torch(self._own, dtype=element, return_ctype=True)
        self.content = (self.descriptor.data, self.descriptor.shape[0])
        self.owner: Any = None
        self.pointer, self.count, self.dtype, self.element = tensor.data_ptr(), tensor.numel(), tensor.dtype, element

    @property
    def array(self) -> Any:
        """The Warp array itself, always the same one. No launch needs it."""
        if self._array is None:
            self._array = wp.from_torch(self._own, dtype=self.element, requires_grad=False)
        return self._array

    def attach(self, tensor: torch.Tensor) -> None:
        """Keeps the view for as long as the tensor object lives."""
        key = id(tensor)
        self.owner = weakref.ref(tensor, lambda dead: _forget(key, dead))
        _VIEWS[key] = self

    def belongs_to(self, tensor: torch.Tensor | weakref.ref[torch.Tensor]) -> bool:
        """Whether it is kept for a tensor object, given itself or by its weak reference."""
        return self.owner is tensor or self.owner() is tensor


_VIEWS: dict[int, View] = {}


def view(tensor: torch.Tensor, element: Any, shape: tuple[int, ...], keep: bool = True) -> View:
    """The view of a tensor.

    Args:
        tensor: any strides; what is not contiguous, or negated lazily, is copied and never kept, nor is what is empty.
        element: Warp type of an entry.
        shape: of an entry; as many scalars as the tensor's trailing axes have.
        keep: whether to look in the table and keep the view there.
    """
    if keep:
        entry = _VIEWS.get(id(tensor))
        if (  # it is that object's, and shows what the object is now
            entry is not None
            and entry.owner() is tensor
            and entry.pointer == tensor.data_ptr()
            and entry.count == tensor.numel()
            and entry.element is element
            and entry.dtype is tensor.dtype
            and tensor.is_contiguous()
        ):
            return entry
    made = View(tensor, element, shape)
    if keep and tensor.is_contiguous() and tensor.numel() and not tensor.is_neg():
        made.attach(tensor)
    return made


def _forget(key: int, dead: weakref.ref[torch.Tensor]) -> None:
    entry = _VIEWS.get(key)
    if entry is not None and entry.belongs_to(dead):
        del _VIEWS[key]


def entries_of(tensor: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """The tensor as one axis of entries of that shape, or a contiguous copy of it."""
    refuse_batches(tensor)
    start()
    own = tensor.detach().resolve_neg()
    if not own.is_contiguous():
        own = own.clone(memory_format=torch.contiguous_format)
    rows = (tensor.shape[0], *shape)
    # as_strided, since a contiguous tensor may have odd strides on axes of size zero or one, which Warp refuses
    return own.as_strided(rows, _contiguous_strides(rows))


@lru_cache
def _contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def array_over(tensor: torch.Tensor, element: Any, shape: tuple[int, ...]) -> Any:
    """A new Warp array over a tensor, or over a contiguous copy of it."""
    return wp.from_torch(entries_of(tensor, shape), dtype=element, requires_grad=False)


@cache
def zeros_without_end(element: Any, device: str) -> View:
    """A view of one entry of zeros that stands for any number of them: a tangent that is not there."""
    made = View.__new__(View)
    made._own = made._array = wp.zeros(1, dtype=element, device=device)
    made.descriptor = made.array.__ctype__()
    made.descriptor.shape[0], made.descriptor.strides[0] = 2**31 - 1, 0
    made.content = (made.array.ptr, -1)
    return made


def kept(tensor: torch.Tensor) -> Any:
    """The Warp array that the table holds for this tensor object, or None."""
    entry = _VIEWS.get(id(tensor))
    return entry.array if entry is not None and entry.belongs_to(tensor) else None


def kept_count() -> int:
    """How many views the table holds."""
    return len(_VIEWS)
