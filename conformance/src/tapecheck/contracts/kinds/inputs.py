"""Kinds as inputs: integers that nothing is differentiated by, read again in backward."""

import re
from typing import Any

from tapecheck.contract import Evidence, outcome_of
from tapecheck.contracts.probing import all_right, described
from tapecheck.contracts.sphing import (
    call_of,
    check_each_operator,
    output_of,
    population,
    pulled_back,
    seed_of,
    with_leaves,
)
from tapecheck.faults.kinds import inputs as faults
from tapecheck.lazy import torch
from tapecheck.subjects.sph import Call, Operators

SIDES = ("query.kinds", "reference.kinds")


def example(operators: Operators, operator: str) -> Call:
    """A call of particles of every kind."""
    return call_of(operators, operator, population([0, 1, 2, 3], salt=5), population([0, 1, 3, 2], salt=6))


def gradient_of(operators: Operators, call: Call, name: str) -> str:
    """What becomes of kinds that are floating and require a gradient."""
    kinds = call.tensors[name].double().requires_grad_()
    try:
        output = operators.run(call.replacing({name: kinds}))
    except Exception as problem:  # noqa: BLE001  # whatever it raises, it refuses
        return f"refused: {described(problem)}"
    (found,) = torch.autograd.grad(output, [kinds], seed_of(output), allow_unused=True)
    return "no gradient" if found is None else f"a gradient of up to {float(found.abs().max()):.4g}"


@check_each_operator(
    "kinds.no-tangent", needs=["all_to_all"], faults=[faults.kinds_weigh], near_misses=[faults.floating_kinds_refused]
)
def no_tangent(operators: Operators, operator: str) -> Evidence:
    call, leaves = with_leaves(example(operators, operator))
    output = output_of(operators.run, call)
    pulled_back(output, leaves, seed_of(output))
    observed: dict[str, Any] = {}
    for name in SIDES:
        kinds = call.tensors[name]
        observed[name] = {
            "integers": f"{kinds.dtype}, {'a' if kinds.grad is not None or kinds.requires_grad else 'no'} gradient",
            "floats": gradient_of(operators, call, name),
        }
    due = {"integers": "torch.int32, no gradient", "floats": re.compile("^no gradient|^refused")}
    return Evidence(observed, dict.fromkeys(SIDES, due))


@check_each_operator(
    "kinds.saved",
    needs=["all_to_all"],
    faults=[faults.query_kinds_copied, faults.reference_kinds_copied],
    near_misses=[faults.kinds_viewed],
)
def saved(operators: Operators, operator: str) -> Evidence:
    return all_right(
        {name: backward_after_change(operators, operator, name) for name in SIDES},
        re.compile("RuntimeError: .*modified by an inplace operation"),
    )


def backward_after_change(operators: Operators, operator: str, name: str) -> str:
    """What backward says when these kinds have been changed in place since the call."""
    call, leaves = with_leaves(example(operators, operator))
    output = output_of(operators.run, call)
    call.tensors[name].copy_(call.tensors[name].flip(0))
    seed = seed_of(output)
    return outcome_of(lambda: torch.autograd.grad(output, list(leaves.values()), seed, allow_unused=True))
