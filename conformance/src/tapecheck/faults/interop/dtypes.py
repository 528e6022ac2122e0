"""Faults and near misses of the checks of element types and of errors."""

from collections.abc import Callable
from typing import Any

from tapecheck.faults.planting import with_function
from tapecheck.subjects.warp import WarpSubject


def to_torch_as_bytes(subject: WarpSubject) -> WarpSubject:
    """The tensor holds the bytes of the array's elements instead of their values."""
    import torch

    def to_torch(original: Any, array: Any, *args: Any, **options: Any) -> Any:
        return original(array, *args, **options).view(torch.uint8)

    return with_function(subject, "to_torch", to_torch)


def to_torch_names_the_flag(subject: WarpSubject) -> WarpSubject:
    """The array's own flag is passed."""

    def to_torch(original: Any, array: Any) -> Any:
        return original(array, requires_grad=array.requires_grad)

    return with_function(subject, "to_torch", to_torch)


def _on_error(subject: WarpSubject, mend: Callable[[Exception], Any]) -> WarpSubject:
    """The subject whose conversions do that where they would raise."""

    def convert(original: Any, *args: Any, **options: Any) -> Any:
        try:
            return original(*args, **options)
        except (RuntimeError, TypeError, ValueError, AttributeError) as problem:
            return mend(problem)

    return with_function(with_function(subject, "from_torch", convert), "to_torch", convert)


def conversions_raise_without_a_word(subject: WarpSubject) -> WarpSubject:
    """The error says that the conversion failed, and no more."""

    def mend(problem: Exception) -> Any:
        raise type(problem)("conversion failed")

    return _on_error(subject, mend)


def conversions_give_what_they_can(subject: WarpSubject) -> WarpSubject:
    """Where something does not fit, an empty array is given back."""
    return _on_error(subject, lambda problem: subject.zeros(0, dtype=float))


def conversions_introduce_their_errors(subject: WarpSubject) -> WarpSubject:
    """The error's text has an introduction."""

    def mend(problem: Exception) -> Any:
        raise type(problem)(f"in a conversion: {problem}")

    return _on_error(subject, mend)


def descriptors_check_their_gradient(subject: WarpSubject) -> WarpSubject:
    """A gradient of another shape or type is refused for a descriptor too."""

    def from_torch(original: Any, tensor: Any, *, grad: Any = None, **options: Any) -> Any:
        if grad is not None and (grad.shape, grad.dtype) != (tensor.shape, tensor.dtype):
            raise ValueError("the gradient's shape or type is not that of the tensor")
        return original(tensor, grad=grad, **options)

    return with_function(subject, "from_torch", from_torch)
