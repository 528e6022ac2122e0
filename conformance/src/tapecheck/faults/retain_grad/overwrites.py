"""Faults and near misses of the overwrite checks."""

from collections.abc import Callable
from typing import Any

from tapecheck.faults.planting import with_function, with_tape
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

__all__ = ["replays_a_copied_list", "replays_with_idle_functions"]


def zeros_like_always_retains(subject: WarpSubject) -> WarpSubject:
    """`zeros_like` sets `retain_grad` on what it makes, so that an overwrite lets the earlier gradient through."""

    def zeros_like(original: Any, source: Any, **options: Any) -> Any:
        return original(source, **{**options, "retain_grad": True})

    return with_function(subject, "zeros_like", zeros_like)


def zeros_like_by_cloning(subject: WarpSubject) -> WarpSubject:
    """`zeros_like` goes a long way round to the same array."""
    return with_function(subject, "zeros_like", lambda original, *a, **k: subject.clone(original(*a, **k)))


def zeros_always_retains(subject: WarpSubject) -> WarpSubject:
    """`zeros` sets `retain_grad` on what has a gradient."""

    def zeros(original: Any, *args: Any, **options: Any) -> Any:
        return original(*args, **{**options, "retain_grad": options.get("requires_grad", False)})

    return with_function(subject, "zeros", zeros)


def zeros_drops_the_flag(subject: WarpSubject) -> WarpSubject:
    """`zeros` takes `retain_grad` and forgets it."""
    return with_function(subject, "zeros", lambda original, *a, **k: original(*a, **{**k, "retain_grad": False}))


def seed_is_put_back(subject: WarpSubject) -> WarpSubject:
    """Backward ends with the outputs' gradients as they were when it began."""

    def rewrite(entries: Entries) -> Entries:
        outputs = arrays_of(entries, OUTPUTS)
        kept: list[Any] = []

        def keep() -> None:
            kept.extend(subject.clone(array.grad) for array in outputs)

        def put_back() -> None:
            for array, gradient in zip(outputs, kept, strict=True):
                array.grad.assign(gradient)

        return [put_back, *entries, keep]

    return with_replay(subject, rewrite)


def seed_reaches_every_launch(subject: WarpSubject) -> WarpSubject:
    """Each launch of a loop finds the outputs' gradients as they were when backward began."""

    def rewrite(entries: Entries) -> Entries:
        outputs = arrays_of(entries, OUTPUTS)
        kept: list[Any] = []

        def keep_or_put_back() -> None:
            if not kept:
                kept.extend(subject.clone(array.grad) for array in outputs)
            for array, gradient in zip(outputs, kept, strict=True):
                array.grad.assign(gradient)

        return [each for entry in entries for each in (entry, keep_or_put_back)]

    return with_replay(subject, rewrite)


def launches_consume_whole_outputs(subject: WarpSubject) -> WarpSubject:
    """The adjoint of a launch zeroes the whole gradient of its outputs, whatever it wrote of them and however."""

    def consume(entry: Any) -> Callable[[], None]:
        def zero() -> None:
            for array in arrays_of([entry], OUTPUTS):
                array.grad.zero_()

        return zero

    return with_replay(subject, lambda entries: [each for entry in entries for each in (consume(entry), entry)])


def last_component_is_dropped(subject: WarpSubject) -> WarpSubject:
    """Backward loses the gradient of the last component of vectors and matrices."""

    def rewrite(entries: Entries) -> Entries:
        def drop() -> None:
            for array in arrays_of(entries, OUTPUTS):
                gradient = array.grad.numpy()
                gradient[..., -1] = 0.0
                array.grad.assign(gradient)

        return [*entries, drop]

    return with_replay(subject, rewrite)


def copy_with_everything_spelt_out(subject: WarpSubject) -> WarpSubject:
    """`copy` is called with its defaults written out."""

    def copy(original: Any, dest: Any, src: Any, **options: Any) -> None:
        original(dest, src, **{"dest_offset": 0, "src_offset": 0, "count": src.size, **options})

    return with_function(subject, "copy", copy)


def later_readers_are_forgotten(subject: WarpSubject) -> WarpSubject:
    """A function on the tape, as a copy leaves one, overwrites the gradients that launches have added up before it."""

    def rewrite(entries: Entries) -> Entries:
        def forget() -> None:
            for array in arrays_of(entries, INPUTS):
                array.grad.zero_()

        return [each for entry in entries for each in ((entry, forget) if callable(entry) else (entry,))]

    return with_replay(subject, rewrite)


def constant_overwrites_are_recorded(subject: WarpSubject) -> WarpSubject:
    """Whatever fills an array with constants is recorded on the open tape as an overwrite."""
    return _watching_constants(subject, lambda tape, array: tape.record_func(array.grad.zero_, [array]))


def constant_overwrites_are_noticed(subject: WarpSubject) -> WarpSubject:
    """Whatever fills an array with constants leaves a function on the open tape that does nothing."""
    return _watching_constants(subject, lambda tape, array: tape.record_func(lambda: None, [array]))


def _watching_constants(subject: WarpSubject, notice: Callable[[Any, Any], None]) -> WarpSubject:
    """The subject with `notice(tape, array)` called where an array of `zeros` is filled with constants on a tape."""
    open_tapes: list[Any] = []

    def enter(base: Any, self: Any) -> Any:
        open_tapes.append(self)
        return base.__enter__(self)

    def leave(base: Any, self: Any, *problem: Any) -> None:
        open_tapes.pop()
        base.__exit__(self, *problem)

    def watched(array: Any, fill: Callable[..., Any]) -> Callable[..., Any]:
        def fill_and_notice(*args: Any) -> Any:
            if open_tapes:
                notice(open_tapes[-1], array)
            return fill(*args)

        return fill_and_notice

    def zeros(original: Any, *args: Any, **options: Any) -> Any:
        array = original(*args, **options)
        for name in ("zero_", "fill_", "assign"):
            setattr(array, name, watched(array, getattr(array, name)))
        return array

    def copy(original: Any, dest: Any, src: Any, **options: Any) -> None:
        if open_tapes and src.grad is None:
            notice(open_tapes[-1], dest)
        original(dest, src, **options)

    planted = with_tape(subject, __enter__=enter, __exit__=leave)
    return with_function(with_function(planted, "zeros", zeros), "copy", copy)
