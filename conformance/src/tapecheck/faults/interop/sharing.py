"""Faults and near misses of the checks of what is shared."""

from types import SimpleNamespace
from typing import Any

from tapecheck.contracts.interop.tensors import PLANTED
from tapecheck.faults.planting import with_function
from tapecheck.subjects.warp import WarpSubject


def with_torch(subject: WarpSubject, **names: Any) -> WarpSubject:
    """The subject with these in the place of torch."""
    planted = subject.replacing()
    setattr(planted, PLANTED, SimpleNamespace(**names))
    return planted


def from_torch_copies(subject: WarpSubject) -> WarpSubject:
    """The array gets memory of its own."""

    def from_torch(original: Any, tensor: Any, *args: Any, **options: Any) -> Any:
        return original(tensor.detach().clone(), *args, **options)

    return with_function(subject, "from_torch", from_torch)


def from_torch_of_a_view(subject: WarpSubject) -> WarpSubject:
    """The array is made of a view with the tensor's shape."""

    def from_torch(original: Any, tensor: Any, *args: Any, **options: Any) -> Any:
        return original(tensor[:], *args, **options)

    return with_function(subject, "from_torch", from_torch)


def to_torch_copies(subject: WarpSubject) -> WarpSubject:
    """The tensor, and its gradient, get memory of their own."""

    def to_torch(original: Any, array: Any, requires_grad: bool | None = None) -> Any:
        copied = original(subject.clone(array))
        copied.requires_grad = array.requires_grad if requires_grad is None else requires_grad
        return copied

    return with_function(subject, "to_torch", to_torch)


def to_torch_of_a_view(subject: WarpSubject) -> WarpSubject:
    """The tensor is made of a view with the array's shape."""

    def to_torch(original: Any, array: Any, *args: Any, **options: Any) -> Any:
        return original(array.reshape(array.shape), *args, **options)

    return with_function(subject, "to_torch", to_torch)


def to_torch_leaves_the_memory_to_the_array(subject: WarpSubject) -> WarpSubject:
    """What the tensor refers to is given up with the array: here, overwritten."""

    def to_torch(original: Any, array: Any, *args: Any, **options: Any) -> Any:
        converted = original(array, *args, **options)
        array.zero_()
        return converted

    return with_function(subject, "to_torch", to_torch)


def from_torch_of_detached(subject: WarpSubject) -> WarpSubject:
    """The tensor is detached before it is converted."""

    def from_torch(original: Any, tensor: Any, *args: Any, **options: Any) -> Any:
        return original(tensor.detach(), *args, **options)

    return with_function(subject, "from_torch", from_torch)


def from_torch_names_the_flag(subject: WarpSubject) -> WarpSubject:
    """The tensor's own flag is passed where no other was given."""

    def from_torch(original: Any, tensor: Any, *args: Any, requires_grad: bool | None = None, **options: Any) -> Any:
        requires_grad = tensor.requires_grad if requires_grad is None else requires_grad
        return original(tensor, *args, requires_grad=requires_grad, **options)

    return with_function(subject, "from_torch", from_torch)


def from_torch_with_a_gradient_of_its_own(subject: WarpSubject) -> WarpSubject:
    """The array's gradient is a new buffer, whatever the tensor or the caller has."""

    def from_torch(original: Any, tensor: Any, *args: Any, grad: Any = None, **options: Any) -> Any:
        return original(tensor, *args, grad=None if tensor.grad is None else tensor.grad.clone(), **options)

    return with_function(subject, "from_torch", from_torch)


def detach_returns_the_tensor_itself(subject: WarpSubject) -> WarpSubject:
    """`detach()` gives back the tensor that it was called on."""
    return with_torch(subject, Tensor=SimpleNamespace(detach=lambda tensor: tensor))


def _bump(arrays: Any) -> None:
    """Moves the version of the tensors that these arrays were made of."""
    for array in arrays:
        if hasattr(array, "_tensor"):
            array._tensor.add_(0.0)


def writes_move_the_version(subject: WarpSubject) -> WarpSubject:
    """A launch or copy moves the version of every tensor among its arguments."""

    def launch(original: Any, kernel: Any, *, inputs: Any, **options: Any) -> None:
        original(kernel, inputs=inputs, **options)
        _bump(inputs)

    def copy(original: Any, dest: Any, src: Any, **options: Any) -> None:
        original(dest, src, **options)
        _bump([dest])

    return with_function(with_function(subject, "launch", launch), "copy", copy)
