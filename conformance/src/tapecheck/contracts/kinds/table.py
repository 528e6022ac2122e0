"""Which pairs each direction selects, and what follows for values and gradients."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import all_right, attributed
from tapecheck.contracts.sphing import (
    call_of,
    check_each_operator,
    check_operators,
    closeness,
    compared,
    compared_forward,
    directions_of,
    output_of,
    population,
    results,
    tangent_of,
)
from tapecheck.faults.kinds import table as faults
from tapecheck.lazy import torch
from tapecheck.subjects.sph import OPERATORS, PRODUCT, Call, Operators

KINDS = ("fluid", "boundary", "ghost", "other")
REAL = "fluid boundary other"
EVERY = "fluid boundary ghost other"

TABLE = {
    "unmasked": (EVERY, EVERY),
    "all_to_all": (EVERY, REAL),
    "fluid_to_fluid": ("fluid", "fluid"),
    "fluid_to_boundary": ("boundary", "fluid"),
    "fluid_to_ghost": ("ghost", "fluid"),
    "boundary_to_fluid": ("fluid", "boundary"),
    "boundary_to_boundary": ("boundary", "boundary"),
    "boundary_to_ghost": ("ghost", "boundary"),
    "ghost_to_fluid": ("fluid", "ghost"),
    "ghost_to_boundary": ("boundary", "ghost"),
    "all_to_ghost": ("ghost", REAL),
    "all_to_fluid": ("fluid", REAL),
    "all_to_boundary": ("boundary", REAL),
    "fluid_to_all": (REAL, "fluid"),
    "boundary_to_all": (REAL, "boundary"),
}
"""For each direction the kinds of queries that receive, and of references that contribute."""


def operator_of(operators: Operators, direction: str) -> str:
    """The operator that stands for a direction: one by turns, since some implementations compile for each pair."""
    known = operators.knows(*OPERATORS)
    return known[list(TABLE).index(direction) % len(known)]


@check_operators(
    "kinds.direction-table",
    cases={direction: direction for direction in TABLE},
    needs=lambda direction: (direction,),
    faults=[faults.next_entry_of_the_table, faults.last_kind_left_out],
    near_misses=[faults.selected_particles_alone],
)
def direction_table(operators: Operators, direction: str) -> Evidence:
    query, reference = (population(range(4), salt=salt, spread=1.0) for salt in (1, 2))
    call = call_of(operators, operator_of(operators, direction), query, reference, direction)
    observed: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for source, alone in zip(KINDS, torch.eye(4).to(reference.masses), strict=True):
        lit = call.replacing({"reference.masses": reference.masses * alone})
        rows = output_of(operators.run, lit).reshape(4, -1)
        for kind, row in zip(KINDS, rows, strict=True):
            observed[kind] += [source] * bool(row.any()) if row.isfinite().all() else ["not finite"]
    receiving, contributing = TABLE[direction]
    due = {kind: contributing.split() if kind in receiving.split() else [] for kind in KINDS}
    return Evidence(observed, due)


def are_of(particles: Any, kinds: str) -> torch.Tensor:
    """Which particles are of these kinds."""
    return torch.isin(particles.kinds, torch.tensor([KINDS.index(kind) for kind in kinds.split()]).to(particles.kinds))


def by_direction(operators: Operators, operator: str, said: Callable[..., Any]) -> Evidence:
    """What is said of a call and of those that its direction selects, where this operator stands for the direction."""
    query, reference = population([0, 1, 2, 3] * 2, salt=3), population([3, 2, 1, 0] * 2, salt=4)
    found = {}
    for direction, (receiving, contributing) in TABLE.items():
        if operator_of(operators, direction) == operator:
            call = call_of(operators, operator, query, reference, direction)
            found[direction] = said(call, are_of(query, receiving), are_of(reference, contributing))
    return all_right(found)


@check_each_operator(
    "kinds.masked-primal",
    case="forward",
    needs=tuple(TABLE),
    faults=[faults.mask_in_the_value_alone_forward, faults.masked_queries_receive],
    near_misses=[faults.selected_particles_alone],
)
def masked_tangent(operators: Operators, operator: str) -> Evidence:
    def said(call: Call, *selected: torch.Tensor) -> str:
        return compared_forward(tangent_of(operators.run, call), call, *selected)

    return by_direction(operators, operator, said)


@check_each_operator(
    "kinds.masked-primal",
    case="reverse",
    needs=tuple(TABLE),
    faults=[faults.mask_in_the_value_alone, faults.masked_queries_receive],
    near_misses=[faults.selected_particles_alone],
)
def masked_primal(operators: Operators, operator: str) -> Evidence:
    return by_direction(
        operators, operator, lambda call, *selected: compared(results(operators.run, call), call, *selected)
    )


@check_operators(
    "kinds.masked-primal",
    case="hessian-product",
    needs=(PRODUCT, *TABLE),
    faults=[faults.no_mask_in_the_product, faults.masked_queries_have_a_product],
    near_misses=[faults.factors_for_a_mask_in_the_product],
)
def masked_product(operators: Operators) -> Evidence:
    from tapecheck.subjects import oracle

    assert operators.hessian_product is not None
    query, reference = population([0, 1, 2, 3] * 2, salt=3), population([3, 2, 1, 0] * 2, salt=4)
    found = {}
    for direction, (receiving, contributing) in TABLE.items():
        call = call_of(operators, "density", query, reference, direction)
        vectors = [directions_of(call)[f"{side}.positions"] for side in ("query", "reference")]
        unmasked = replace(call, rules=replace(call.rules, direction="unmasked")).replacing(
            {"reference.masses": reference.masses * are_of(reference, contributing)}
        )
        due = oracle.hessian_product(unmasked, *vectors) * are_of(query, receiving)[:, None]
        with attributed("Hessian product"):
            found[direction] = closeness(operators.hessian_product(call, *vectors), due)
    return all_right(found)
