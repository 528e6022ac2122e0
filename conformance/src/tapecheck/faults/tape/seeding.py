"""Faults and near misses of the seeding checks."""

from typing import Any

from tapecheck.faults.planting import with_tape
from tapecheck.subjects.warp import WarpSubject


def bare_backward_does_nothing(subject: WarpSubject) -> WarpSubject:
    """Backward without arguments takes every output's gradient for zero."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        if loss is not None or grads:
            base.backward(self, loss, grads)

    return with_tape(subject, backward=backward)


def bare_backward_passes_no_grads(subject: WarpSubject) -> WarpSubject:
    """Backward without arguments is one with an empty dict."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        base.backward(self, loss, grads if grads is not None else {})

    return with_tape(subject, backward=backward)


def seeds_the_value_of_the_loss(subject: WarpSubject) -> WarpSubject:
    """The seed of the loss is its value."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        base.backward(self, grads={loss: subject.clone(loss)})

    return with_tape(subject, backward=backward)


def adds_one_to_the_seed(subject: WarpSubject) -> WarpSubject:
    """The seed of the loss is added to what its gradient held before."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        loss.grad.fill_(loss.grad.numpy().item() + 1.0)
        base.backward(self, grads=grads)

    return with_tape(subject, backward=backward)


def passes_the_loss_by_name(subject: WarpSubject) -> WarpSubject:
    """The loss is passed on by name."""
    return with_tape(
        subject, backward=lambda base, self, loss=None, grads=None: base.backward(self, grads=grads, loss=loss)
    )


def takes_any_loss(subject: WarpSubject) -> WarpSubject:
    """A loss is never refused: each of its elements is seeded with 1, where it has a gradient."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        if loss is not None and loss.grad is not None:
            loss.grad.fill_(1.0)
        base.backward(self, grads=grads)

    return with_tape(subject, backward=backward)


def refuses_the_loss_too_late(subject: WarpSubject) -> WarpSubject:
    """The loss is looked at after the backward pass."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        base.backward(self, grads=grads)
        base.backward(self, loss)

    return with_tape(subject, backward=backward)


def refuses_with_another_error(subject: WarpSubject) -> WarpSubject:
    """A loss is refused with another type of error and a longer text."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        try:
            base.backward(self, loss, grads)
        except RuntimeError as problem:
            raise ValueError(f"backward: {problem} Give a loss with one element.") from None

    return with_tape(subject, backward=backward)


def copies_every_seed(subject: WarpSubject) -> WarpSubject:
    """An array without gradient gets one of its own, into which the seed is copied."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        base.backward(self, loss, {array: subject.clone(incoming) for array, incoming in grads.items()})

    return with_tape(subject, backward=backward)


def adopts_every_seed(subject: WarpSubject) -> WarpSubject:
    """The passed array becomes the gradient although there is one already."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        for array, incoming in grads.items():
            array.grad = incoming
        base.backward(self, loss)

    return with_tape(subject, backward=backward)


def clears_the_seed(subject: WarpSubject) -> WarpSubject:
    """The passed array is zeroed once it is used."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        base.backward(self, loss, grads)
        for incoming in grads.values():
            incoming.zero_()

    return with_tape(subject, backward=backward)


def holds_on_to_the_seed(subject: WarpSubject) -> WarpSubject:
    """The tape keeps the dict of seeds that it was given."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        base.backward(self, loss, grads)
        self.seeds = grads

    return with_tape(subject, backward=backward)


def restores_every_seed(subject: WarpSubject) -> WarpSubject:
    """The passed array gets its values back after the backward pass."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        saved = [(incoming, subject.clone(incoming)) for incoming in grads.values()]
        base.backward(self, loss, grads)
        for incoming, values in saved:
            incoming.assign(values)

    return with_tape(subject, backward=backward)


def applies_seeds_by_hand(subject: WarpSubject) -> WarpSubject:
    """The seeds are assigned or copied before the tape is asked, by the documented rule."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        for array, incoming in grads.items():
            if array.grad is None:
                array.grad = incoming
            else:
                subject.copy(array.grad, incoming)
        base.backward(self, loss)

    return with_tape(subject, backward=backward)


def passes_a_copied_dict(subject: WarpSubject) -> WarpSubject:
    """The dict of seeds is copied, its arrays are not."""
    return with_tape(subject, backward=lambda base, self, loss=None, grads=None: base.backward(self, loss, dict(grads)))


def seeds_the_first_array_alone(subject: WarpSubject) -> WarpSubject:
    """One seed is used, the others are dropped."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        base.backward(self, loss, dict([next(iter(grads.items()))]))

    return with_tape(subject, backward=backward)


def seeds_in_reverse_order(subject: WarpSubject) -> WarpSubject:
    """The seeds are applied last to first."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        base.backward(self, loss, dict(reversed(grads.items())))

    return with_tape(subject, backward=backward)


def the_loss_excludes_grads(subject: WarpSubject) -> WarpSubject:
    """Where a loss is given, the dict of seeds is not looked at."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        base.backward(self, loss, grads if loss is None else None)

    return with_tape(subject, backward=backward)
