"""Faults and near misses of the checks of branches."""

from tapecheck.contracts.codegen import faulty_kernels as faulty
from tapecheck.contracts.codegen import kernels
from tapecheck.faults.planting import with_adjoints
from tapecheck.subjects.warp import WarpSubject


def first_alternative_always(subject: WarpSubject) -> WarpSubject:
    """The gradient goes to the first alternative, whichever was chosen."""
    return with_adjoints(
        subject,
        {
            kernels.ternary_of_one_array: faulty.first_of_one_array,
            kernels.ternary_on_own_values: faulty.first_on_own_values,
            kernels.ternary_of_two_arrays: faulty.first_of_two_arrays,
            kernels.ternary_of_quotient: faulty.first_quotient,
            kernels.if_of_one_array: faulty.first_of_one_array,
            kernels.if_of_two_arrays: faulty.first_of_two_arrays,
            kernels.if_of_quotient: faulty.first_quotient,
        },
    )


def written_as_if(subject: WarpSubject) -> WarpSubject:
    """A conditional expression has the adjoint of the same choice written as an `if` block."""
    return with_adjoints(
        subject,
        {
            kernels.ternary_of_one_array: kernels.if_of_one_array,
            kernels.ternary_on_own_values: faulty.if_on_own_values,
            kernels.ternary_of_two_arrays: kernels.if_of_two_arrays,
            kernels.ternary_of_quotient: kernels.if_of_quotient,
        },
    )


def written_as_weights(subject: WarpSubject) -> WarpSubject:
    """An `if` block has the adjoint of both alternatives weighted by one and zero."""
    return with_adjoints(
        subject,
        {
            kernels.if_of_one_array: faulty.weights_of_one_array,
            kernels.if_of_two_arrays: faulty.weights_of_two_arrays,
            kernels.if_of_quotient: faulty.weights_of_quotient,
        },
    )
