"""Faults and near misses of the checks of run-time loops."""

from tapecheck.contracts.codegen import control_kernels as kernels
from tapecheck.contracts.codegen import faulty_control_kernels as faulty
from tapecheck.faults.planting import with_adjoints
from tapecheck.subjects.warp import WarpSubject


def unrolls_carrying_loops(subject: WarpSubject) -> WarpSubject:
    """Every loop that carries a value is unrolled, so that backward has each value that it needs."""
    return with_adjoints(
        subject,
        {
            kernels.carried_product: faulty.unrolled_product,
            kernels.carried_quotient: faulty.unrolled_quotient,
            kernels.carried_root: faulty.unrolled_root,
            kernels.carried_maximum: faulty.unrolled_maximum,
            kernels.carried_previous: faulty.unrolled_previous,
        },
    )


def never_unrolls(subject: WarpSubject) -> WarpSubject:
    """A loop of constant length is differentiated like one of run-time length, however short it is."""
    constant = (kernels.product_of_16, kernels.product_of_17)
    return with_adjoints(subject, dict.fromkeys(constant, faulty.product_of_all))


def unrolls_in_two_halves(subject: WarpSubject) -> WarpSubject:
    """A loop of constant length is unrolled as two shorter ones, so that the limit lies higher."""
    return with_adjoints(
        subject,
        {kernels.product_of_16: faulty.product_of_8_and_8, kernels.product_of_17: faulty.product_of_8_and_9},
    )


def sums_one_less(subject: WarpSubject) -> WarpSubject:
    """Past the limit of unrolling, backward leaves the last iteration out."""
    return with_adjoints(subject, {kernels.sum_of_17: faulty.sum_of_16})


def sums_in_two_halves(subject: WarpSubject) -> WarpSubject:
    """Past the limit of unrolling, backward unrolls two shorter loops, which is all the same for a sum."""
    return with_adjoints(subject, {kernels.sum_of_17: faulty.sum_of_8_and_9})


def takes_every_candidate(subject: WarpSubject) -> WarpSubject:
    """Backward of a hash grid loop gives to every candidate that the query returns, whatever the body tests."""
    return with_adjoints(subject, {kernels.hash_grid_sum: faulty.candidate_sum})


def tries_every_point(subject: WarpSubject) -> WarpSubject:
    """Backward of a hash grid loop tries every point, not only those of the cells around."""
    return with_adjoints(
        subject,
        {kernels.hash_grid_sum: faulty.point_sum, kernels.hash_grid_func_squared: faulty.point_sum_squared},
    )


def squares_in_the_caller(subject: WarpSubject) -> WarpSubject:
    """Backward replays the hash grid loop, as if it were in a function, before it needs the sum."""
    return with_adjoints(subject, {kernels.hash_grid_sum_squared: kernels.hash_grid_func_squared})


def squares_in_the_loop_kernel(subject: WarpSubject) -> WarpSubject:
    """The function that holds the hash grid loop is inlined, so that backward has no sum."""
    return with_adjoints(subject, {kernels.hash_grid_func_squared: kernels.hash_grid_sum_squared})
