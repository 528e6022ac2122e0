"""Components of vectors and matrices, and array elements, that are changed in place."""

from typing import Any, NamedTuple

import numpy as np

from tapecheck.contract import Evidence, check
from tapecheck.contracts.codegen import component_kernels
from tapecheck.contracts.codegen import control_kernels as kernels
from tapecheck.contracts.codegen.idiom import Idiom, Trap, adjoint, gradients, trapped
from tapecheck.contracts.codegen.refusal import refusal
from tapecheck.faults.codegen import components as faults
from tapecheck.faults.codegen.launching import forward_again_before_backward
from tapecheck.subjects.warp import WarpSubject

# An assigned component keeps its gradient, so that what it held before receives it twice.
REASSIGNED = {
    "reassigned": Trap(
        Idiom(component_kernels.reassigned, {"x": [2.0, 3.0]}, output=(2,)),
        wrong={"x.grad": [2 * 6.0 * (2 + 4.0), 1.3 * 2 * 12.0 * (2 + 6.0)]},
        true={"x.grad": [2 * 6.0 * (1 + 4.0), 1.3 * 2 * 12.0 * (1 + 6.0)]},
    ),
    "reassigned-in-loop": Trap(
        Idiom(component_kernels.reassigned_in_loop, {"x": [2.0, 3.0, 5.0]}, fixed=(3,)),
        wrong={"x.grad": [4 * 4.0, 2 * 6.0, 10.0]},
        true={"x.grad": [4.0, 6.0, 10.0]},
    ),
}
ADDED_TO = {
    "added-to": Idiom(component_kernels.added_to, {"x": [2.0, 3.0]}, output=(2,)),
    "added-to-in-loop": Idiom(component_kernels.added_to_in_loop, {"x": [2.0, 3.0, 5.0]}, fixed=(3,)),
}


@check(
    "codegen.component-update",
    faults=[faults.adds_to_components],
    near_misses=[forward_again_before_backward],
    cases=REASSIGNED,
)
def component_reassigned(wp: WarpSubject, trap: Trap) -> Evidence:
    return trapped(wp, trap)


@check(
    "codegen.component-update",
    faults=[faults.reassigns_components],
    near_misses=[faults.collects_scalars],
    cases=ADDED_TO,
    safe=True,
)
def component_added_to(wp: WarpSubject, idiom: Idiom) -> Evidence:
    return gradients(wp, idiom)


@check(
    "codegen.component-update",
    case="with-the-option",
    safe=True,
    faults=[faults.option_is_ignored],
    near_misses=[forward_again_before_backward],
    needs=("config.enable_vector_component_overwrites",),
    isolated=True,
    seconds=180.0,
)
def component_updates_with_the_option(wp: WarpSubject) -> Evidence:
    wp.config.enable_vector_component_overwrites = True
    idioms = {name: trap.idiom for name, trap in REASSIGNED.items()} | ADDED_TO
    results = {name: gradients(wp, idiom) for name, idiom in idioms.items()}
    return Evidence(
        observed={name: result.observed for name, result in results.items()},
        expected={name: result.expected for name, result in results.items()},
        tolerance=1e-7,
    )


class Store(NamedTuple):
    """A kernel that stores x² into a component of y[i], or adds it (rows: x² and 5x), x being 2 and 3.

    Attributes:
        y: the output.
        gradient: what x receives.
    """

    kernel: Any
    y: list[Any]
    gradient: list[float]


ROW = ([[[0, 0], [4, 10]], [[0, 0], [9, 15]]], [4 * 1.6 + 5 * 1.9, 6 * 2.8 + 5 * 3.1])
STORES = {
    "index": Store(kernels.element_component_by_index, [[4, 0], [9, 0]], [4 * 1.0, 6 * 1.6]),
    "attribute": Store(kernels.element_component_by_name, [[0, 4], [0, 9]], [4 * 1.3, 6 * 1.9]),
    "matrix-element": Store(kernels.matrix_element_stored, [[[0, 0], [4, 0]], [[0, 0], [9, 0]]], [4 * 1.6, 6 * 2.8]),
    "matrix-row": Store(kernels.matrix_row_stored, *ROW),
}
ADDITIONS = {
    "index-added-to": Store(kernels.element_component_added_to, [[0, 4], [0, 9]], [4 * 1.3, 6 * 1.9]),
    "attribute-subtracted-from": Store(
        kernels.element_component_subtracted_from, [[-4, 0], [-9, 0]], [-4 * 1.0, -6 * 1.6]
    ),
    "matrix-element-added-to": Store(
        kernels.matrix_element_added_to, [[[0, 4], [0, 0]], [[0, 9], [0, 0]]], [4 * 1.3, 6 * 2.5]
    ),
    "matrix-row-added-to": Store(kernels.matrix_row_added_to, *ROW),
}
OF_A_COMPONENT = {"faults": [faults.stores_every_component], "near_misses": [forward_again_before_backward]}


@check("codegen.array-component", cases=STORES, **OF_A_COMPONENT)
def stored_component(wp: WarpSubject, store: Store) -> Evidence:
    dtype = wp.vec2d if np.ndim(store.y) == 2 else wp.mat22d
    idiom = Idiom(store.kernel, {"x": [2.0, 3.0]}, output=(2,), dtypes={"output": dtype})
    fixed, arrays, y = idiom.arrays(wp, idiom.values())
    outcome = refusal(lambda: idiom.launch(wp, fixed, arrays, y))
    gradient = adjoint(wp, idiom)["x.grad"] if outcome == "no error" else None
    return Evidence(
        observed={"launch": outcome, "y": y, "x.grad": gradient},
        expected={"launch": "no error", "y": store.y, "x.grad": store.gradient},
        tolerance=1e-12,
    )


@check("codegen.array-component", cases=ADDITIONS, isolated=True, seconds=180.0, **OF_A_COMPONENT)
def component_of_an_element_added_to(wp: WarpSubject, addition: Store) -> Evidence:
    """In a process of its own: before 1.18 the adjoint dereferences a pointer that it never set."""
    return stored_component(wp, addition)


@check(
    "codegen.inplace-multiply",
    faults=[faults.leaves_the_buffer_alone],
    near_misses=[faults.reads_multiplies_writes],
    cases={
        "multiply": Trap(
            Idiom(kernels.multiplied_in_place, {"x": [2.0, 3.0], "buffer": [5.0, 7.0]}, output=(2,)),
            wrong={"x.grad": [5.0 * 2.0, 1.3 * 7.0 * 3.0]},
            true={"x.grad": [5.0, 1.3 * 7.0]},
        ),
        "divide": Trap(
            Idiom(kernels.divided_in_place, {"x": [2.0, 4.0], "buffer": [5.0, 7.0]}, output=(2,)),
            wrong={"x.grad": [-5.0 / 8, -1.3 * 7.0 / 64]},
            true={"x.grad": [-5.0 / 4, -1.3 * 7.0 / 16]},
        ),
    },
)
def in_place(wp: WarpSubject, trap: Trap) -> Evidence:
    return trapped(wp, trap)


@check(
    "codegen.inplace-multiply",
    faults=[faults.multiplies_in_place],
    near_misses=[forward_again_before_backward],
    cases={
        "multiply-a-local": Idiom(kernels.multiplied_in_a_local, {"x": [2.0, 3.0], "buffer": [5.0, 7.0]}, output=(2,)),
        "divide-a-local": Idiom(kernels.divided_in_a_local, {"x": [2.0, 4.0], "buffer": [5.0, 7.0]}, output=(2,)),
    },
    safe=True,
)
def in_a_local(wp: WarpSubject, idiom: Idiom) -> Evidence:
    return gradients(wp, idiom)
