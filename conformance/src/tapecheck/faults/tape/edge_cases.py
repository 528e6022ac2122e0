"""Faults and near misses of the checks of seeds, losses, disabled kernels and sizes of zero."""

import contextlib
import io
import sys
from collections.abc import Callable
from typing import Any

from tapecheck.contracts.tape import kernels
from tapecheck.faults.planting import with_function, with_tape
from tapecheck.subjects.warp import WarpSubject


def before_backward(subject: WarpSubject, act: Callable[[Any, Any, dict[Any, Any]], Any]) -> WarpSubject:
    """The subject whose tape calls `act(tape, loss, grads)` before it goes backward."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        act(self, loss, grads or {})
        base.backward(self, loss, grads)

    return with_tape(subject, backward=backward)


def _unrelated(tape: Any, loss: Any, grads: dict[Any, Any]) -> bool:
    known = [argument for launch in tape.launches for argument in (*launch[3], *launch[4])]
    seeded = [*grads, *([] if loss is None else [loss])]
    return not all(any(one is other for other in known) for one in seeded)


def refuses_unrelated_seeds(subject: WarpSubject) -> WarpSubject:
    """A seed for an array that is not on the tape is an error."""

    def refuse(tape: Any, loss: Any, grads: dict[Any, Any]) -> None:
        if _unrelated(tape, loss, grads):
            raise ValueError("the seeded array is not on the tape")

    return before_backward(subject, refuse)


def warns_of_unrelated_seeds(subject: WarpSubject) -> WarpSubject:
    """A seed for an array that is not on the tape is reported."""

    def warn(tape: Any, loss: Any, grads: dict[Any, Any]) -> None:
        if _unrelated(tape, loss, grads):
            sys.stderr.write("the seeded array is not on the tape\n")

    return before_backward(subject, warn)


def copies_the_seed_dictionary(subject: WarpSubject) -> WarpSubject:
    """Backward works on a copy of the dictionary of seeds."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        base.backward(self, loss, None if grads is None else dict(grads))

    return with_tape(subject, backward=backward)


def stretches_seeds(subject: WarpSubject) -> WarpSubject:
    """A seed of another length than its array's is cut, or filled up with ones."""

    def fitted(array: Any, seed: Any) -> Any:
        fitting = subject.zeros_like(array, requires_grad=False)
        fitting.fill_(1.0)
        subject.copy(fitting, seed, count=min(len(array), len(seed)))
        return fitting

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        base.backward(self, loss, {array: fitted(array, seed) for array, seed in (grads or {}).items()})

    return with_tape(subject, backward=backward)


def refuses_missing_seeds(subject: WarpSubject) -> WarpSubject:
    """A backward without loss and without seeds is an error."""

    def refuse(tape: Any, loss: Any, grads: dict[Any, Any]) -> None:
        if loss is None and not grads:
            raise ValueError("nothing to go backward from")

    return before_backward(subject, refuse)


def seeds_everything_with_one(subject: WarpSubject) -> WarpSubject:
    """A backward without loss and without seeds takes one for each output."""

    def seed(tape: Any, loss: Any, grads: dict[Any, Any]) -> None:
        if loss is None and not grads:
            for output in tape.launches[-1][4]:
                output.grad.fill_(1.0)

    return before_backward(subject, seed)


def refuses_falsy_losses(subject: WarpSubject) -> WarpSubject:
    """A loss of no element, or that is no array, is an error."""

    def refuse(tape: Any, loss: Any, grads: dict[Any, Any]) -> None:
        if loss is not None and not loss:
            raise ValueError("a loss is an array of one element")

    return before_backward(subject, refuse)


def passes_the_loss_by_name(subject: WarpSubject) -> WarpSubject:
    """Backward hands loss and seeds on by name."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        base.backward(self, loss=loss, grads=grads)

    return with_tape(subject, backward=backward)


def is_silent_about_disabled_kernels(subject: WarpSubject) -> WarpSubject:
    """Backward says nothing of kernels without backward."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        with contextlib.redirect_stderr(io.StringIO()):
            base.backward(self, *args, **options)

    return with_tape(subject, backward=backward)


def differentiates_disabled_kernels(subject: WarpSubject) -> WarpSubject:
    """Backward warns of kernels without backward, and differentiates them all the same."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        base.backward(self, *args, **options)
        recorded = self.launches
        self.launches = [[kernels.square, *launch[1:]] for launch in recorded]
        base.backward(self, *args, **options)
        self.launches = recorded

    return with_tape(subject, backward=backward)


def warns_on_standard_output(subject: WarpSubject) -> WarpSubject:
    """Warnings go to standard output."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        with contextlib.redirect_stderr(sys.stdout):
            base.backward(self, *args, **options)

    return with_tape(subject, backward=backward)


def with_dim(subject: WarpSubject, change: Callable[[tuple[int, ...]], Any]) -> WarpSubject:
    """The subject whose `launch` takes `change(dim)`, of the dimensions as a tuple, in the place of `dim`."""

    def launch(original: Any, kernel: Any, dim: Any, **options: Any) -> Any:
        return original(kernel, change((dim,) if isinstance(dim, int) else tuple(dim)), **options)

    return with_function(subject, "launch", launch)


def skips_empty_launches(subject: WarpSubject) -> WarpSubject:
    """A launch of size zero is not recorded."""

    def launch(original: Any, kernel: Any, dim: Any, **options: Any) -> Any:
        empty = 0 in (dim if isinstance(dim, tuple) else (dim,))
        return None if empty else original(kernel, dim, **options)

    return with_function(subject, "launch", launch)


def runs_empty_launches_once(subject: WarpSubject) -> WarpSubject:
    """A launch of size zero is recorded, and replayed, as one of size one."""

    def record_launch(base: Any, self: Any, kernel: Any, dim: Any, *rest: Any, **options: Any) -> None:
        base.record_launch(self, kernel, 1, *rest, **options)

    return with_tape(subject, record_launch=record_launch)


def takes_negative_sizes_for_zero(subject: WarpSubject) -> WarpSubject:
    """A negative launch size counts as zero."""
    return with_dim(subject, lambda dim: tuple(max(size, 0) for size in dim))


def launches_with_a_tuple(subject: WarpSubject) -> WarpSubject:
    """The launch size is handed on as a tuple."""
    return with_dim(subject, lambda dim: dim)


def gives_empty_arrays_their_gradient(subject: WarpSubject) -> WarpSubject:
    """`get_adjoint` gives and registers the gradient of a zero-length array, as of any other."""

    def get_adjoint(base: Any, self: Any, argument: Any) -> Any:
        if getattr(argument, "grad", None) is None:
            return base.get_adjoint(self, argument)
        self.gradients[argument] = argument.grad
        return argument.grad

    return with_tape(subject, get_adjoint=get_adjoint)


def makes_empty_arrays_aside(subject: WarpSubject) -> WarpSubject:
    """`zeros` goes by way of `empty`."""

    def zeros(original: Any, *args: Any, **options: Any) -> Any:
        made = subject.empty(*args, **options)
        made.zero_()
        return made

    return with_function(subject, "zeros", zeros)


def records_functions_of_empty_arrays(subject: WarpSubject) -> WarpSubject:
    """`record_func` takes zero-length arrays."""

    def record_func(base: Any, self: Any, backward: Any, arrays: Any) -> None:
        base.record_func(self, backward, [array for array in arrays if len(array)])

    return with_tape(subject, record_func=record_func)


def forgets_refused_functions(subject: WarpSubject) -> WarpSubject:
    """What `record_func` refuses is off the tape again."""

    def record_func(base: Any, self: Any, backward: Any, arrays: Any) -> None:
        recorded = len(self.launches)
        try:
            base.record_func(self, backward, arrays)
        except RuntimeError:
            del self.launches[recorded:]
            raise

    return with_tape(subject, record_func=record_func)


def names_recorded_functions(subject: WarpSubject) -> WarpSubject:
    """`record_func` wraps the function in another."""

    def record_func(base: Any, self: Any, backward: Any, arrays: Any) -> None:
        base.record_func(self, lambda: backward(), arrays)

    return with_tape(subject, record_func=record_func)
