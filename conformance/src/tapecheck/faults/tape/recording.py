"""Faults and near misses of the recording checks."""

from collections import OrderedDict
from typing import Any

from tapecheck.faults.planting import with_function, with_tape
from tapecheck.subjects.warp import WarpSubject


def replays_in_recorded_order(subject: WarpSubject) -> WarpSubject:
    """Backward walks the launches first to last."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        self.launches.reverse()
        base.backward(self, *args, **options)
        self.launches.reverse()

    return with_tape(subject, backward=backward)


def replays_the_last_launch_alone(subject: WarpSubject) -> WarpSubject:
    """Backward stops after its first step."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        self.launches = self.launches[-1:]
        base.backward(self, *args, **options)

    return with_tape(subject, backward=backward)


def backward_through_a_copied_list(subject: WarpSubject) -> WarpSubject:
    """Backward walks a copy of the list of launches, in the right order."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        self.launches = list(self.launches)
        base.backward(self, *args, **options)

    return with_tape(subject, backward=backward)


def records_outside_its_scope(subject: WarpSubject) -> WarpSubject:
    """What is launched before a tape is entered, and after it is left, is recorded too."""
    earlier: list[Any] = []
    tapes: list[Any] = []

    def launch(original: Any, kernel: Any, dim: Any, inputs: Any, outputs: Any) -> None:
        original(kernel, dim=dim, inputs=inputs, outputs=outputs)
        recorded = (kernel, dim, 0, inputs, outputs, subject.get_device())
        if not tapes:
            earlier.append(recorded)
        elif tapes[-1].left:
            tapes[-1].record_launch(*recorded)

    def enter(base: Any, self: Any) -> Any:
        tapes.append(self)
        self.left = False
        base.__enter__(self)
        for recorded in earlier:
            self.record_launch(*recorded)
        return self

    def leave(base: Any, self: Any, *problem: Any) -> None:
        base.__exit__(self, *problem)
        self.left = True

    return with_function(with_tape(subject, __enter__=enter, __exit__=leave), "launch", launch)


def launches_outside_do_not_ask_for_the_tape(subject: WarpSubject) -> WarpSubject:
    """A launch outside every scope is made with `record_tape=False`."""
    tapes: list[Any] = []

    def launch(original: Any, *args: Any, **options: Any) -> Any:
        return original(*args, **options, record_tape=bool(tapes))

    def enter(base: Any, self: Any) -> Any:
        tapes.append(self)
        return base.__enter__(self)

    def leave(base: Any, self: Any, *problem: Any) -> None:
        tapes.pop()
        base.__exit__(self, *problem)

    return with_function(with_tape(subject, __enter__=enter, __exit__=leave), "launch", launch)


def gradients_are_copies(subject: WarpSubject) -> WarpSubject:
    """`gradients` holds copies of the gradients of arrays."""

    def get_adjoint(base: Any, self: Any, a: Any) -> Any:
        adjoint = base.get_adjoint(self, a)
        for key, gradient in self.gradients.items():
            if isinstance(key, subject.array):
                self.gradients[key] = subject.clone(gradient)
        return adjoint

    return with_tape(subject, get_adjoint=get_adjoint)


def gradients_name_every_array(subject: WarpSubject) -> WarpSubject:
    """`gradients` names arrays that have no gradient."""

    def get_adjoint(base: Any, self: Any, a: Any) -> Any:
        adjoint = base.get_adjoint(self, a)
        if isinstance(a, subject.array):
            self.gradients.setdefault(a, adjoint)
        return adjoint

    return with_tape(subject, get_adjoint=get_adjoint)


def gradients_name_no_struct(subject: WarpSubject) -> WarpSubject:
    """`gradients` names the arrays of a struct but not the struct."""

    def get_adjoint(base: Any, self: Any, a: Any) -> Any:
        adjoint = base.get_adjoint(self, a)
        if adjoint is not None and not isinstance(a, subject.array):
            self.gradients.pop(a)
        return adjoint

    return with_tape(subject, get_adjoint=get_adjoint)


def gradients_in_an_ordered_dict(subject: WarpSubject) -> WarpSubject:
    """`gradients` is another kind of dict."""

    def init(base: Any, self: Any) -> None:
        base.__init__(self)
        self.gradients = OrderedDict()

    return with_tape(subject, __init__=init)
