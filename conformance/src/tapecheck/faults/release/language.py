"""Faults and near misses of the checks of launch arguments and constants."""

from collections.abc import Callable
from typing import Any

from tapecheck.faults.planting import with_function
from tapecheck.subjects.warp import WarpSubject


def _launching(subject: WarpSubject, prepare: Callable[[Any, list[Any], list[Any]], list[Any]]) -> WarpSubject:
    """The subject whose launches get the inputs that this makes of kernel, inputs and outputs."""

    def launch(original: Any, kernel: Any, dim: Any, inputs: Any = (), outputs: Any = ()) -> Any:
        return original(kernel, dim=dim, inputs=prepare(kernel, list(inputs), list(outputs)), outputs=outputs)

    return with_function(subject, "launch", launch)


def launch_with_new_lists(subject: WarpSubject) -> WarpSubject:
    """A launch gets its inputs as a new list."""
    return _launching(subject, lambda kernel, inputs, outputs: inputs)


def launch_looks_again(subject: WarpSubject) -> WarpSubject:
    """A launch has the kernel's module looked through for changes first."""

    def prepare(kernel: Any, inputs: list[Any], outputs: list[Any]) -> list[Any]:
        kernel.module.mark_modified()
        return inputs

    return _launching(subject, prepare)


def launch_takes_zero(subject: WarpSubject) -> WarpSubject:
    """A value that is not of the parameter's type is taken for zero."""
    return _launching(subject, lambda kernel, inputs, outputs: [outputs[0].dtype() for _ in inputs])


def launch_fails_without_a_word(subject: WarpSubject) -> WarpSubject:
    """Whatever is given, the launch fails, and does not say why."""

    def prepare(kernel: Any, inputs: list[Any], outputs: list[Any]) -> list[Any]:
        raise RuntimeError("launch failed")

    return _launching(subject, prepare)


RANGES = {"int32": (-(2**31), 2**31), "int64": (-(2**63), 2**63), "uint32": (0, 2**32)}


def _range_of(array: Any) -> tuple[int, int]:
    return RANGES[array.dtype.__name__]


def launch_checks_ranges(subject: WarpSubject) -> WarpSubject:
    """An integer beyond the parameter's range is refused."""

    def prepare(kernel: Any, inputs: list[Any], outputs: list[Any]) -> list[Any]:
        low, high = _range_of(outputs[0])
        if not low <= int(inputs[0]) < high:
            raise OverflowError(f"parameter x: {inputs[0]} is not in [{low}, {high})")
        return inputs

    return _launching(subject, prepare)


def launch_wraps_integers(subject: WarpSubject) -> WarpSubject:
    """An integer beyond the parameter's range is reduced modulo its width."""

    def prepare(kernel: Any, inputs: list[Any], outputs: list[Any]) -> list[Any]:
        low, high = _range_of(outputs[0])
        return [low + (int(value) - low) % (high - low) for value in inputs]

    return _launching(subject, prepare)
