"""Faults and near misses of the checks of `zero`, `reset` and a second backward."""

from collections.abc import Callable
from typing import Any

from tapecheck.faults.planting import with_tape
from tapecheck.subjects.warp import WarpSubject


def zero_forgets_instead(subject: WarpSubject) -> WarpSubject:
    """`zero` drops the recorded gradients and leaves their values."""
    return with_tape(subject, zero=lambda base, self: self.gradients.clear())


def _zero_skipping(subject: WarpSubject, skipped: Callable[[Any], set[int]]) -> WarpSubject:
    """`zero` leaves the gradients of the keys with the ids that `skipped` gives for a tape."""

    def zero(base: Any, self: Any) -> None:
        ids, every = skipped(self), self.gradients
        self.gradients = {key: gradient for key, gradient in every.items() if id(key) not in ids}
        base.zero(self)
        self.gradients = every

    return with_tape(subject, zero=zero)


def zero_clears_the_first_alone(subject: WarpSubject) -> WarpSubject:
    """`zero` clears one gradient."""
    return _zero_skipping(subject, lambda tape: {id(key) for key in list(tape.gradients)[1:]})


def zero_skips_the_arrays_of_structs(subject: WarpSubject) -> WarpSubject:
    """`zero` clears the gradients of plain arguments alone."""

    def skipped(tape: Any) -> set[int]:
        plain = {id(a) for launch in tape.launches for a in (*launch[3], *launch[4]) if isinstance(a, subject.array)}
        return {id(key) for key in tape.gradients} - plain

    return _zero_skipping(subject, skipped)


def zero_skips_outputs(subject: WarpSubject) -> WarpSubject:
    """`zero` leaves the gradients of outputs, so also a seed that became one."""
    return _zero_skipping(subject, lambda tape: {id(a) for launch in tape.launches for a in launch[4]})


def zero_twice(subject: WarpSubject) -> WarpSubject:
    """`zero` runs twice."""

    def zero(base: Any, self: Any) -> None:
        base.zero(self)
        base.zero(self)

    return with_tape(subject, zero=zero)


def reset_keeps_the_launches(subject: WarpSubject) -> WarpSubject:
    """`reset` is `zero`."""
    return with_tape(subject, reset=lambda base, self: self.zero())


def reset_keeps_the_gradients(subject: WarpSubject) -> WarpSubject:
    """`reset` forgets the launches and leaves the gradients."""

    def reset(base: Any, self: Any) -> None:
        self.launches = []
        self.scopes = []

    return with_tape(subject, reset=reset)


def reset_zeroes_first(subject: WarpSubject) -> WarpSubject:
    """`reset` zeroes the gradients before it forgets the launches."""

    def reset(base: Any, self: Any) -> None:
        self.zero()
        base.reset(self)

    return with_tape(subject, reset=reset)


def backward_starts_from_zero(subject: WarpSubject) -> WarpSubject:
    """Backward zeroes the recorded gradients first."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        self.zero()
        base.backward(self, loss, grads)

    return with_tape(subject, backward=backward)
