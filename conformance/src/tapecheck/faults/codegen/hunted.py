"""Faults and near misses of the hunted checks; the fault of a hazard mends it, so that the trap is no longer there."""

from typing import Any

from tapecheck.contracts.codegen import faulty_hunted as faulty
from tapecheck.contracts.codegen import kernels_hunted as kernels
from tapecheck.contracts.codegen import kernels_hunted_storage as storage
from tapecheck.faults.planting import with_adjoints, with_function, with_tape
from tapecheck.subjects.warp import WarpSubject


def seeds_are_copied(subject: WarpSubject) -> WarpSubject:
    """Backward works with copies of the incoming gradients."""

    def backward(base: Any, self: Any, *args: Any, grads: dict[Any, Any], **options: Any) -> None:
        copies = {array: subject.clone(seed) for array, seed in grads.items()}
        base.backward(self, *args, grads=copies, **options)

    return with_tape(subject, backward=backward)


def continues_like_an_if(subject: WarpSubject) -> WarpSubject:
    """Backward of an iteration that `continue` leaves is that of an `if` around the rest."""
    return with_adjoints(subject, {kernels.added_before_continue: kernels.added_before_if})


def restores_integers(subject: WarpSubject) -> WarpSubject:
    """Backward has the integer that each iteration had, as if a function computed it."""
    return with_adjoints(
        subject,
        {
            kernels.weighted_by_count: kernels.weighted_by_variable,
            kernels.stored_by_count: kernels.stored_by_func,
            kernels.linked_list: kernels.linked_list_by_func,
        },
    )


def keeps_the_index(subject: WarpSubject) -> WarpSubject:
    """Backward replays the loop that finds the index, as if it were in a function."""
    return with_adjoints(subject, {kernels.least_found_in_loop: kernels.least_found_in_func})


def restores_conditions(subject: WarpSubject) -> WarpSubject:
    """Backward has the sum that each iteration tested, as if a function computed it."""
    return with_adjoints(subject, {kernels.added_below_limit: kernels.added_below_limit_by_func})


def stores_struct_components(subject: WarpSubject) -> WarpSubject:
    """The adjoint of a store into a component of a struct's vector is that of its constructor."""
    return with_adjoints(subject, {kernels.struct_components: kernels.struct_constructed})


def indexes_tuples(subject: WarpSubject) -> WarpSubject:
    """The adjoint of an element of a tuple is that of the same tuple unpacked."""
    return with_adjoints(subject, {kernels.tuple_by_index: kernels.tuple_unpacked})


def differentiates_remainders(subject: WarpSubject) -> WarpSubject:
    """`mod`, `%` and `frac` are differentiated as their formulas."""
    return with_adjoints(
        subject,
        {
            kernels.remainder_function: kernels.remainder_by_hand,
            kernels.remainder_operator: kernels.remainder_by_hand,
            kernels.fraction: kernels.fraction_by_hand,
        },
    )


def differentiates_atomic_results(subject: WarpSubject) -> WarpSubject:
    """Backward knows what `atomic_add` returned."""
    return with_adjoints(
        subject, {kernels.value_of_atomic: kernels.value_read, kernels.slot_of_atomic: kernels.slot_known}
    )


def keeps_the_element_read(subject: WarpSubject) -> WarpSubject:
    """Backward has the element as it was read, as if a local held it."""
    return with_adjoints(subject, {kernels.element_rewritten: kernels.element_in_local})


def keeps_the_component_read(subject: WarpSubject) -> WarpSubject:
    """Backward has the vector and the matrix as they were before the overwrite."""
    return with_adjoints(
        subject,
        {
            kernels.component_assigned_after_use: kernels.vector_made_after_use,
            kernels.rows_swapped: kernels.matrix_made_of_rows,
            kernels.argument_changed: kernels.argument_kept,
        },
    )


def differentiates_reductions(subject: WarpSubject) -> WarpSubject:
    """Reductions of a tile are differentiated like the same loop over the array."""
    return with_adjoints(
        subject, {storage.least_of_tile: storage.least_unrolled, storage.product_of_tile: storage.product_unrolled}
    )


def loads_the_tile_at_once(subject: WarpSubject) -> WarpSubject:
    """Backward has the whole sum, as if one tile held all."""
    return with_adjoints(subject, {storage.tile_sum_squared: storage.tile_sum_at_once})


def keeps_a_vector(subject: WarpSubject) -> WarpSubject:
    """A local array is differentiated like a vector."""
    return with_adjoints(subject, {storage.local_array: storage.local_vector})


def loses_a_field(subject: WarpSubject) -> WarpSubject:
    """The adjoint of a struct filled field by field leaves the field of vectors out."""
    forms = {
        storage.struct_by_fields: faulty.place_lost,
        storage.struct_filled_in_func: faulty.place_lost,
        storage.struct_filled_in_loop: faulty.place_lost_in_loop,
    }
    return with_adjoints(subject, forms)


def constructs_structs(subject: WarpSubject) -> WarpSubject:
    """Backward differentiates the struct's constructor in the place of stores into its fields."""
    forms = {
        storage.struct_by_fields: storage.struct_by_constructor,
        storage.struct_filled_in_func: storage.struct_by_constructor,
        storage.struct_filled_in_loop: storage.struct_constructed_in_loop,
    }
    return with_adjoints(subject, forms)


def loses_a_field_in_memory(subject: WarpSubject) -> WarpSubject:
    """The adjoint of a struct in an array leaves the field of vectors out."""
    return with_adjoints(subject, dict.fromkeys(MEMORY, faulty.place_lost_in_memory))


def goes_around_memory(subject: WarpSubject) -> WarpSubject:
    """Backward differentiates a local struct in the place of that in the array."""
    return with_adjoints(subject, dict.fromkeys(MEMORY, storage.structs_not_in_memory))


MEMORY = (storage.structs_in_memory, storage.fields_in_memory)


def leaves_the_unrolled_loop(subject: WarpSubject) -> WarpSubject:
    """Backward takes `continue` in an unrolled loop for `break`."""
    return with_adjoints(subject, {storage.unrolled_continue: faulty.unrolled_break})


def continues_unrolled_like_an_if(subject: WarpSubject) -> WarpSubject:
    """Backward differentiates an `if` in the place of `continue` in an unrolled loop."""
    return with_adjoints(subject, {storage.unrolled_continue: storage.unrolled_if})


def counts_by_range(subject: WarpSubject) -> WarpSubject:
    """Backward of a `while` loop is that of the same loop over `range`."""
    return with_adjoints(subject, {storage.counted_by_while: storage.counted_by_range})


def casts_leave_the_variable(subject: WarpSubject) -> WarpSubject:
    """A cast of an unrolled loop's variable makes a new number, and the variable stays an integer."""

    def launch(original: Any, kernel: Any, *args: Any, **options: Any) -> Any:
        return original(storage.unrolled_without_cast if kernel is storage.unrolled_cast else kernel, *args, **options)

    return with_function(subject, "launch", launch)


def unrolls_one_less(subject: WarpSubject) -> WarpSubject:
    """Backward leaves out the last iteration of an unrolled loop."""
    return with_adjoints(subject, {storage.unrolled_without_cast: storage.unrolled_without_last})
