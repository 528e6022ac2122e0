"""Faults and near misses of the recording checks."""

from typing import Any

from tapecheck.faults.planting import with_tape
from tapecheck.subjects.warp import WarpSubject


def replays_in_recorded_order(subject: WarpSubject) -> WarpSubject:
    """Backward walks the launches first to last."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        self.launches.reverse()
        base.backward(self, *args, **options)
        self.launches.reverse()

    return with_tape(subject, backward=backward)


def backward_through_a_copied_list(subject: WarpSubject) -> WarpSubject:
    """Backward walks a copy of the list of launches, in the right order."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        self.launches = list(self.launches)
        base.backward(self, *args, **options)

    return with_tape(subject, backward=backward)
