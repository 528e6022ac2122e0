"""Tangents of SPH operators: the fields that they read, and the options that shape them."""

import re
from dataclasses import replace
from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import RIGHT_OR_REFUSED, all_right, refusal
from tapecheck.contracts.sphing import (
    FIELD,
    call_of,
    check_each_operator,
    check_operators,
    closeness,
    directions_of,
    output_of,
    population,
    tangent_along,
    tangent_of,
)
from tapecheck.faults.jvp import fields as faults
from tapecheck.lazy import oracles, torch
from tapecheck.subjects.sph import (
    DIRECTIONS,
    FUNCTIONS,
    OPERATORS,
    SCHEMES_OF,
    SUPPORT_MODES,
    VOLUMES,
    Call,
    Operators,
)

FIELDS = ("query_field", "reference_field")


def two_populations(operators: Operators, operator: str, field: tuple[int, ...] | None = None) -> Call:
    """Seven queries and six references of every kind."""
    query, reference = population([0, 1, 2, 3, 0, 1, 3], salt=41), population([0, 1, 3, 2, 0, 1], salt=42)
    return call_of(operators, operator, query, reference, field=field)


def with_fields(call: Call, fields: dict[str, torch.Tensor]) -> Call:
    """The call with these fields, and zeros for the other side where the operator reads both."""
    empty = {name: torch.zeros_like(tensor) for name, tensor in call.tensors.items() if name in FIELDS}
    return call.replacing(empty | fields)


@check_operators(
    "jvp.value-sides",
    faults=[faults.unread_fields_enter_the_tangent],
    near_misses=[faults.unread_fields_refused],
)
def value_sides(operators: Operators) -> Evidence:
    found = {}
    for operator in operators.knows("density", "covariance", "interpolate"):
        call = two_populations(operators, operator)
        along = {"query.positions": directions_of(call)["query.positions"]}
        due = tangent_along(operators.run, call, along)
        assert due is not None
        for name in ["query_field"] if operator == "interpolate" else FIELDS:
            side = call.query if name == "query_field" else call.reference
            beside = call.replacing({name: torch.ones(len(side.masses), *FIELD.get(operator, ())).to(side.masses)})
            varying = along | {name: beside.tensors[name]}
            found[f"{operator}, {name}"] = refusal(
                lambda beside=beside, varying=varying, due=due: closeness(
                    tangent_along(operators.run, beside, varying), due
                )
            )
    return all_right(found, RIGHT_OR_REFUSED)


@check_operators(
    "jvp.rank-two",
    needs=["interpolate"],
    faults=[faults.fields_of_rank_two_refused, faults.last_component_still],
    near_misses=[faults.duals_made_again],
)
def rank_two(operators: Operators) -> Evidence:
    found = {}
    for operator in operators.knows("interpolate", *SCHEMES_OF):
        call = two_populations(operators, operator, field=(3, 2))
        along = {name: v for name, v in directions_of(call).items() if name in FIELDS}
        due = output_of(operators.run, with_fields(call, along))
        found[operator] = refusal(
            lambda call=call, along=along, due=due: closeness(tangent_along(operators.run, call, along), due)
        )
    return all_right(found)


@check_operators(
    "jvp.one-sided",
    faults=[faults.missing_side_like_the_other, faults.one_sided_tangents_dropped],
    near_misses=[faults.duals_made_again],
)
def one_sided(operators: Operators) -> Evidence:
    found = {}
    for operator in operators.knows(*SCHEMES_OF):
        call = two_populations(operators, operator)
        for name in FIELDS:
            along = {name: directions_of(call)[name]}
            due = output_of(operators.run, with_fields(call, along))
            found[f"{operator}, {name}"] = closeness(tangent_along(operators.run, call, along), due)
    return all_right(found)


BOUNDS = ("minimum", "maximum")


@check_operators(
    "jvp.no-home-raises",
    faults=[faults.bounds_become_numbers],
    near_misses=[faults.duals_made_again],
)
def no_home_raises(operators: Operators) -> Evidence:
    from torch.autograd import forward_ad

    operator = operators.knows(*OPERATORS)[0]
    call = two_populations(operators, operator)
    plain = output_of(operators.run, call)

    def bounded(name: str, bound: Any) -> str:
        moved = replace(call, domain=replace(call.domain, **{name: bound}))
        return closeness(operators.run(moved), plain)

    observed = {}
    with forward_ad.dual_level():
        for name in BOUNDS:
            bound = torch.tensor(getattr(call.domain, name)).to(plain)
            observed[f"{name}, a tensor"] = refusal(lambda name=name, bound=bound: bounded(name, bound))
            dual = forward_ad.make_dual(bound, torch.ones_like(bound))
            observed[f"{name} with a tangent"] = refusal(lambda name=name, dual=dual: bounded(name, dual))
    named = re.compile(r"^refused: .*(domain|minimum|maximum)")
    return Evidence(observed, {what: named if "with" in what else RIGHT_OR_REFUSED for what in observed})


def varied(operators: Operators, operator: str) -> dict[str, Call]:
    """A call for each word that is known, every option by turns."""
    call = two_populations(operators, operator)
    functions, modes, schemes, directions = (
        operators.knows(*words) for words in (FUNCTIONS, SUPPORT_MODES, SCHEMES_OF.get(operator, ()), DIRECTIONS)
    )
    volumes = 0.5 + torch.arange(6.0).to(call.query.masses) / 8
    calls = {}
    for at in range(max(map(len, (functions, modes, schemes)))):
        rules = oracles.Rules(
            functions[at % len(functions)], modes[at % len(modes)], directions[3 * at % len(directions)]
        )
        scheme = schemes[at % len(schemes)] if schemes else ""
        words = [rules.function, rules.support_mode, rules.direction, *([scheme] if scheme else [])]
        supplied = at % 2 == 1 and operator != "density" and scheme != "symmetric" and bool(operators.knows(VOLUMES))
        chosen = replace(call, rules=rules, scheme=scheme, reference_volumes=volumes if supplied else None)
        calls[", ".join(words + [VOLUMES] * supplied)] = chosen
    return calls


@check_each_operator(
    "jvp.same-rules",
    faults=[
        faults.tangents_of_another_function,
        faults.tangents_of_another_mode,
        faults.tangents_of_another_direction,
        faults.tangents_of_another_scheme,
        faults.tangents_without_volumes,
    ],
    near_misses=[faults.duals_made_again],
    seconds=600,  # an implementation may compile two kernels for every rule of every operator
)
def same_rules(operators: Operators, operator: str) -> Evidence:
    from tapecheck.subjects.oracle import run as oracle

    found = {}
    for words, call in varied(operators, operator).items():
        due = tangent_of(oracle, call)
        assert due is not None
        found[words] = closeness(tangent_of(operators.run, call), due)
    return all_right(found)
