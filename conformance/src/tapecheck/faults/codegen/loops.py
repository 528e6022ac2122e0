"""Faults and near misses of the checks of run-time loops.

For a trap the fault is that it is gone: the idiom gets the adjoint of the safe form, and the safe form the idiom's.
"""

from typing import Any

from tapecheck.contracts.codegen import faulty_loops as faulty
from tapecheck.contracts.codegen import kernels
from tapecheck.faults.planting import with_adjoints
from tapecheck.subjects.warp import WarpSubject


def both_ways(safe_forms: dict[Any, Any]) -> dict[Any, Any]:
    """Each idiom's safe form and each safe form's idiom."""
    return safe_forms | {safe: idiom for idiom, safe in safe_forms.items()}


def skips_the_last_iteration(subject: WarpSubject) -> WarpSubject:
    """Backward leaves out the last iteration of the innermost loop."""
    return with_adjoints(
        subject,
        {
            kernels.sum_counted: faulty.short_sum_counted,
            kernels.sum_nested: faulty.short_sum_nested,
            kernels.sum_of_neighbours: faulty.short_sum_of_neighbours,
        },
    )


def adds_atomically(subject: WarpSubject) -> WarpSubject:
    """A sum has the adjoint of terms that are added to the output one by one."""
    return with_adjoints(
        subject,
        {
            kernels.sum_counted: faulty.atomic_sum_counted,
            kernels.sum_nested: faulty.atomic_sum_nested,
            kernels.sum_of_neighbours: faulty.atomic_sum_of_neighbours,
        },
    )


def restores_the_product(subject: WarpSubject) -> WarpSubject:
    """Backward knows every partial product, and so is right."""
    return with_adjoints(subject, {kernels.product_of_elements_counted: faulty.product_of_four})


def multiplies_from_the_left(subject: WarpSubject) -> WarpSubject:
    """The loop multiplies the product to the element instead of the element to the product."""
    return with_adjoints(subject, {kernels.product_of_elements_counted: faulty.product_from_the_left})


def exchanges_local_and_returned(subject: WarpSubject) -> WarpSubject:
    """A loop's local is restored for a later loop where the same kernel computed it, and lost where a function did."""
    return with_adjoints(subject, both_ways({kernels.local_in_later_loop: kernels.local_of_func_in_later_loop}))


def adds_the_total_on_the_left(subject: WarpSubject) -> WarpSubject:
    """Both loops add what they have to the new term instead of the new term to what they have."""
    return with_adjoints(
        subject,
        {
            kernels.local_in_later_loop: faulty.local_from_the_left,
            kernels.local_of_func_in_later_loop: faulty.local_of_func_from_the_left,
        },
    )


def exchanges_summed_and_returned(subject: WarpSubject) -> WarpSubject:
    """Sums are restored for use after the loop where the same kernel computed them, and lost where a function did."""
    return with_adjoints(
        subject,
        both_ways(
            {
                kernels.square_of_sum: kernels.square_of_returned_sum,
                kernels.quotient_of_sums: kernels.quotient_of_returned_sums,
                kernels.mean_of_counted: kernels.mean_of_returned_count,
                kernels.branch_on_sum: kernels.branch_on_returned_sum,
            }
        ),
    )


def adds_the_sums_on_the_left(subject: WarpSubject) -> WarpSubject:
    """Loops add sum to term instead of term to sum; a function returns one sum instead of a tuple."""
    return with_adjoints(
        subject,
        {
            kernels.square_of_sum: faulty.square_from_the_left,
            kernels.quotient_of_sums: faulty.quotient_from_the_left,
            kernels.mean_of_counted: faulty.mean_from_the_left,
            kernels.branch_on_sum: faulty.branch_from_the_left,
            kernels.square_of_returned_sum: faulty.square_of_func,
            kernels.quotient_of_returned_sums: faulty.quotient_of_funcs,
            kernels.mean_of_returned_count: faulty.mean_of_funcs,
            kernels.branch_on_returned_sum: faulty.branch_on_func,
        },
    )


def exchanges_second_loop_and_funcs(subject: WarpSubject) -> WarpSubject:
    """A first loop's result is restored inside a second one of the same kernel, and lost between functions."""
    return with_adjoints(subject, both_ways({kernels.result_in_second_loop: kernels.loops_in_funcs}))


def adds_the_spread_on_the_left(subject: WarpSubject) -> WarpSubject:
    """Both loops add sum to term instead of term to sum, and the difference is taken the other way round."""
    return with_adjoints(
        subject,
        {
            kernels.result_in_second_loop: faulty.second_loop_from_the_left,
            kernels.loops_in_funcs: faulty.funcs_from_the_left,
        },
    )
