"""Faults and near misses of the checks of shapes and strides."""

from collections.abc import Callable
from typing import Any

from tapecheck.faults.planting import with_function
from tapecheck.subjects.warp import WarpSubject


def _from_torch_of(subject: WarpSubject, prepare: Callable[[Any], Any]) -> WarpSubject:
    """The subject whose `from_torch` converts what that makes of the tensor."""

    def from_torch(original: Any, tensor: Any, *args: Any, **options: Any) -> Any:
        return original(prepare(tensor), *args, **options)

    return with_function(subject, "from_torch", from_torch)


def _canonical(tensor: Any) -> Any:
    strides = [1]
    for size in reversed(tensor.shape[1:]):
        strides.append(strides[-1] * size)
    return tensor.as_strided(tensor.shape, strides[::-1])


def from_torch_takes_canonical_strides(subject: WarpSubject) -> WarpSubject:
    """The memory is read as if the tensor were contiguous."""
    return _from_torch_of(subject, _canonical)


def from_torch_makes_contiguous(subject: WarpSubject) -> WarpSubject:
    """A tensor that is not contiguous is copied first."""
    return _from_torch_of(subject, lambda tensor: tensor.contiguous().clone())


def from_torch_resolves_negation(subject: WarpSubject) -> WarpSubject:
    """A negation that torch has only noted is carried out first."""
    return _from_torch_of(subject, lambda tensor: tensor.resolve_neg())


def from_torch_reads_stored_values(subject: WarpSubject) -> WarpSubject:
    """A negation that torch has only noted is overlooked."""
    import torch

    return _from_torch_of(subject, lambda tensor: torch._neg_view(tensor) if tensor.is_neg() else tensor)


def _refusing(subject: WarpSubject, wrong: Callable[[Any], bool], problem: Exception) -> WarpSubject:
    """The subject whose `from_torch` raises that for tensors of that kind."""

    def check(tensor: Any) -> Any:
        if wrong(tensor):
            raise problem
        return tensor

    return _from_torch_of(subject, check)


def from_torch_refuses_negation(subject: WarpSubject) -> WarpSubject:
    """A tensor with its negative bit set is refused, and the error says so."""
    problem = RuntimeError("the tensor has its negative bit set; call resolve_neg() first")
    return _refusing(subject, lambda tensor: tensor.is_neg(), problem)


def from_torch_pads_empty(subject: WarpSubject) -> WarpSubject:
    """A tensor of length zero becomes an array with one element."""
    return _from_torch_of(
        subject, lambda tensor: tensor if tensor.numel() else tensor.new_zeros(1, *tensor.shape[1:]).requires_grad_()
    )


def from_torch_reshapes_scalars(subject: WarpSubject) -> WarpSubject:
    """A tensor of dimension zero becomes one of length one, which shares its memory."""
    return _from_torch_of(subject, lambda tensor: tensor if tensor.dim() else tensor.reshape(1))


def from_torch_refuses_scalars(subject: WarpSubject) -> WarpSubject:
    """A tensor of dimension zero is refused, and the error says so."""
    return _refusing(subject, lambda tensor: tensor.dim() == 0, ValueError("the tensor has no dimension"))


def from_torch_stumbles_over_scalars(subject: WarpSubject) -> WarpSubject:
    """A tensor of dimension zero ends in an error that speaks of something else."""
    return _refusing(subject, lambda tensor: tensor.dim() == 0, IndexError("list assignment index out of range"))


def from_torch_empties_scalars(subject: WarpSubject) -> WarpSubject:
    """A tensor of dimension zero becomes an array of length zero."""

    def from_torch(original: Any, tensor: Any, *args: Any, **options: Any) -> Any:
        return original(tensor, *args, **options) if tensor.dim() else subject.zeros(0, dtype=float)

    return with_function(subject, "from_torch", from_torch)
