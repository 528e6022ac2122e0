"""Operators that are declared: their extras, outputs and threads."""

import re
from typing import Any

import warp

from tapecheck.contract import Evidence, outcome_of
from tapecheck.contracts.abi import kernels
from tapecheck.contracts.coring import check_core, compared, launches, particles
from tapecheck.contracts.probing import attributed
from tapecheck.faults.abi import declared as faults
from tapecheck.lazy import torch
from tapecheck.subjects.core import Core, Declared

WEIGHTED = Declared(
    kernel=kernels.weighted,
    reads=("query_positions", "query_masses"),
    outputs=(
        (warp.float64, lambda context, extras: (len(context.query.masses),)),
        (warp.vec2d, lambda context, extras: tuple(context.query.positions.shape)),
        (warp.int32, lambda context, extras: (len(extras["weights"]),)),
    ),
    tensors=("weights",),
    scalars=("factor",),
)


def extras() -> dict[str, Any]:
    """What it takes."""
    return {"weights": particles(salt=5).masses, "factor": 1.5}


def wrong_extras() -> dict[str, tuple[str, dict[str, Any]]]:
    """Each the extra's name, and what is handed over."""
    good = extras()
    weights = good["weights"]
    return {
        "tensor missing": ("weights", {"factor": 1.5}),
        "number missing": ("factor", {"weights": weights}),
        "undeclared": ("surplus", {**good, "surplus": 1.0}),
        "number for a tensor": ("weights", {**good, "weights": 1.5}),
        "tensor for a number": ("factor", {**good, "factor": weights}),
        "flag for a number": ("factor", {**good, "factor": True}),
        "integers": ("weights", {**good, "weights": weights.int()}),
        "another precision": ("weights", {**good, "weights": weights.float()}),
        "another length": ("weights", {**good, "weights": weights[:-1]}),
    }


@check_core(
    "abi.extras-checked",
    faults=[
        faults.missing_numbers_count_as_one,
        faults.surplus_ignored,
        faults.tensors_converted,
        faults.error_names_nothing,
    ],
    near_misses=[faults.extras_in_another_order],
)
def extras_checked(core: Core) -> Evidence:
    given, observed, expected = particles(), {}, {}
    for case, (name, handed) in wrong_extras().items():
        with launches() as found:
            observed[case] = outcome_of(lambda handed=handed: core.run(WEIGHTED, given, **handed))
        observed[case] += ", after a launch" if found else ""
        named = rf"^\w*Error: .*\b{name}\b(?!.*after a launch)"
        expected[case] = re.compile(f"(?#an error that names {name}, no launch){named}")
    return Evidence(observed, expected)


@check_core(
    "abi.output-resolvers",
    faults=[faults.resolvers_see_no_extras, faults.literal_types_called, faults.resolvers_see_a_copy],
    near_misses=[faults.extras_in_another_order],
)
def output_resolvers(core: Core) -> Evidence:
    given, handed = particles(), extras()
    seen: dict[str, Any] = {}

    def noted(name: str, answer: Any) -> Any:
        def resolve(context: Any, extras: Any) -> Any:
            seen[name] = {
                "masses": context.query.masses is given.masses,
                "weights": extras["weights"] is handed["weights"],
                "factor": extras["factor"],
            }
            return answer

        return resolve

    class Literal(warp.vec2d):
        def __init__(self, *arguments: Any) -> None:
            seen["literal"] = "called"
            super().__init__()

    outputs = (
        (noted("type", warp.float64), noted("shape", (6,))),
        (warp.vec2d, (6, 2)),
        (warp.int32, noted("second shape", (6,))),
    )
    with attributed("run"):
        product, double, number = core.run(WEIGHTED._replace(outputs=outputs), given, **handed)
    right = {"masses": True, "weights": True, "factor": 1.5}
    return Evidence(
        {"resolvers": seen, "outputs": results(given, handed, product, double, number)},
        {"resolvers": dict.fromkeys(("type", "shape", "second shape"), right), "outputs": ["right"] * 3},
    )


def results(given: Any, handed: dict[str, Any], *outputs: torch.Tensor) -> list[str]:
    """What is to be said of the operator's outputs."""
    product, double = given.masses * handed["weights"] * handed["factor"], 2 * given.positions
    number = torch.arange(len(given.masses), dtype=torch.int32, device=given.masses.device)
    return [compared(a, b) for a, b in zip(outputs, (product, double, number), strict=True)]


@check_core(
    "abi.multi-output",
    faults=[faults.first_output_alone, faults.outputs_reversed, faults.outputs_of_one_type],
    near_misses=[faults.extras_in_another_order],
)
def multi_output(core: Core) -> Evidence:
    given, handed = particles("positions", "masses"), extras()
    handed["weights"].requires_grad_()
    with attributed("run"):
        outputs = tuple(core.run(WEIGHTED, given, **handed))
    observed = {"outputs": results(given, handed, *outputs), "differentiable": [o.requires_grad for o in outputs]}
    leaves = [given.positions, given.masses, handed["weights"]]
    with attributed("backward"):
        found = torch.autograd.grad([o.sum() for o in outputs[:2]], leaves)
    due = [torch.full_like(given.positions, 2.0), 1.5 * handed["weights"], 1.5 * given.masses]
    observed["gradients"] = [compared(a, b) for a, b in zip(found, due, strict=True)]
    return Evidence(
        observed,
        {"outputs": ["right"] * 3, "differentiable": [True, True, False], "gradients": ["right"] * 3},
    )


def as_many_as_queries(context: Any, extras: Any) -> int:
    return len(context.query.masses)


def first_three(context: Any, extras: Any) -> int:
    return int(extras["factor"])


THREADS = {"queries": (None, 6), "resolver": (first_three, 3), "resolver-of-queries": (as_many_as_queries, 6)}
"""The declaration, and how many threads there are to be."""


@check_core(
    "abi.threads",
    cases=THREADS,
    faults=[faults.a_thread_less],
    near_misses=[faults.extras_in_another_order],
)
def threads(core: Core, case: tuple[Any, int]) -> Evidence:
    resolver, due = case
    operator = Declared(
        kernel=kernels.numbered,
        reads=("query_masses",),
        outputs=((warp.float64, (due,)),),
        scalars=("factor",),
        threads=resolver,
    )
    given = particles()
    with launches() as found, attributed("run"):
        output = core.run(operator, given, factor=3.0)
    dims = [dim if isinstance(dim, int) else list(dim) for _, dim in found]
    return Evidence(
        {"threads": dims, "output": compared(output, given.masses[:due] + 10)}, {"threads": [due], "output": "right"}
    )
