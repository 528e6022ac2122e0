"""Faults, near misses and oracles of the checks of functions and guards."""

from tapecheck.contracts.codegen import control_kernels as kernels
from tapecheck.contracts.codegen import faulty_control_kernels as faulty
from tapecheck.faults.codegen.launching import with_launches_of
from tapecheck.faults.planting import with_adjoints
from tapecheck.subjects.warp import WarpSubject


def guards_by_if(subject: WarpSubject) -> WarpSubject:
    """Backward of `wp.where` differentiates the chosen alternative alone."""
    return with_adjoints(subject, {kernels.reciprocal_by_where: kernels.reciprocal_by_if})


def guards_by_where(subject: WarpSubject) -> WarpSubject:
    """Backward of an `if` differentiates both branches."""
    return with_adjoints(subject, {kernels.reciprocal_by_if: kernels.reciprocal_by_where})


def guards_by_where_the_other_way_round(subject: WarpSubject) -> WarpSubject:
    """Backward of `wp.where` sees the condition inverted and the alternatives exchanged."""
    return with_adjoints(subject, {kernels.reciprocal_by_where: faulty.reciprocal_by_inverted_where})


def guards_by_if_the_other_way_round(subject: WarpSubject) -> WarpSubject:
    """Backward of an `if` sees the condition inverted and the branches exchanged."""
    return with_adjoints(subject, {kernels.reciprocal_by_if: faulty.reciprocal_by_inverted_if})


def gradients_flow_through_grad(subject: WarpSubject) -> WarpSubject:
    """Backward differentiates the derivative that `wp.grad` gives."""
    calls = (kernels.derivative_of_func, kernels.derivative_by_two_arguments)
    return with_adjoints(subject, dict.fromkeys(calls, faulty.derivative_written_out))


def grad_by_differences(subject: WarpSubject) -> WarpSubject:
    """`wp.grad` gives a difference quotient, through which no gradient flows."""
    calls = (kernels.derivative_of_func, kernels.derivative_by_two_arguments)
    return with_launches_of(subject, dict.fromkeys(calls, faulty.derivative_by_differences))


def grad_is_a_constant(subject: WarpSubject) -> WarpSubject:
    """Backward takes what `wp.grad` gives for a constant."""
    calls = (kernels.derivative_of_func, kernels.derivative_by_two_arguments)
    return with_adjoints(subject, dict.fromkeys(calls, faulty.nothing))


def forgets_own_gradients(subject: WarpSubject) -> WarpSubject:
    """Backward differentiates a function that has a gradient of its own."""
    own = (kernels.own_gradient, kernels.own_gradient_nested)
    return with_adjoints(subject, dict.fromkeys(own, faulty.square))


def own_gradient_in_two_terms(subject: WarpSubject) -> WarpSubject:
    """A function's own gradient is added in two terms."""
    return with_adjoints(
        subject,
        {
            kernels.own_gradient: faulty.own_gradient_in_two_terms,
            kernels.own_gradient_nested: faulty.own_gradient_in_two_terms_three_times,
        },
    )


def forgets_own_replays(subject: WarpSubject) -> WarpSubject:
    """Backward calls a function again that has a replay of its own."""
    return with_adjoints(
        subject,
        {kernels.own_replay: faulty.no_replay, kernels.own_replay_nested: faulty.no_replay_nested},
    )


def replays_inline(subject: WarpSubject) -> WarpSubject:
    """Backward has the body of the replay where the function is called."""
    return with_adjoints(
        subject,
        {kernels.own_replay: faulty.slot_read_back, kernels.own_replay_nested: faulty.slot_read_back_nested},
    )


def replays_nested_functions(subject: WarpSubject) -> WarpSubject:
    """Oracle: a function that calls one with a replay of its own is dissolved in the kernel."""
    return with_adjoints(subject, {kernels.own_replay_nested: faulty.nesting_dissolved})
