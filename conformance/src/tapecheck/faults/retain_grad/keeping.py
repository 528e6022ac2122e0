"""Faults and near misses of the checks of gradients that stay."""

from typing import Any

from tapecheck.faults.planting import with_function, with_tape
from tapecheck.faults.retain_grad.overwrites import seed_is_put_back, zeros_drops_the_flag
from tapecheck.faults.retain_grad.replay import (
    INPUTS,
    OUTPUTS,
    Entries,
    arrays_of,
    replays_a_copied_list,
    replays_with_idle_functions,
    with_replay,
)
from tapecheck.subjects.warp import WarpSubject

__all__ = ["replays_a_copied_list", "replays_with_idle_functions", "seed_is_put_back", "zeros_drops_the_flag"]


def outputs_are_consumed_at_the_end(subject: WarpSubject) -> WarpSubject:
    """Backward ends with the gradients of all outputs at zero, `retain_grad` or not."""
    return _consumed_at_the_end(subject, OUTPUTS)


def inputs_are_consumed_at_the_end(subject: WarpSubject) -> WarpSubject:
    """Backward ends with the gradients of all inputs at zero."""
    return _consumed_at_the_end(subject, INPUTS)


def _consumed_at_the_end(subject: WarpSubject, side: int) -> WarpSubject:
    def rewrite(entries: Entries) -> Entries:
        def consume() -> None:
            for array in arrays_of(entries, side):
                array.grad.zero_()

        return [consume, *entries]

    return with_replay(subject, rewrite)


def retaining_producers_replay_twice(subject: WarpSubject) -> WarpSubject:
    """The gradient that a `retain_grad` array keeps goes to its producer a second time."""

    def twice(entry: Any) -> Entries:
        return [entry] * (2 if any(array.retain_grad for array in arrays_of([entry], OUTPUTS)) else 1)

    return with_replay(subject, lambda entries: [each for entry in entries for each in twice(entry)])


def only_the_first_seeds_count(subject: WarpSubject) -> WarpSubject:
    """A tape ignores the seeds of every backward but its first."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        first = not getattr(self, "seeded", False)
        self.seeded = True
        base.backward(self, loss=loss, grads=grads if first else None)

    return with_tape(subject, backward=backward)


def explicit_adjoints_swap_the_seed(subject: WarpSubject) -> WarpSubject:
    """An explicit adjoint launch zeroes a seed that it would keep, and keeps one that it would zero."""

    def launch(original: Any, *args: Any, **options: Any) -> Any:
        if not options.get("adjoint"):
            return original(*args, **options)
        buffer = options["adj_outputs"][0]
        seed = subject.clone(buffer)
        result = original(*args, **options)
        if buffer.numpy().any():
            buffer.zero_()
        else:
            buffer.assign(seed)
        return result

    return with_function(subject, "launch", launch)


def explicit_dimension_as_tuple(subject: WarpSubject) -> WarpSubject:
    """`launch` is called with its dimension as a tuple."""
    return with_function(subject, "launch", lambda original, kernel, dim, **k: original(kernel, (dim,), **k))
