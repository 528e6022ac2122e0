"""Particles without neighbours beside others that have some."""

from dataclasses import replace

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import all_right
from tapecheck.contracts.sphing import SIDE, call_of, check_each_operator, compared, population, results
from tapecheck.faults.empty import isolated as faults
from tapecheck.lazy import torch
from tapecheck.subjects.sph import Operators

FAR = 2
"""Which particle is far from all others."""


def beside_others(operators: Operators, operator: str, side: str) -> Evidence:
    """One particle of a population half a box away from all others, listed as a neighbour or not."""
    call = call_of(operators, operator, *(population([0] * 6, salt=salt, spread=1.0) for salt in (8, 9)))
    positions = getattr(call, side).positions.clone()
    positions[FAR] = SIDE / 2
    call = call.replacing({f"{side}.positions": positions})
    near = torch.arange(6).to(call.pairs) != FAR
    everybody = torch.ones_like(near)
    masks = (near, everybody) if side == "query" else (everybody, near)
    of_others = call.pairs[:, call.pairs[0 if side == "query" else 1] != FAR]
    found = {}
    for listed, pairs in (("listed, out of reach", call.pairs), ("not listed", of_others)):
        listing = replace(call, pairs=pairs)
        found[listed] = compared(results(operators.run, listing), listing, *masks)
    return all_right(found)


@check_each_operator(
    "empty.isolated",
    case="query",
    faults=[faults.divided_by_count, faults.divided_by_count_beside_a_branch, faults.rows_closed_up],
    near_misses=[faults.divided_by_count_of_one_at_least],
)
def isolated_query(operators: Operators, operator: str) -> Evidence:
    return beside_others(operators, operator, "query")


@check_each_operator(
    "empty.isolated",
    case="reference",
    faults=[faults.masses_shared_out],
    near_misses=[faults.masses_shared_out_to_one_at_least],
)
def isolated_reference(operators: Operators, operator: str) -> Evidence:
    return beside_others(operators, operator, "reference")
