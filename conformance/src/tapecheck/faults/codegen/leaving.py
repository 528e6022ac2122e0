"""Faults, near misses and oracles of the checks of loops and kernels that are left early."""

from tapecheck.contracts.codegen import control_kernels as kernels
from tapecheck.contracts.codegen import faulty_control_kernels as faulty
from tapecheck.faults.planting import with_adjoints
from tapecheck.subjects.warp import WarpSubject

BROKEN_OFF = (kernels.stopped_by_break, kernels.stopped_by_break_in_constant_range)


def break_ends_the_loop(subject: WarpSubject) -> WarpSubject:
    """Oracle: backward counts the iterations before a break first, and walks those alone."""
    return with_adjoints(subject, dict.fromkeys(BROKEN_OFF, faulty.until_first_flag))


def runs_on_after_break(subject: WarpSubject) -> WarpSubject:
    """Backward ignores a break."""
    return with_adjoints(subject, dict.fromkeys(BROKEN_OFF, faulty.flags_ignored))


def breaks_by_a_shorter_loop(subject: WarpSubject) -> WarpSubject:
    """Backward walks all iterations, and does nothing in those after the break."""
    return with_adjoints(subject, dict.fromkeys(BROKEN_OFF, faulty.below_first_flag))


def return_ends_the_loop(subject: WarpSubject) -> WarpSubject:
    """Oracle: backward counts the iterations before a return first, and walks those alone."""
    return with_adjoints(subject, {kernels.returned_from_loop: faulty.until_first_flag})


def runs_on_after_return(subject: WarpSubject) -> WarpSubject:
    """Backward ignores a return from inside a loop."""
    return with_adjoints(subject, {kernels.returned_from_loop: faulty.flags_ignored})


def returns_by_a_shorter_loop(subject: WarpSubject) -> WarpSubject:
    """Backward walks all iterations, and does nothing in those after the return."""
    return with_adjoints(subject, {kernels.returned_from_loop: faulty.below_first_flag})


def counts_by_range(subject: WarpSubject) -> WarpSubject:
    """Oracle: backward of a while loop counts as `range` does."""
    return with_adjoints(subject, {kernels.counted_by_while: faulty.sum_by_range})


def counts_one_less(subject: WarpSubject) -> WarpSubject:
    """Backward of a while loop leaves the last iteration out."""
    return with_adjoints(subject, {kernels.counted_by_while: faulty.sum_of_all_but_last})


def counts_with_a_step(subject: WarpSubject) -> WarpSubject:
    """Backward of a while loop counts as `range` with begin and step does."""
    return with_adjoints(subject, {kernels.counted_by_while: faulty.sum_with_step})


def skips_nothing(subject: WarpSubject) -> WarpSubject:
    """Backward ignores `continue` and an early return."""
    return with_adjoints(
        subject,
        {kernels.skipping_by_continue: faulty.flags_ignored, kernels.returning_early: faulty.every_square},
    )


def skips_by_if(subject: WarpSubject) -> WarpSubject:
    """Backward takes `continue` and an early return for an `if` around the rest."""
    return with_adjoints(
        subject,
        {kernels.skipping_by_continue: faulty.unflagged_sum, kernels.returning_early: faulty.unflagged_square},
    )
