"""The installed Warp, as the checks see it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import warp

from tapecheck.contract import Judged


class WarpSubject:
    """Warp's public names behind one thin object, so that a fault can replace some without touching Warp.

    A check writes `wp.launch(…)`, `wp.zeros(…)`, `wp.Tape()` as any program would. Kernels are declared beside the
    checks with the real Warp: they are code to be launched, not a way to reach Warp.
    """

    judged: frozenset[Judged] = frozenset({"warp"})
    owner = "this release"
    packages: tuple[str, ...] = ()

    def __init__(self, module: ModuleType = warp, replaced: dict[str, Any] | None = None) -> None:
        self._module = module
        self._replaced = replaced or {}

    def __getattr__(self, name: str) -> Any:
        try:
            return self._replaced[name]
        except KeyError:
            return getattr(self._module, name)

    def replacing(self, **names: Any) -> WarpSubject:
        """The same subject with these public names replaced."""
        unknown = [name for name in names if not hasattr(self._module, name)]
        if unknown:
            raise AttributeError(f"Warp {self._module.__version__} has no {', '.join(unknown)} to replace")
        return WarpSubject(self._module, {**self._replaced, **names})

    def missing(self, needs: Iterable[str]) -> str | None:
        """The first of these names that this release does not offer, or None.

        A name is dotted (`Tape.visualize`), ends in `(parameter)` where a callable must take one
        (`zeros(retain_grad)`), or is that of an importable package with a colon before it (`:torch`).
        """
        return next((need for need in needs if not self._offers(need)), None)

    def _offers(self, need: str) -> bool:
        if need.startswith(":"):
            try:
                importlib.import_module(need[1:])
            except ImportError:
                return False
            return True
        path, _, parameter = need.rstrip(")").partition("(")
        target: Any = self
        for part in path.split("."):
            target = getattr(target, part, None)
            if target is None:
                return False
        if not parameter:
            return True
        if inspect.isclass(target):
            target = target.__init__
        return parameter in inspect.signature(target).parameters
