"""Faults and near misses of the checks of names and warnings."""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from tapecheck.contracts.release.processes import printed
from tapecheck.faults.planting import with_function, with_tape
from tapecheck.subjects.warp import WarpSubject


def names_are_gone(subject: WarpSubject) -> WarpSubject:
    """Two public names do not exist."""
    return subject.replacing(launch_tiled=None, HashGrid=None)


def a_name_is_new(subject: WarpSubject) -> WarpSubject:
    """There is a public name that nothing here uses."""
    planted = subject.replacing()
    vars(planted)["later_addition"] = 1
    return planted


def _around(subject: WarpSubject, around: Callable[[], AbstractContextManager[Any]]) -> WarpSubject:
    """The subject whose `Tape.backward` and `from_ptr` run within that context."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        with around():
            base.backward(self, *args, **options)

    def from_ptr(original: Any, *args: Any, **options: Any) -> Any:
        with around():
            return original(*args, **options)

    return with_function(with_tape(subject, backward=backward), "from_ptr", from_ptr)


def warnings_go_to_python(subject: WarpSubject) -> WarpSubject:
    """What would be printed is issued as a Python warning."""

    @contextmanager
    def issuing() -> Any:
        with printed() as text, suppress(TypeError):
            yield
        warnings.warn("".join(text.values()), stacklevel=2)

    return _around(subject, issuing)


def other_warnings_go_to_python(subject: WarpSubject) -> WarpSubject:
    """A Python warning is issued besides, about something else."""

    @contextmanager
    def issuing() -> Any:
        yield
        warnings.warn("something else", stacklevel=2)

    return _around(subject, issuing)


def warnings_pass_every_filter(subject: WarpSubject) -> WarpSubject:
    """Python's filters are set aside while Warp works."""

    @contextmanager
    def showing() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            yield

    return _around(subject, showing)
