"""Placeholders of the places that a call does not use: built once, read by nobody, never differentiated.

They hold NaN, so that a kernel that did read one would show it in every result.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch
import warp as wp

from sphweft.runtime import SCALARS, element_type, start, warp_device


class NullField:
    """A placeholder.

    Attributes:
        kind: what an entry would be: scalar, vector, matrix or integer.
        array: a Warp array of one entry.
    """

    __slots__ = ("array", "kind")

    def __init__(self, kind: str, array: Any) -> None:
        self.kind, self.array = kind, array

    def __repr__(self) -> str:
        return f"NullField({self.kind})"


@cache
def null_field(kind: str, dimension: int, device: torch.device, dtype: torch.dtype) -> NullField:
    """The one placeholder of a kind, dimension, device and dtype."""
    start()
    if kind == "integer":
        return NullField(kind, wp.full(1, -1, dtype=wp.int32, device=warp_device(device)))
    shape = {"scalar": (), "vector": (dimension,), "matrix": (dimension, dimension)}[kind]
    scalar = SCALARS[dtype]
    values = torch.full((1, *shape), math.nan, dtype=dtype, device=device)
    return NullField(kind, wp.clone(wp.from_torch(values, dtype=element_type(scalar, shape))))
