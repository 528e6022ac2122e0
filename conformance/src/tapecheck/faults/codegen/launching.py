"""What plants of the codegen checks share: other kernels in the place of some."""

from typing import Any

from tapecheck.faults.planting import with_function, with_tape
from tapecheck.subjects.warp import WarpSubject


def with_launches_of(subject: WarpSubject, others: dict[Any, Any]) -> WarpSubject:
    """The subject that launches, and differentiates, other kernels in the place of some."""

    def launch(original: Any, kernel: Any, *args: Any, **options: Any) -> Any:
        return original(others.get(kernel, kernel), *args, **options)

    return with_function(subject, "launch", launch)


def forward_again_before_backward(subject: WarpSubject) -> WarpSubject:
    """Backward first launches everything forward once more: no loop value and no component is restored by that."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        for kernel, dim, _, inputs, outputs, *_ in self.launches:
            subject.launch(kernel, dim=dim, inputs=inputs, outputs=outputs, record_tape=False)
        base.backward(self, *args, **options)

    return with_tape(subject, backward=backward)
