"""Exchanges adjoints of kernels for those of others, several at once."""

from typing import Any

from tapecheck.faults.planting import with_tape
from tapecheck.subjects.warp import WarpSubject


def with_adjoints(subject: WarpSubject, others: dict[Any, Any]) -> WarpSubject:
    """The subject whose backward runs the adjoint of the other kernel for each of these; the forward pass is untouched.

    All are replaced at once, so that two kernels can exchange their adjoints.
    """

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        for launch in self.launches:
            if isinstance(launch, list):
                launch[0] = others.get(launch[0], launch[0])
        base.backward(self, *args, **options)

    return with_tape(subject, backward=backward)
