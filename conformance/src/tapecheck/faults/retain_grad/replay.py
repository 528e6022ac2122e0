"""Tapes that replay something else than what was recorded."""

from collections.abc import Callable
from typing import Any, TypeAlias

from tapecheck.faults.planting import with_tape
from tapecheck.subjects.warp import WarpSubject

Entries: TypeAlias = list[Any]
"""What a tape holds: a list of kernel, dim, …, with the inputs at 3 and the outputs at 4, or a function to call."""

INPUTS, OUTPUTS = 3, 4


def with_replay(subject: WarpSubject, rewrite: Callable[[Entries], Entries]) -> WarpSubject:
    """The subject with a tape whose backward replays `rewrite(entries)`; the last entry is replayed first."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        recorded = self.launches
        self.launches = rewrite(recorded)
        base.backward(self, *args, **options)
        self.launches = recorded

    return with_tape(subject, backward=backward)


def arrays_of(entries: Entries, side: int) -> list[Any]:
    """The distinct arrays among the launches' inputs or outputs."""
    found = [value for entry in entries if not callable(entry) for value in entry[side] if hasattr(value, "grad")]
    return list(dict.fromkeys(found))


def replays_a_copied_list(subject: WarpSubject) -> WarpSubject:
    """Backward walks a copy of the list of launches."""
    return with_replay(subject, list)


def replays_with_idle_functions(subject: WarpSubject) -> WarpSubject:
    """Backward calls a function that does nothing before each launch."""
    return with_replay(subject, lambda entries: [each for entry in entries for each in (entry, lambda: None)])
