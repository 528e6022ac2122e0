"""Faults, near misses and oracles of the precision checks."""

import ctypes
from typing import Any

from tapecheck.contracts.codegen import control_kernels, literal_kernels
from tapecheck.contracts.codegen import faulty_control_kernels as faulty
from tapecheck.faults.codegen.launching import with_launches_of
from tapecheck.faults.planting import with_adjoints, with_function, with_tape
from tapecheck.subjects.warp import WarpSubject


def generic_literal_is_lost(subject: WarpSubject) -> WarpSubject:
    """Backward of a generic kernel loses the literal that was converted to the generic type."""
    return with_adjoints(
        subject, dict(zip(control_kernels.generic_polynomials, faulty.generics_without_literal, strict=True))
    )


def generic_by_horner(subject: WarpSubject) -> WarpSubject:
    """Backward of a generic kernel has the polynomial in Horner's form."""
    return with_adjoints(
        subject, dict(zip(control_kernels.generic_polynomials, faulty.generics_by_horner, strict=True))
    )


def literals_are_rounded(subject: WarpSubject) -> WarpSubject:
    """A literal beside a double is rounded to single precision without a word."""

    def launch(original: Any, kernel: Any, *args: Any, **options: Any) -> Any:
        literal = kernel in vars(literal_kernels).values()
        return original(faulty.product_with_rounded_literal if literal else kernel, *args, **options)

    return with_function(subject, "launch", launch)


def errors_say_more(subject: WarpSubject) -> WarpSubject:
    """A compile error comes as another type, with an introduction before its text."""

    def launch(original: Any, *args: Any, **options: Any) -> Any:
        try:
            return original(*args, **options)
        except Exception as problem:
            raise TypeError(f"this kernel does not compile: {problem}") from problem

    return with_function(subject, "launch", launch)


def compares_by_difference(subject: WarpSubject) -> WarpSubject:
    """Oracle: a comparison takes the difference of its sides, and so refuses what a subtraction refuses."""
    return with_launches_of(subject, {literal_kernels.comparison: faulty.comparison_by_difference})


def compares_as_float(subject: WarpSubject) -> WarpSubject:
    """A comparison with a literal rounds its double to single precision."""
    return with_launches_of(subject, {literal_kernels.comparison: faulty.comparison_in_single})


def in_single_precision(value: Any) -> Any:
    """A Python float as single precision holds it; anything else as it is."""
    return ctypes.c_float(value).value if isinstance(value, float) else value


def rounds_scalars(subject: WarpSubject) -> WarpSubject:
    """A launch rounds its Python floats to single precision."""

    def launch(original: Any, kernel: Any, *args: Any, inputs: Any, **options: Any) -> Any:
        return original(kernel, *args, inputs=[in_single_precision(value) for value in inputs], **options)

    return with_function(subject, "launch", launch)


def rounds_scalars_in_backward(subject: WarpSubject) -> WarpSubject:
    """Backward rounds the Python floats of a recorded launch to single precision."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        for launch in self.launches:
            launch[3] = [in_single_precision(value) for value in launch[3]]
        base.backward(self, *args, **options)

    return with_tape(subject, backward=backward)


def wraps_scalars(subject: WarpSubject) -> WarpSubject:
    """A launch wraps its Python floats in `wp.float64`."""

    def launch(original: Any, kernel: Any, *args: Any, inputs: Any, **options: Any) -> Any:
        wrapped = [subject.float64(value) if isinstance(value, float) else value for value in inputs]
        return original(kernel, *args, inputs=wrapped, **options)

    return with_function(subject, "launch", launch)
