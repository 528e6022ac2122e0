"""Faults and near misses of the checks of components and elements changed in place."""

from types import SimpleNamespace

from tapecheck.contracts.codegen import component_kernels, control_kernels
from tapecheck.contracts.codegen import faulty_control_kernels as faulty
from tapecheck.faults.codegen.launching import with_launches_of
from tapecheck.faults.planting import with_adjoints
from tapecheck.subjects.warp import WarpSubject


def adds_to_components(subject: WarpSubject) -> WarpSubject:
    """Backward takes `v[0] = v[0] + x` for `v[0] += x`."""
    return with_adjoints(
        subject,
        {
            component_kernels.reassigned: component_kernels.added_to,
            component_kernels.reassigned_in_loop: component_kernels.added_to_in_loop,
        },
    )


def reassigns_components(subject: WarpSubject) -> WarpSubject:
    """Backward takes `v[0] += x` for `v[0] = v[0] + x`."""
    return with_adjoints(
        subject,
        {
            component_kernels.added_to: component_kernels.reassigned,
            component_kernels.added_to_in_loop: component_kernels.reassigned_in_loop,
        },
    )


def collects_scalars(subject: WarpSubject) -> WarpSubject:
    """Backward takes a component that is added to for a scalar."""
    return with_adjoints(
        subject,
        {
            component_kernels.added_to: faulty.collected_scalar,
            component_kernels.added_to_in_loop: faulty.sum_by_range,
        },
    )


def option_is_ignored(subject: WarpSubject) -> WarpSubject:
    """Setting `enable_vector_component_overwrites` has no effect."""
    return subject.replacing(config=SimpleNamespace(enable_vector_component_overwrites=False))


def stores_every_component(subject: WarpSubject) -> WarpSubject:
    """Backward of a store into one component takes the gradients of all of them."""
    vectors = (
        control_kernels.element_component_by_index,
        control_kernels.element_component_by_name,
        control_kernels.element_component_added_to,
        control_kernels.element_component_subtracted_from,
    )
    matrices = (
        control_kernels.matrix_element_stored,
        control_kernels.matrix_element_added_to,
        control_kernels.matrix_row_stored,
        control_kernels.matrix_row_added_to,
    )
    return with_adjoints(
        subject,
        dict.fromkeys(vectors, faulty.every_vector_component) | dict.fromkeys(matrices, faulty.every_matrix_component),
    )


def leaves_the_buffer_alone(subject: WarpSubject) -> WarpSubject:
    """Multiplying and dividing in place goes to a local, so that backward still finds the former value."""
    return with_launches_of(
        subject,
        {
            control_kernels.multiplied_in_place: control_kernels.multiplied_in_a_local,
            control_kernels.divided_in_place: control_kernels.divided_in_a_local,
        },
    )


def reads_multiplies_writes(subject: WarpSubject) -> WarpSubject:
    """Multiplying and dividing in place is spelled out: read, compute, write."""
    return with_launches_of(
        subject,
        {
            control_kernels.multiplied_in_place: faulty.multiplied_step_by_step,
            control_kernels.divided_in_place: faulty.divided_step_by_step,
        },
    )


def multiplies_in_place(subject: WarpSubject) -> WarpSubject:
    """A product or quotient in a local is written back to the element it was read from."""
    return with_launches_of(
        subject,
        {
            control_kernels.multiplied_in_a_local: control_kernels.multiplied_in_place,
            control_kernels.divided_in_a_local: control_kernels.divided_in_place,
        },
    )
