"""What a judge may see of the package: counters of what was done, the state of the caches, and the parts of a call."""

from __future__ import annotations

from typing import Any

import torch

from sphweft import slices
from sphweft.bridge.function import StateAwareWarpFunction
from sphweft.bridge.launch import Launcher
from sphweft.bridge.layout import LAYOUT, extract_state
from sphweft.cache import views
from sphweft.cache.null_fields import NullField, null_field
from sphweft.operators.density import DENSITY
from sphweft.runtime import COUNTERS

__all__ = [
    "DENSITY",
    "LAYOUT",
    "Launcher",
    "NullField",
    "StateAwareWarpFunction",
    "cached_view",
    "cached_view_count",
    "counters",
    "extract_state",
    "null_field",
    "slices",
]


def counters() -> dict[str, int]:
    """A copy of the counters.

    Returns:
        `launches` and `adjoint_launches` of kernels, `views_built`, `views_reused`, `structs_built`, `structs_reused`,
        `fields_written` into reused structs, `kernels_made`.
    """
    return dict(COUNTERS)


def cached_view(tensor: torch.Tensor) -> Any:
    """The Warp array that the view cache holds for this tensor object, or None."""
    return views.kept(tensor)


def cached_view_count() -> int:
    """How many views the cache holds."""
    return views.kept_count()
