"""How the checks of SPH implementations see them: particles, results with gradients, and whether these are right."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import warp

from tapecheck.contract import Evidence, check
from tapecheck.contracts.probing import attributed, evidence_of, how_wrong
from tapecheck.lazy import oracles, torch
from tapecheck.subjects.sph import FUNCTIONS, OPERATORS, SCHEMES_OF, SUPPORT_MODES, Call, Operators, Run

SIDE = 4.0
FIELD: dict[str, tuple[int, ...]] = {"interpolate": (2, 3), **dict.fromkeys(SCHEMES_OF, (2,))}
"""Trailing axes of an operator's field: one choice each, since some implementations compile for each."""
TOLERANCE = 1e-12
"""Of the sum of a number's terms, each taken absolutely."""
STEP = 2.0**-20
"""How far at most factors are moved, relative to themselves, to see how large the terms are."""


def check_operators(identifier: str, **options: Any) -> Callable[[Callable[..., Evidence]], Callable[..., Evidence]]:
    """Registers `(operators, …) -> Evidence` as a check of an SPH implementation; options as for `check`."""

    def register(function: Callable[..., Evidence]) -> Callable[..., Evidence]:
        @functools.wraps(function)
        def judged(subject: Any, *arguments: Any) -> Evidence:
            return evidence_of(function, subject.operators, *arguments)

        check(identifier, **options)(judged)
        return function

    return register


def check_each_operator(
    identifier: str, **options: Any
) -> Callable[[Callable[..., Evidence]], Callable[..., Evidence]]:
    """The same for `(operators, operator, …) -> Evidence`, which is asked about every operator that there is."""

    def register(function: Callable[..., Evidence]) -> Callable[..., Evidence]:
        @functools.wraps(function)
        def each(operators: Operators, *arguments: Any) -> Evidence:
            known = operators.knows(*OPERATORS)
            found = {operator: evidence_of(function, operators, operator, *arguments) for operator in known}
            return Evidence(
                {operator: evidence.observed for operator, evidence in found.items()},
                {operator: evidence.expected for operator, evidence in found.items()},
            )

        check_operators(identifier, **options)(each)
        return function

    return register


def population(kinds: Sequence[int], *, salt: int, spread: float = 3.0) -> oracles.Particles:
    """Irregular particles of these kinds, on the device that is judged, within a square around a corner of the box."""
    count, draw = len(kinds), _draw(salt)
    return oracles.Particles(
        positions=spread * (draw(count, 2) - 0.5),
        supports=1.6 + 0.3 * draw(count),
        masses=0.5 + draw(count),
        kinds=torch.tensor(list(kinds), dtype=torch.int32).to(_device()),
        densities=1.0 + draw(count),
    )


def _device() -> Any:
    return warp.device_to_torch(warp.get_device())


def _draw(salt: int) -> Callable[..., torch.Tensor]:
    generator = torch.Generator().manual_seed(salt)
    return lambda *shape: torch.rand(*shape, generator=generator, dtype=torch.float64).to(_device())


def call_of(
    operators: Operators,
    operator: str,
    query: oracles.Particles,
    reference: oracles.Particles,
    direction: str = "",
    field: tuple[int, ...] | None = None,
) -> Call:
    """A call in a periodic box, every pair listed, with the first words that the implementation knows.

    `field` are the trailing axes of fields; left out, those of `FIELD`.
    """
    field = FIELD.get(operator) if field is None else field
    function, support_mode, everybody = (
        operators.knows(*words)[0] for words in (FUNCTIONS, SUPPORT_MODES, ("all_to_all", "unmasked"))
    )
    schemes = operators.knows(*SCHEMES_OF.get(operator, ()))
    draw, counts = _draw(99), (len(query.masses), len(reference.masses))
    fields = [None if field is None else draw(count, *field) - 0.5 for count in counts]
    return Call(
        operator=operator,
        query=query,
        reference=reference,
        domain=oracles.Domain([0.0, 0.0], [SIDE, SIDE], [True, True]),
        rules=oracles.Rules(function, support_mode, direction or everybody),
        pairs=every_pair(*counts),
        scheme=schemes[0] if schemes else "",
        query_field=fields[0] if schemes else None,
        reference_field=fields[1],
    )


def every_pair(queries: int, references: int) -> torch.Tensor:
    """All of them."""
    return torch.ones(queries, references, device=_device()).nonzero().T


def with_leaves(
    call: Call, copy: Callable[[torch.Tensor], torch.Tensor] = lambda tensor: tensor.clone()
) -> tuple[Call, dict[str, torch.Tensor]]:
    """The call on tensors of its own; and those of them that require a gradient."""
    own = {name: copy(tensor.detach()) for name, tensor in call.tensors.items()}
    leaves = {name: tensor.requires_grad_() for name, tensor in own.items() if tensor.is_floating_point()}
    return call.replacing(own), leaves


def output_of(run: Run, call: Call) -> torch.Tensor:
    """The result."""
    with attributed(call.operator):
        return run(call)


def pulled_back(output: torch.Tensor, leaves: dict[str, torch.Tensor], seed: torch.Tensor) -> dict[str, torch.Tensor]:
    """Gradients by name, zero for a leaf that is not read."""
    with attributed("backward"):
        found = torch.autograd.grad(output, list(leaves.values()), seed, allow_unused=True, materialize_grads=True)
    return dict(zip(leaves, found, strict=True))


def results(run: Run, call: Call) -> dict[str, torch.Tensor]:
    """The value of a call, and its gradients by name, for seeds that are always the same in the same row."""
    call, leaves = with_leaves(call)
    output = output_of(run, call)
    return {"value": output.detach()} | pulled_back(output, leaves, seed_of(output))


def directions_of(call: Call) -> dict[str, torch.Tensor]:
    """A direction for each floating tensor, by name, always the same ones."""
    named = enumerate(call.tensors.items())
    return {name: _draw(50 + at)(*tensor.shape) - 0.5 for at, (name, tensor) in named if tensor.is_floating_point()}


def tangent_along(run: Run, call: Call, along: Mapping[str, torch.Tensor]) -> torch.Tensor | None:
    """The tangent of a call along directions of some of its tensors."""
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        duals = {name: forward_ad.make_dual(call.tensors[name].detach().clone(), v) for name, v in along.items()}
        tangent: torch.Tensor | None = forward_ad.unpack_dual(output_of(run, call.replacing(duals))).tangent
        return tangent


def tangent_of(run: Run, call: Call, kept: torch.Tensor | None = None) -> torch.Tensor | None:
    """The tangent of a call in two populations along all directions; the references that are `kept` have a mass."""
    along = directions_of(call)
    if kept is not None:
        call = call.replacing({"reference.masses": call.reference.masses * kept})
        along["reference.masses"] = along["reference.masses"] * kept
    return tangent_along(run, call, along)


def seed_of(output: torch.Tensor) -> torch.Tensor:
    """A seed for a result."""
    return _draw(7)(*output.shape) - 0.5


def narrowed(call: Call, query: torch.Tensor, reference: torch.Tensor) -> Call:
    """The call of these rows alone, in which nothing is masked."""
    rows = {"query": query, "reference": reference}
    kept = {name: tensor[rows[side_of(name)]] for name, tensor in call.tensors.items()}
    smaller = replace(call.replacing(kept), rules=replace(call.rules, direction="unmasked"))
    return replace(smaller, pairs=every_pair(len(query), len(reference)))


def side_of(name: str) -> str:
    """The population to which a tensor or a result belongs."""
    return "reference" if name.startswith("reference") else "query"


def compared(observed: dict[str, torch.Tensor], call: Call, query: Any, reference: Any) -> dict[str, str]:
    """What is to be said of results, where these rows interact without a mask, and all others have and give nothing.

    Right is what differs from plain torch by no more than `TOLERANCE` times its size and its terms' sizes,
    in whose place stands how far it moves as all factors move by chance (terms cancel within a pair, too).
    """
    from tapecheck.subjects.oracle import run

    rows = {"query": query.nonzero()[:, 0], "reference": reference.nonzero()[:, 0]}
    part = narrowed(call, rows["query"], rows["reference"])
    factors = [name for name in part.tensors if not name.endswith(("positions", "supports", "kinds"))]
    seed = seed_of(observed["value"])[rows["query"]]

    def plain(factor: Callable[[torch.Tensor], torch.Tensor]) -> dict[str, torch.Tensor]:
        own, leaves = with_leaves(part.replacing({name: factor(part.tensors[name]) for name in factors}))
        output = run(own)
        return {"value": output.detach()} | pulled_back(output, leaves, factor(seed))

    due = plain(lambda given: given)
    draws = [_draw(salt) for salt in range(3)]
    moved = [plain(lambda given, draw=draw: given * (1 + STEP * (2 * draw(*given.shape) - 1))) for draw in draws]
    found = {}
    for name, value in due.items():
        terms = value.abs() + sum((each[name] - value).abs() / STEP for each in moved)
        count = len(query if side_of(name) == "query" else reference)
        spread = [
            value.new_zeros(count, *value.shape[1:]).index_copy(0, rows[side_of(name)], part) for part in (value, terms)
        ]
        found[name] = exactness(observed[name], *spread)
    return found


def compared_forward(tangent: torch.Tensor | None, call: Call, query: Any, reference: Any) -> str:
    """What is to be said of a tangent, where these rows interact without a mask, and all others have none."""
    from tapecheck.subjects.oracle import run

    whole = tangent_of(run, replace(call, rules=replace(call.rules, direction="unmasked")), reference)
    assert whole is not None
    return closeness(tangent, torch.where(query.reshape(-1, *[1] * (whole.dim() - 1)), whole, 0.0))


def closeness(tangent: torch.Tensor | None, due: torch.Tensor) -> str:
    """`right to …` of the largest number, or in what way a tangent is wrong."""
    if tangent is None:
        return "no tangent"
    if tangent.shape != due.shape:
        return f"of shape {tuple(tangent.shape)}, where {tuple(due.shape)} is due"
    error, largest = float((tangent - due).abs().max()), float(due.abs().max())
    return f"right to {error / largest:.0e}" if error <= 1e-11 * largest else how_wrong(tangent.cpu(), due.cpu())


def exactness(observed: torch.Tensor, due: torch.Tensor, terms: torch.Tensor) -> str:
    """`right to …`, or in what way a tensor is wrong; `terms` are the sums of the absolute terms of each number."""
    if observed.shape != due.shape:
        return f"of shape {tuple(observed.shape)}, where {tuple(due.shape)} is due"
    if not observed.isfinite().all():
        return "not finite"
    error = (observed - due).abs()
    if not error.numel():
        return "right to 0e+00"
    if (error <= TOLERANCE * terms).all():
        return f"right to {float((error / torch.where(terms == 0, 1.0, terms)).max()):.0e}"
    return how_wrong(observed.cpu(), due.cpu())
