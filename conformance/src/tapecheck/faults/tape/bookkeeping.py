"""Faults and near misses of the bookkeeping checks."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapecheck.faults.planting import with_function, with_tape
from tapecheck.subjects.warp import WarpSubject


@contextmanager
def _unverified(subject: WarpSubject) -> Iterator[None]:
    subject.config.verify_autograd_array_access = False
    yield
    subject.config.verify_autograd_array_access = True


def launches_unverified(subject: WarpSubject) -> WarpSubject:
    """A recorded launch does not look at what was read before."""

    def launch(original: Any, *args: Any, **options: Any) -> None:
        with _unverified(subject):
            original(*args, **options)

    return with_function(subject, "launch", launch)


def backward_unverified(subject: WarpSubject) -> WarpSubject:
    """Backward leaves the read flags as they are."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        with _unverified(subject):
            base.backward(self, *args, **options)

    return with_tape(subject, backward=backward)


def functions_run_when_recorded(subject: WarpSubject) -> WarpSubject:
    """A function runs when it is recorded, and again in backward."""

    def record_func(base: Any, self: Any, backward: Any, arrays: Any) -> None:
        backward()
        base.record_func(self, backward, arrays)

    return with_tape(subject, record_func=record_func)


def functions_run_first(subject: WarpSubject) -> WarpSubject:
    """Backward runs every function, in reverse order, before the first launch."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        self.launches.sort(key=callable)
        base.backward(self, *args, **options)

    return with_tape(subject, backward=backward)


def functions_are_wrapped(subject: WarpSubject) -> WarpSubject:
    """A function is recorded inside another one that calls it, its arrays as a tuple."""

    def record_func(base: Any, self: Any, backward: Any, arrays: Any) -> None:
        base.record_func(self, lambda: backward(), tuple(arrays))

    return with_tape(subject, record_func=record_func)


def functions_without_their_arrays(subject: WarpSubject) -> WarpSubject:
    """A function is recorded, its arrays are forgotten."""
    return with_tape(subject, record_func=lambda base, self, backward, arrays: base.record_func(self, backward, []))


def runs_what_it_records(subject: WarpSubject) -> WarpSubject:
    """Recording a launch by hand runs it."""

    def record_launch(base: Any, self: Any, kernel: Any, dim: Any, inputs: Any, outputs: Any, **options: Any) -> None:
        subject.launch(kernel, dim=dim, inputs=inputs, outputs=outputs)
        base.record_launch(self, kernel=kernel, dim=dim, inputs=inputs, outputs=outputs, **options)

    return with_tape(subject, record_launch=record_launch)


def records_no_launch(subject: WarpSubject) -> WarpSubject:
    """A launch recorded by hand is dropped."""
    return with_tape(subject, record_launch=lambda base, self, *args, **options: None)


def records_copied_lists(subject: WarpSubject) -> WarpSubject:
    """A launch is recorded with copies of its lists of arguments."""

    def record_launch(base: Any, self: Any, inputs: Any, outputs: Any, **options: Any) -> None:
        base.record_launch(self, inputs=list(inputs), outputs=list(outputs), **options)

    return with_tape(subject, record_launch=record_launch)


def scopes_do_not_nest(subject: WarpSubject) -> WarpSubject:
    """A scope that begins inside another one ends it."""

    def begin(base: Any, self: Any, scope_name: str, metadata: Any = None) -> None:
        self.depth = getattr(self, "depth", 0) + 1
        if self.depth > 1:
            base.record_scope_end(self, remove_scope_if_empty=False)
        base.record_scope_begin(self, scope_name, metadata)

    def end(base: Any, self: Any, remove_scope_if_empty: bool = True) -> None:
        self.depth -= 1
        if self.depth == 0:
            base.record_scope_end(self, remove_scope_if_empty)

    return with_tape(subject, record_scope_begin=begin, record_scope_end=end)


def scopes_without_metadata(subject: WarpSubject) -> WarpSubject:
    """A scope has its name alone."""
    return with_tape(
        subject,
        record_scope_begin=lambda base, self, scope_name, metadata=None: base.record_scope_begin(self, scope_name),
    )


def empty_scopes_stay(subject: WarpSubject) -> WarpSubject:
    """An empty scope is never removed."""
    return with_tape(
        subject,
        record_scope_end=lambda base, self, remove_scope_if_empty=True: base.record_scope_end(self, False),
    )


def empty_scopes_go(subject: WarpSubject) -> WarpSubject:
    """An empty scope is always removed."""
    return with_tape(
        subject, record_scope_end=lambda base, self, remove_scope_if_empty=True: base.record_scope_end(self, True)
    )


def scopes_swallow_their_launches(subject: WarpSubject) -> WarpSubject:
    """The last launch of a scope is not replayed."""

    def end(base: Any, self: Any, remove_scope_if_empty: bool = True) -> None:
        base.record_scope_end(self, remove_scope_if_empty)
        del self.launches[-1:]

    return with_tape(subject, record_scope_end=end)
