"""Faults and near misses of the checks of torch's forward mode."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tapecheck.faults.interop.sharing import with_torch
from tapecheck.subjects.warp import WarpSubject


def _with_tangents(subject: WarpSubject, mapping: Callable[[Any], Any]) -> WarpSubject:
    """The subject whose Functions get each tangent as that makes it."""
    import torch

    class Function(torch.autograd.Function):
        def __init_subclass__(cls) -> None:
            jvp = cls.jvp
            mapped = staticmethod(lambda ctx, *tangents: jvp(ctx, *map(mapping, tangents)))
            type.__setattr__(cls, "jvp", mapped)

    return with_torch(subject, autograd=SimpleNamespace(Function=Function))


def only_live_tangents(subject: WarpSubject) -> WarpSubject:
    """A tangent of zeros arrives as None."""
    return _with_tangents(subject, lambda tangent: tangent if tangent is not None and tangent.any() else None)


def zeros_for_all(subject: WarpSubject) -> WarpSubject:
    """Zeros arrive where nothing varies, whatever was asked for."""
    import torch

    return _with_tangents(subject, lambda tangent: torch.zeros(2) if tangent is None else tangent)


def tangents_are_copies(subject: WarpSubject) -> WarpSubject:
    """Each tangent arrives as a copy."""
    return _with_tangents(subject, lambda tangent: None if tangent is None else tangent.clone())


def jvp_always(subject: WarpSubject) -> WarpSubject:
    """`jvp` is called although no argument carries a tangent."""
    import torch

    class Function(torch.autograd.Function):
        @classmethod
        def apply(cls, *inputs: Any) -> Any:
            cls.jvp(None, *(torch.zeros(2) for _ in inputs))
            return super().apply(*inputs)  # type: ignore[no-untyped-call]

    return with_torch(subject, autograd=SimpleNamespace(Function=Function))
