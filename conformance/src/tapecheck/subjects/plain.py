"""Two operations in plain torch: what every check of a bridge must pass, and the reference of the miniature bridge."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from tapecheck.subjects.probe import BridgeSubject, Probe

FLOATING = (torch.float32, torch.float64)


@dataclass(frozen=True)
class Arguments:
    """The tensors that an operation takes.

    Attributes:
        shapes: name and shape of each; a letter stands for a number that must be the same throughout.
        integers: names of those that are integers.
    """

    shapes: dict[str, tuple[str | int, ...]]
    integers: tuple[str, ...] = ()

    def check(self, tensors: Sequence[Any]) -> None:
        """Refuses wrong arguments by name.

        Raises:
            TypeError: no tensor, or a wrong type.
            ValueError: a wrong shape or device.
        """
        sizes: dict[str, tuple[str, int]] = {}
        first = tensors[0]
        for (name, shape), tensor in zip(self.shapes.items(), tensors, strict=True):
            if not isinstance(tensor, torch.Tensor):
                raise TypeError(f"{name} must be a tensor, not {type(tensor).__name__}")
            due = (torch.int32,) if name in self.integers else FLOATING
            if tensor.dtype not in due or not (name in self.integers or tensor.dtype == first.dtype):
                raise TypeError(f"{name} is {tensor.dtype}; {' or '.join(map(str, due))} is due, the same throughout")
            if tensor.device.type not in ("cpu", "cuda") or tensor.device != first.device:
                raise ValueError(f"{name} is on {tensor.device}; one CPU or CUDA device is due, the same throughout")
            if tensor.dim() != len(shape):
                raise ValueError(f"{name} has {tensor.dim()} axes; {len(shape)} are due")
            for size, axis in zip(tensor.shape, shape, strict=True):
                other, wanted = sizes.setdefault(axis, (name, size)) if isinstance(axis, str) else ("", axis)
                if size != wanted:
                    raise ValueError(f"{name} has shape {tuple(tensor.shape)}; {wanted} is due as in {other or shape}")


PARTICLES = Arguments({"query": ("n", 2), "reference": ("m", 2), "masses": ("m",), "kinds": ("n",)}, ("kinds",))
FIELDS = Arguments({"field": ("n", 2), "weight": ("n", 2)})


def pair_sum(query: Any, reference: Any, masses: Any, kinds: Any, softening: float) -> Any:
    """The square of the mass around each query point, twice as large a sum for points of kind 1."""
    squares = ((query[:, None] - reference[None]) ** 2).sum(-1)
    total = (masses * torch.exp(-squares / softening**2)).sum(1)
    return (torch.where(kinds == 1, 2.0, 1.0) * total) ** 2


def product(field: Any, weight: Any) -> Any:
    """The weighted sine of a field, and the weighted sum of its squares."""
    return torch.sin(field) * weight, (field**2 * weight).sum(-1)


def particles(size: int, dtype: torch.dtype) -> tuple[Any, ...]:
    """Two populations of a size, masses, kinds and a softening length."""
    generator = torch.Generator().manual_seed(size)
    draw = functools.partial(torch.rand, dtype=dtype, generator=generator)
    kinds = torch.arange(size, dtype=torch.int32) % 2
    return draw(size, 2), draw(size, 2), draw(size) + 0.5, kinds, 0.7


def fields(size: int, dtype: torch.dtype) -> tuple[Any, ...]:
    """Two fields of a size."""
    generator = torch.Generator().manual_seed(size + 100)
    return tuple(torch.randn(size, 2, dtype=dtype, generator=generator) for _ in range(2))


def subject() -> BridgeSubject:
    """Both operations."""
    return BridgeSubject(
        (checked(PARTICLES, pair_sum, particles), checked(FIELDS, product, fields, values=("field",), tangent=along))
    )


def along(inputs: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The derivative of the product along a direction; None is a tangent that is not there."""
    full = tuple(torch.zeros_like(t) if v is None else v for t, v in zip(inputs, tangents, strict=True))
    return torch.func.jvp(product, tuple(inputs), full)[1]


def checked(arguments: Arguments, call: Callable[..., Any], inputs: Callable[..., Any], **more: Any) -> Probe:
    """A probe of an operation that refuses wrong arguments by name."""

    @functools.wraps(call)
    def call_checked(*values: Any) -> Any:
        arguments.check([value for value in values if not isinstance(value, float)])
        return call(*values)

    return Probe(call=call_checked, inputs=inputs, reference=call, **more)
