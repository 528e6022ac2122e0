"""Faults and near misses of the checks of `Tape.get_adjoint`."""

import ctypes
from typing import Any

from tapecheck.faults.planting import with_tape
from tapecheck.subjects.warp import WarpSubject


def adjoints_are_not_registered(subject: WarpSubject) -> WarpSubject:
    """The adjoint is right, but the tape does not remember it."""

    def get_adjoint(base: Any, self: Any, a: Any) -> Any:
        before = dict(self.gradients)
        adjoint = base.get_adjoint(self, a)
        self.gradients = before
        return adjoint

    return with_tape(subject, get_adjoint=get_adjoint)


def array_adjoints_are_copies(subject: WarpSubject) -> WarpSubject:
    """The adjoint of an array is a copy of its gradient."""

    def get_adjoint(base: Any, self: Any, a: Any) -> Any:
        adjoint = base.get_adjoint(self, a)
        return subject.clone(adjoint) if isinstance(a, subject.array) and adjoint is not None else adjoint

    return with_tape(subject, get_adjoint=get_adjoint)


def asks_twice(subject: WarpSubject) -> WarpSubject:
    """Every adjoint is looked up twice."""

    def get_adjoint(base: Any, self: Any, a: Any) -> Any:
        base.get_adjoint(self, a)
        return base.get_adjoint(self, a)

    return with_tape(subject, get_adjoint=get_adjoint)


def structs_are_their_own_adjoint(subject: WarpSubject) -> WarpSubject:
    """A struct is given back as its own adjoint."""

    def get_adjoint(base: Any, self: Any, a: Any) -> Any:
        adjoint = base.get_adjoint(self, a)
        return adjoint if isinstance(a, subject.array) else a

    return with_tape(subject, get_adjoint=get_adjoint)


def second_level_is_not_mirrored(subject: WarpSubject) -> WarpSubject:
    """The struct inside a struct keeps its own arrays."""

    def get_adjoint(base: Any, self: Any, a: Any) -> Any:
        adjoint = base.get_adjoint(self, a)
        if hasattr(a, "branch"):
            adjoint.branch.c = a.branch.c
        return adjoint

    return with_tape(subject, get_adjoint=get_adjoint)


def third_level_is_not_mirrored(subject: WarpSubject) -> WarpSubject:
    """The recursion ends on the second level."""

    def get_adjoint(base: Any, self: Any, a: Any) -> Any:
        adjoint = base.get_adjoint(self, a)
        if hasattr(a, "branch"):
            adjoint.branch.factors = a.branch.factors
        return adjoint

    return with_tape(subject, get_adjoint=get_adjoint)


def values_are_their_own_adjoint(subject: WarpSubject) -> WarpSubject:
    """A native value is given back as its own adjoint."""

    def get_adjoint(base: Any, self: Any, a: Any) -> Any:
        return a if isinstance(a, ctypes.Structure) else base.get_adjoint(self, a)

    return with_tape(subject, get_adjoint=get_adjoint)


def values_have_no_adjoint(subject: WarpSubject) -> WarpSubject:
    """A native value has no adjoint."""

    def get_adjoint(base: Any, self: Any, a: Any) -> Any:
        return None if isinstance(a, ctypes.Structure) else base.get_adjoint(self, a)

    return with_tape(subject, get_adjoint=get_adjoint)


def everything_has_an_adjoint(subject: WarpSubject) -> WarpSubject:
    """Where no gradient is due, an array of zeros is made for one."""

    def get_adjoint(base: Any, self: Any, a: Any) -> Any:
        adjoint = base.get_adjoint(self, a)
        return subject.zeros(1, dtype=float) if adjoint is None else adjoint

    return with_tape(subject, get_adjoint=get_adjoint)
