"""Faults and near misses of the checks of fields."""

from collections.abc import Callable
from typing import Any

from tapecheck.faults.planting import with_function, with_tape
from tapecheck.faults.struct.lazy import fields_of, is_struct
from tapecheck.subjects.warp import WarpSubject


def launch_remembers_gradients(subject: WarpSubject) -> WarpSubject:
    """A struct's field keeps the last gradient buffer it had, and lends it to an array that comes without one."""
    buffers: dict[tuple[int, str], Any] = {}

    def remember(struct: Any, name: str, array: Any) -> None:
        if array.grad:
            buffers[id(struct), name] = array.grad
        elif (id(struct), name) in buffers:
            array.grad = buffers[id(struct), name]
            setattr(struct, name, array)

    def launch(original: Any, kernel: Any, *, inputs: Any, **options: Any) -> Any:
        for struct in filter(is_struct, inputs):
            for name, array in fields_of(struct).items():
                remember(struct, name, array)
        return original(kernel, inputs=inputs, **options)

    return with_function(subject, "launch", launch)


def refresh(tape: Any) -> None:
    """Assigns every field of every struct on the tape to itself, so that it takes its present gradient pointer."""
    for launch in tape.launches:
        for struct in filter(is_struct, [*launch[3], *launch[4]]):
            for name, value in fields_of(struct).items():
                setattr(struct, name, value)


def backward_refreshes_fields(subject: WarpSubject) -> WarpSubject:
    """Backward takes the gradient pointers that the arrays in the fields have by then."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        refresh(self)
        base.backward(self, *args, **options)

    return with_tape(subject, backward=backward)


def backward_refreshes_fields_too_late(subject: WarpSubject) -> WarpSubject:
    """Backward takes the present gradient pointers only after it has run."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        base.backward(self, *args, **options)
        refresh(self)

    return with_tape(subject, backward=backward)


def backward_seeds_then_refreshes_fields(subject: WarpSubject) -> WarpSubject:
    """Backward attaches each seed to its array before the structs take the gradient pointers."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        for array, seed in (grads or {}).items():
            array.grad = seed
        refresh(self)
        base.backward(self, loss)

    return with_tape(subject, backward=backward)


def _with_fields_mapped(subject: WarpSubject, mapping: Callable[[Any], Any]) -> WarpSubject:
    def launch(original: Any, kernel: Any, *, inputs: Any, **options: Any) -> Any:
        for struct in filter(is_struct, inputs):
            for name, value in fields_of(struct).items():
                setattr(struct, name, mapping(value))
        return original(kernel, inputs=inputs, **options)

    return with_function(subject, "launch", launch)


def launch_fills_unset_fields(subject: WarpSubject) -> WarpSubject:
    """A launch puts a zero-length array into every field that holds None."""
    return _with_fields_mapped(subject, lambda value: subject.zeros(0, dtype=float) if value is None else value)


def launch_drops_zero_length_fields(subject: WarpSubject) -> WarpSubject:
    """A launch puts None into every field that holds a zero-length array."""
    return _with_fields_mapped(subject, lambda value: value if value is not None and value.size else None)
