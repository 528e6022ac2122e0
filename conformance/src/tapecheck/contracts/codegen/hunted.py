"""What the hunt found beside the known traps, each with the form that is right."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from tapecheck.contract import Evidence, check, outcome_of
from tapecheck.contracts.codegen import kernels_hunted as kernels
from tapecheck.contracts.codegen import kernels_hunted_storage as storage
from tapecheck.contracts.codegen.idiom import Idiom, adjoint, derivative, gradients
from tapecheck.faults.codegen import hunted as faults
from tapecheck.subjects.warp import WarpSubject

check_hunted = partial(check, seconds=240.0)
"""A check whose time limit allows for the kernels, which the first one to run compiles."""


class TileIdiom(Idiom):
    """An idiom that one block of threads runs together."""

    def launch(self, wp: WarpSubject, fixed: list[Any], arrays: dict[str, Any], output: Any) -> None:
        wp.launch_tiled(self.kernel, dim=[1], inputs=[*fixed, *arrays.values()], outputs=[output], block_dim=32)


class StructIdiom(Idiom):
    """An idiom whose first argument is an array of structs, which the kernel writes and reads."""

    def arrays(self, wp: WarpSubject, inputs: dict[str, np.ndarray]) -> tuple[list[Any], dict[str, Any], Any]:
        fixed, arrays, output = super().arrays(wp, inputs)
        return [wp.zeros(1, dtype=storage.Particle, requires_grad=True), *fixed], arrays, output


class Trap(NamedTuple):
    """A kernel, its safe form, and what becomes of the gradient by `x`.

    Attributes:
        x: the values of the input.
        wrong: the gradient that the trap gives.
        true: the derivative.
        safe: a kernel of the same arguments and values.
        others: further differentiable arrays, which the kernels write.
        options: of both idioms.
        kinds: the idioms' classes, of the trap and of the safe form.
    """

    trap: Any
    safe: Any
    x: list[float]
    wrong: list[float]
    true: list[float]
    others: Mapping[str, list[float]] = MappingProxyType({})
    options: Mapping[str, Any] = MappingProxyType({})
    kinds: tuple[type[Idiom], type[Idiom]] = (Idiom, Idiom)


def both_forms(wp: WarpSubject, trap: Trap) -> Evidence:
    """The gradient of the form in question, that of the safe form, and the derivative by differences."""
    inputs = {**trap.others, "x": trap.x}
    kernels_of = zip(trap.kinds, (trap.trap, trap.safe), strict=True)
    form, safe = (kind(kernel, inputs, **trap.options) for kind, kernel in kernels_of)
    return Evidence(
        observed={
            "x.grad": adjoint(wp, form)["x.grad"],
            "safe form": adjoint(wp, safe)["x.grad"],
            "derivative": derivative(wp, form)["x.grad"],
        },
        expected={"x.grad": trap.wrong, "safe form": trap.true, "derivative": trap.true},
        tolerance=1e-6,
    )


@check_hunted("codegen.continue-after-add", faults=[faults.continues_like_an_if], near_misses=[faults.seeds_are_copied])
def continue_after_add(wp: WarpSubject) -> Evidence:
    return both_forms(
        wp,
        Trap(
            kernels.added_before_continue,
            kernels.added_before_if,
            [2.0, 3.0, 5.0, 7.0],
            wrong=[5.0, 0.0, 11.0, 0.0],
            true=[5.0, 6.0, 11.0, 14.0],
            options={"fixed": (4,)},
        ),
    )


LOOP_CARRIED_INTEGER = {
    "weight": Trap(
        kernels.weighted_by_count,
        kernels.weighted_by_variable,
        [2.0, 3.0, 5.0, 7.0],
        wrong=[4.0, 3.0, 2.0, 1.0],
        true=[1.0, 2.0, 3.0, 4.0],
        options={"fixed": (4,)},
    ),
    "index": Trap(
        kernels.stored_by_count,
        kernels.stored_by_func,
        [2.0, 3.0, 5.0, 7.0],
        wrong=[7.6, 0.0, 16.0, 18.2],
        true=[4.0, 0.0, 13.0, 22.4],
        options={"fixed": (4,), "output": (4,), "dim": 1},
    ),
    "linked-list": Trap(
        kernels.linked_list,
        kernels.linked_list_by_func,
        [2.0, 3.0, 5.0, 7.0],
        wrong=[0.0, 20.0, 12.0, 6.0],
        true=[4.0, 18.0, 20.0, 0.0],
        options={"fixed": (3, np.array([2, 3, 1, 0], dtype=np.int32))},
    ),
}


@check_hunted(
    "codegen.loop-carried-integer",
    faults=[faults.restores_integers],
    near_misses=[faults.seeds_are_copied],
    cases=LOOP_CARRIED_INTEGER,
)
def loop_carried_integer(wp: WarpSubject, trap: Trap) -> Evidence:
    return both_forms(wp, trap)


@check_hunted("codegen.index-found-in-loop", faults=[faults.keeps_the_index], near_misses=[faults.seeds_are_copied])
def index_found_in_loop(wp: WarpSubject) -> Evidence:
    return both_forms(
        wp,
        Trap(
            kernels.least_found_in_loop,
            kernels.least_found_in_func,
            [5.0, 3.0, 2.0, 7.0],
            wrong=[10.0, 0.0, 0.0, 0.0],
            true=[0.0, 0.0, 4.0, 0.0],
            options={"fixed": (4,)},
        ),
    )


@check_hunted(
    "codegen.loop-carried-condition", faults=[faults.restores_conditions], near_misses=[faults.seeds_are_copied]
)
def loop_carried_condition(wp: WarpSubject) -> Evidence:
    return both_forms(
        wp,
        Trap(
            kernels.added_below_limit,
            kernels.added_below_limit_by_func,
            [2.0, 3.0, 5.0, 7.0],
            wrong=[0.0, 0.0, 0.0, 1.0],
            true=[1.0, 1.0, 0.0, 0.0],
            options={"fixed": (4,)},
        ),
    )


@check_hunted(
    "codegen.struct-components", faults=[faults.stores_struct_components], near_misses=[faults.seeds_are_copied]
)
def struct_components(wp: WarpSubject) -> Evidence:
    return both_forms(
        wp, Trap(kernels.struct_components, kernels.struct_constructed, [2.0, 3.0], wrong=[0.0, 0.0], true=[36.0, 30.0])
    )


@check_hunted("codegen.tuple-index", faults=[faults.indexes_tuples], near_misses=[faults.seeds_are_copied])
def tuple_index(wp: WarpSubject) -> Evidence:
    return both_forms(
        wp, Trap(kernels.tuple_by_index, kernels.tuple_unpacked, [2.0, 3.0], wrong=[0.0, 0.0], true=[9.0, 12.0])
    )


REMAINDER = {
    "function": Trap(
        kernels.remainder_function, kernels.remainder_by_hand, [7.5, 2.0], wrong=[1.0, 0.0], true=[1.0, -3.0]
    ),
    "operator": Trap(
        kernels.remainder_operator, kernels.remainder_by_hand, [7.5, 2.0], wrong=[1.0, 0.0], true=[1.0, -3.0]
    ),
    "fraction": Trap(kernels.fraction, kernels.fraction_by_hand, [1.5, 0.75], wrong=[0.0, 0.0], true=[0.75, 1.5]),
}


@check_hunted(
    "codegen.remainder",
    faults=[faults.differentiates_remainders],
    near_misses=[faults.seeds_are_copied],
    cases=REMAINDER,
)
def remainder(wp: WarpSubject, trap: Trap) -> Evidence:
    return both_forms(wp, trap)


ATOMIC_RESULT = {
    "value": Trap(
        kernels.value_of_atomic, kernels.value_read, [2.0, 3.0], wrong=[0.0, 0.0], true=[3.0, 0.0], others={"t": [0.0]}
    ),
    "slot": Trap(
        kernels.slot_of_atomic,
        kernels.slot_known,
        [2.0],
        wrong=[4.0],
        true=[5.2],
        options={"fixed": (np.zeros(1, dtype=np.int32),), "output": (2,), "dim": 1},
    ),
}


@check_hunted(
    "codegen.atomic-result",
    faults=[faults.differentiates_atomic_results],
    near_misses=[faults.seeds_are_copied],
    cases=ATOMIC_RESULT,
)
def atomic_result(wp: WarpSubject, trap: Trap) -> Evidence:
    return both_forms(wp, trap)


@check_hunted("codegen.array-rewritten", faults=[faults.keeps_the_element_read], near_misses=[faults.seeds_are_copied])
def array_rewritten(wp: WarpSubject) -> Evidence:
    return both_forms(
        wp,
        Trap(
            kernels.element_rewritten,
            kernels.element_in_local,
            [2.0, 3.0],
            wrong=[72.0, 9.0],
            true=[96.0, 16.0],
            others={"t": [0.0]},
        ),
    )


COMPONENT_OVERWRITE = {
    "component": Trap(
        kernels.component_assigned_after_use,
        kernels.vector_made_after_use,
        [2.0, 3.0],
        wrong=[5.0, 1.0],
        true=[4.0, 1.0],
    ),
    "matrix-row": Trap(
        kernels.rows_swapped,
        kernels.matrix_made_of_rows,
        [2.0, 3.0, 5.0, 7.0],
        wrong=[10.0, 4.0, 7.0, 2.0],
        true=[10.0, 2.0, 0.0, 2.0],
    ),
    "argument": Trap(kernels.argument_changed, kernels.argument_kept, [2.0, 3.0], wrong=[5.0, 6.0], true=[4.0, 6.0]),
}


@check_hunted(
    "codegen.component-overwrite",
    faults=[faults.keeps_the_component_read],
    near_misses=[faults.seeds_are_copied],
    cases=COMPONENT_OVERWRITE,
)
def component_overwrite(wp: WarpSubject, trap: Trap) -> Evidence:
    return both_forms(wp, trap)


TILE_REDUCTION = {
    "least": Trap(
        storage.least_of_tile,
        storage.least_unrolled,
        [5.0, 3.0, 2.0, 7.0],
        wrong=[0.0] * 4,
        true=[0.0, 0.0, 1.0, 0.0],
        kinds=(TileIdiom, Idiom),
    ),
    "product": Trap(
        storage.product_of_tile,
        storage.product_unrolled,
        [5.0, 3.0, 2.0, 7.0],
        wrong=[0.0] * 4,
        true=[42.0, 70.0, 105.0, 30.0],
        kinds=(TileIdiom, Idiom),
    ),
}


@check_hunted(
    "codegen.tile-reduction",
    faults=[faults.differentiates_reductions],
    near_misses=[faults.seeds_are_copied],
    cases=TILE_REDUCTION,
)
def tile_reduction(wp: WarpSubject, trap: Trap) -> Evidence:
    return both_forms(wp, trap)


@check_hunted("codegen.tile-loop", faults=[faults.loads_the_tile_at_once], near_misses=[faults.seeds_are_copied])
def tile_loop(wp: WarpSubject) -> Evidence:
    return both_forms(
        wp,
        Trap(
            storage.tile_sum_squared,
            storage.tile_sum_at_once,
            [5.0, 3.0, 2.0, 7.0],
            wrong=[0.0] * 4,
            true=[34.0] * 4,
            options={"fixed": (2,)},
            kinds=(TileIdiom, TileIdiom),
        ),
    )


@check_hunted("codegen.local-array", faults=[faults.keeps_a_vector], near_misses=[faults.seeds_are_copied])
def local_array(wp: WarpSubject) -> Evidence:
    return both_forms(
        wp, Trap(storage.local_array, storage.local_vector, [2.0, 3.0], wrong=[0.0, 0.0], true=[9.0, 12.0])
    )


FILLED = {
    "in-kernel": Idiom(storage.struct_by_fields, {"x": [2.0, 3.0]}),
    "in-func": Idiom(storage.struct_filled_in_func, {"x": [2.0, 3.0]}),
    "in-loop": Idiom(storage.struct_filled_in_loop, {"x": [2.0, 3.0]}, fixed=(2,)),
}


@check_hunted(
    "codegen.struct-by-fields",
    faults=[faults.loses_a_field],
    near_misses=[faults.constructs_structs, faults.seeds_are_copied],
    cases=FILLED,
)
def struct_by_fields(wp: WarpSubject, idiom: Idiom) -> Evidence:
    return gradients(wp, idiom)


STORED = {
    "whole": StructIdiom(storage.structs_in_memory, {"x": [2.0, 3.0]}),
    "by-fields": StructIdiom(storage.fields_in_memory, {"x": [2.0, 3.0]}),
}


@check_hunted(
    "codegen.array-of-structs",
    faults=[faults.loses_a_field_in_memory],
    near_misses=[faults.goes_around_memory, faults.seeds_are_copied],
    cases=STORED,
)
def array_of_structs(wp: WarpSubject, idiom: Idiom) -> Evidence:
    return gradients(wp, idiom)


@check_hunted(
    "codegen.unrolled-continue",
    faults=[faults.leaves_the_unrolled_loop],
    near_misses=[faults.continues_unrolled_like_an_if, faults.seeds_are_copied],
)
def unrolled_continue(wp: WarpSubject) -> Evidence:
    return gradients(wp, Idiom(storage.unrolled_continue, {"x": [2.0, 3.0, 5.0]}))


@check_hunted("codegen.while-past-the-end", faults=[faults.counts_by_range], near_misses=[faults.seeds_are_copied])
def while_past_the_end(wp: WarpSubject) -> Evidence:
    """The array is the first half of its buffers, so that what is written past its end harms nothing."""
    values, gradient = wp.array([2.0, 3.0, 0.0, 0.0], dtype=wp.float64), wp.zeros(4, dtype=wp.float64)
    x = wp.array(ptr=values.ptr, shape=2, dtype=wp.float64, requires_grad=True, grad=gradient[:2])
    y = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(storage.counted_by_while, dim=1, inputs=[2, x], outputs=[y])
    tape.backward(grads={y: wp.ones(1, dtype=wp.float64)})
    return Evidence(
        observed={"y": y, "x.grad": x.grad, "past its end": gradient[2:]},
        expected={"y": [13.0], "x.grad": [0.0, 4.0], "past its end": [6.0, 0.0]},
    )


@check_hunted(
    "codegen.unrolled-cast",
    faults=[faults.unrolls_one_less],
    near_misses=[faults.seeds_are_copied],
    oracle=faults.casts_leave_the_variable,
    isolated=True,
)
def unrolled_cast(wp: WarpSubject) -> Evidence:
    idiom = Idiom(storage.unrolled_cast, {"x": [2.0, 3.0, 5.0]})
    seen: dict[str, Any] = {"x.grad": None}
    refusal = outcome_of(lambda: seen.update(adjoint(wp, idiom))).rpartition(";")[2]
    return Evidence(observed={"launch": refusal, **seen}, expected={"launch": "no error", "x.grad": [13.0, 2.0, 4.0]})
