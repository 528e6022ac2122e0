"""The checks, one package a family, in the catalogue's order; each family's kernels share one Warp module."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache


@cache
def load() -> None:
    """Imports every check, so that the registry is whole."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)
