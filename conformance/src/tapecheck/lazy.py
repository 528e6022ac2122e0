"""Torch and what is built on it, imported when first used: judging Warp alone needs none, and it costs seconds."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch

    from tapecheck import oracles as oracles
else:

    class _Module:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(importlib.import_module(self._name), name)

    torch, oracles = _Module("torch"), _Module("tapecheck.oracles")
