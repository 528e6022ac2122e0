"""Faults and near misses of the checks of accumulated values."""

from typing import Any

from tapecheck.contracts.codegen import faulty_kernels as faulty
from tapecheck.contracts.codegen import kernels
from tapecheck.faults.planting import with_adjoints
from tapecheck.subjects.warp import WarpSubject


def instead_of_products(other: Any) -> dict[Any, Any]:
    """That kernel for each form of the matrix-vector product."""
    return dict.fromkeys([kernels.product_unrolled, kernels.product_counted, kernels.product_of_elements], other)


def instead_of_projections(other: Any) -> dict[Any, Any]:
    """That kernel for each form of the projection."""
    in_one = [kernels.project_unrolled, kernels.project_counted]
    in_two = [kernels.project_by_func_unrolled, kernels.project_by_func_counted]
    return dict.fromkeys([*in_one, *in_two], other)


def keeps_the_last_term(subject: WarpSubject) -> WarpSubject:
    """Only the last term that was added to a component gets a gradient, as if it had been assigned."""
    return with_adjoints(subject, instead_of_products(faulty.last_term))


def multiplies_by_operator(subject: WarpSubject) -> WarpSubject:
    """The product has the adjoint of Warp's own `m * x`."""
    return with_adjoints(subject, instead_of_products(faulty.product_by_operator))


def loses_the_accumulated_factor(subject: WarpSubject) -> WarpSubject:
    """The accumulated value is zero where it is a factor of the normal's derivative."""
    return with_adjoints(subject, instead_of_projections(faulty.project_on_held_normal))


def projects_by_dot(subject: WarpSubject) -> WarpSubject:
    """The projection has the adjoint of the same formula with `wp.dot`."""
    return with_adjoints(subject, instead_of_projections(faulty.project_by_dot))


def keeps_what_the_loop_accumulated(subject: WarpSubject) -> WarpSubject:
    """An oracle: a projection in one function has the adjoint of the one whose loop is in a function of its own."""
    return with_adjoints(subject, {kernels.project_counted: kernels.project_by_func_counted})
