"""Faults and near misses of the checks of singular points, ties and edges."""

from typing import Any

from tapecheck.contracts.codegen import faulty_kernels as faulty
from tapecheck.contracts.codegen import kernels
from tapecheck.faults.planting import with_adjoints
from tapecheck.subjects.warp import WarpSubject


def instead_of_divisions(other: Any) -> dict[Any, Any]:
    """That kernel for each form of the double division."""
    by_root = [kernels.divide_twice_by_root, kernels.divide_twice_by_regularised_root]
    return dict.fromkeys([kernels.divide_twice_by_length, *by_root], other)


def divides_by_a_bare_root(subject: WarpSubject) -> WarpSubject:
    """The distance's own derivative is infinite at zero, which gives NaN once it is multiplied by zero."""
    return with_adjoints(subject, instead_of_divisions(faulty.divide_by_bare_root))


def divides_once(subject: WarpSubject) -> WarpSubject:
    """The second division is lost: finite, but not the formula's derivative."""
    return with_adjoints(subject, instead_of_divisions(faulty.divide_once))


def divides_by_the_square(subject: WarpSubject) -> WarpSubject:
    """Two divisions have the adjoint of one by the square."""
    return with_adjoints(subject, instead_of_divisions(faulty.divide_by_square))


def root_without_a_pole(subject: WarpSubject) -> WarpSubject:
    """An oracle: a root has a zero derivative at zero, as `wp.length` has."""
    return with_adjoints(
        subject,
        {
            kernels.root: faulty.guarded_root,
            kernels.root_of_square: kernels.length,
            kernels.divide_twice_by_root: kernels.divide_twice_by_length,
        },
    )


def takes_a_bare_root(subject: WarpSubject) -> WarpSubject:
    """The derivative is that of the formula with a root in it, and infinite or NaN at zero."""
    return with_adjoints(
        subject,
        {
            kernels.root: faulty.bare_root,
            kernels.root_of_square: faulty.bare_length,
            kernels.length: faulty.bare_length,
            kernels.unit_vector: faulty.bare_unit_vector,
        },
    )


def root_with_a_floor(subject: WarpSubject) -> WarpSubject:
    """The derivative is that of a root with a small constant under it: not zero, but finite."""
    return with_adjoints(
        subject, {kernels.root: faulty.root_with_floor, kernels.root_of_square: faulty.length_with_floor}
    )


def constant_at_the_origin(subject: WarpSubject) -> WarpSubject:
    """Length and direction have the adjoint of the formula with a root, guarded by an `if` at the origin."""
    return with_adjoints(
        subject, {kernels.length: faulty.guarded_length, kernels.unit_vector: faulty.guarded_unit_vector}
    )


def halves_at_a_tie(subject: WarpSubject) -> WarpSubject:
    """Both sides of a tie get half of the gradient."""
    return with_adjoints(
        subject,
        {
            kernels.smaller: faulty.average,
            kernels.larger: faulty.average,
            kernels.clamped: faulty.average_with_bound,
        },
    )


def chooses_at_half_scale(subject: WarpSubject) -> WarpSubject:
    """The choice is made between halved values, and the result doubled."""
    return with_adjoints(
        subject,
        {
            kernels.smaller: faulty.smaller_at_half_scale,
            kernels.larger: faulty.larger_at_half_scale,
            kernels.clamped: faulty.clamped_at_half_scale,
        },
    )
