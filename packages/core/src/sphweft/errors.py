"""The errors of the package: each names the argument, what was expected, and what came."""

from __future__ import annotations

from collections.abc import Sequence

import torch


class SphweftError(Exception):
    """Base class of every error that this package raises itself."""


class InputError(SphweftError, ValueError):
    """An argument that cannot be used, found before any kernel is launched.

    Args:
        argument: the argument's name, as the caller wrote it.
        expected: what it must be.
        actual: what it is.
        remedy: what to do about it, where that is not plain.
    """

    def __init__(self, argument: str, expected: str, actual: str, remedy: str = "") -> None:
        self.argument, self.expected, self.actual, self.remedy = argument, expected, actual, remedy
        super().__init__(f"{argument}: expected {expected}, got {actual}" + (f"; {remedy}" if remedy else ""))


def of_type(argument: str, value: object, kind: type) -> None:
    """Refuses a value that is no instance of a class.

    Raises:
        InputError: it is not.
    """
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise InputError(argument, f"{article} {kind.__name__}", f"{type(value).__name__} {value!r}")


def tensor_of(argument: str, value: object, dtypes: Sequence[torch.dtype], shape: str) -> torch.Tensor:
    """The value, if it is a dense tensor of one of these dtypes.

    Raises:
        InputError: it is not; the text names the shape that is expected as well.
    """
    expected = f"a tensor of shape {shape} and dtype {' or '.join(str(dtype) for dtype in dtypes)}"
    if not isinstance(value, torch.Tensor):
        raise InputError(argument, expected, "nothing" if value is None else type(value).__name__)
    if value.dtype not in dtypes:
        raise InputError(argument, expected, f"dtype {value.dtype}")
    if value.layout != torch.strided:
        raise InputError(argument, expected, f"layout {value.layout}")
    return value


def same_device(argument: str, value: torch.Tensor, other: torch.Tensor, name: str) -> None:
    """Refuses a tensor that lies elsewhere than another.

    Raises:
        InputError: the devices differ.
    """
    if value.device != other.device:
        raise InputError(argument, f"device {other.device}, that of {name}", f"device {value.device}")
