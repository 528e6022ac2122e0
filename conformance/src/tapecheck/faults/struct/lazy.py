"""Faults and near misses of the checks of lazy reading."""

import inspect
from typing import Any

from tapecheck.faults.planting import with_function, with_tape
from tapecheck.subjects.warp import WarpSubject

INPUTS = 3
"""Position of `inputs` among the arguments of `Tape.record_launch`."""


def is_struct(argument: Any) -> bool:
    """Whether a kernel argument is an instance of a Warp struct."""
    return hasattr(type(argument), "native_name")


def fields_of(struct: Any) -> dict[str, Any]:
    """The values of a struct's fields by name."""
    return {name: getattr(struct, name) for name in inspect.get_annotations(type(struct).cls)}


def copied(argument: Any) -> Any:
    """A struct with the same field values, nested ones copied; any other argument itself."""
    if not is_struct(argument):
        return argument
    copy = type(argument)()
    copy.assign(argument)
    return copy


def launch_copies_structs(subject: WarpSubject) -> WarpSubject:
    """A launch works with a copy of each struct, as it is now."""

    def launch(original: Any, kernel: Any, *, inputs: Any, outputs: Any, **options: Any) -> Any:
        return original(kernel, inputs=[*map(copied, inputs)], outputs=[*map(copied, outputs)], **options)

    return with_function(subject, "launch", launch)


def launch_pools_structs(subject: WarpSubject) -> WarpSubject:
    """A launch works with one struct a type, refilled by every call."""
    pool: dict[type, Any] = {}

    def pooled(argument: Any) -> Any:
        if not is_struct(argument):
            return argument
        struct = pool.setdefault(type(argument), type(argument)())
        struct.assign(argument)
        return struct

    def launch(original: Any, kernel: Any, *, inputs: Any, **options: Any) -> Any:
        return original(kernel, inputs=[*map(pooled, inputs)], **options)

    return with_function(subject, "launch", launch)


def tape_refills_one_list(subject: WarpSubject) -> WarpSubject:
    """The tape records every launch with the same list of inputs, refilled by each."""
    shared: list[Any] = []

    def record_launch(base: Any, self: Any, *args: Any, **options: Any) -> None:
        shared[:] = args[INPUTS]
        base.record_launch(self, *args[:INPUTS], shared, *args[INPUTS + 1 :], **options)

    return with_tape(subject, record_launch=record_launch)


def tape_holds_copies(subject: WarpSubject) -> WarpSubject:
    """The tape holds copies of the arrays of a launch, and differentiates with respect to those."""

    def record_launch(base: Any, self: Any, *args: Any, **options: Any) -> None:
        copies = [subject.array(a.numpy(), dtype=a.dtype, requires_grad=a.requires_grad) for a in args[INPUTS]]
        base.record_launch(self, *args[:INPUTS], copies, *args[INPUTS + 1 :], **options)

    return with_tape(subject, record_launch=record_launch)


def tape_keeps_field_arrays(subject: WarpSubject) -> WarpSubject:
    """The tape keeps the arrays that the structs of a launch hold at that time."""

    def leaves(argument: Any) -> Any:
        return [leaves(field) for field in fields_of(argument).values()] if is_struct(argument) else argument

    def record_launch(base: Any, self: Any, *args: Any, **options: Any) -> None:
        self.kept = [*getattr(self, "kept", []), *map(leaves, args[INPUTS])]
        base.record_launch(self, *args, **options)

    return with_tape(subject, record_launch=record_launch)


def tape_copies_argument_lists(subject: WarpSubject) -> WarpSubject:
    """The tape records a copy of the list of inputs: the same arrays, the same structs."""

    def record_launch(base: Any, self: Any, *args: Any, **options: Any) -> None:
        base.record_launch(self, *args[:INPUTS], list(args[INPUTS]), *args[INPUTS + 1 :], **options)

    return with_tape(subject, record_launch=record_launch)
