"""Faults and near misses of the checks of lifetimes and of `detach()`."""

import weakref
from types import SimpleNamespace
from typing import Any

from tapecheck.faults.interop.sharing import with_torch
from tapecheck.faults.planting import with_function
from tapecheck.faults.release.caches import with_prelude
from tapecheck.subjects.warp import WarpSubject


def from_torch_notes_the_tensor_weakly(subject: WarpSubject) -> WarpSubject:
    """The array gets a weak reference to its tensor besides the one that keeps it alive."""

    def from_torch(original: Any, tensor: Any, *args: Any, **options: Any) -> Any:
        array = original(tensor, *args, **options)
        array.noted_tensor = weakref.ref(tensor)
        return array

    return with_function(subject, "from_torch", from_torch)


def detach_remembers(subject: WarpSubject) -> WarpSubject:
    """`detach()` gives the same new tensor again at every call."""
    given: dict[int, Any] = {}

    def detach(tensor: Any) -> Any:
        return given.setdefault(id(tensor), tensor.detach())

    return with_torch(subject, Tensor=SimpleNamespace(detach=detach))


def detach_copies(subject: WarpSubject) -> WarpSubject:
    """`detach()` gives a tensor with memory of its own."""
    return with_torch(subject, Tensor=SimpleNamespace(detach=lambda tensor: tensor.detach().clone()))


def detach_of_an_alias(subject: WarpSubject) -> WarpSubject:
    """`detach()` goes through an alias of the tensor."""
    return with_torch(subject, Tensor=SimpleNamespace(detach=lambda tensor: tensor.view_as(tensor).detach()))


CONVERSION = """
original = wp.from_torch
def from_torch(*args, **options):
    {first}
    return original(*args, **options)
wp.from_torch = from_torch
"""


def from_torch_starts_warp(subject: WarpSubject) -> WarpSubject:
    """A conversion starts Warp where that has not been done."""
    return with_prelude(subject, CONVERSION.format(first="wp.init()"))


def from_torch_asks_for_the_version(subject: WarpSubject) -> WarpSubject:
    """A conversion looks at Warp's version first."""
    return with_prelude(subject, CONVERSION.format(first="wp.__version__"))
