"""The two forms of a call: the flat layout, the positional state, what enters the autograd Function."""

import re
from collections.abc import Callable
from typing import Any

from tapecheck.contract import Evidence, outcome_of
from tapecheck.contracts.coring import (
    FLOATS,
    called,
    check_core,
    compared,
    duals_of,
    due,
    equal,
    judged,
    particles,
    pulled_back,
)
from tapecheck.contracts.probing import RIGHT_OR_REFUSED, attributed, refusal
from tapecheck.faults.abi import calls as faults
from tapecheck.lazy import torch
from tapecheck.subjects.core import Core, Density, Particles

LAYOUT = (
    *("qPos", "rPos", "qSup", "rSup", "qMas", "rMas", "qDen", "rDen", "qK", "rK", "renormMat", "qOmega", "rOmega"),
    *("qVol", "rVol", "qcrk_A", "qcrk_B", "qcrk_gradA", "qcrk_gradB", "rcrk_A", "rcrk_B", "rcrk_gradA", "rcrk_gradB"),
    *("adj_neighborList", "adj_neighborOffsets", "adj_numNeighbors"),
    *("grid_sortIndex", "grid_qMin", "grid_qMax", "grid_numCells", "grid_hashTable", "grid_cellTable"),
    *("grid_cellOffsets", "domainMin", "domainMax", "periodicity"),
)
PARTICLES = {"Pos": "positions", "Sup": "supports", "Mas": "masses", "Den": "densities", "K": "kinds"}


def expected_entry(slot: str, references: str) -> str:
    """What is due at a place of a call without box, corrections and grid."""
    side, name = {"q": "query", "r": references}.get(slot[0], ""), PARTICLES.get(slot[1:])
    return f"{side}.{name}" if name else "a tensor" if slot.startswith("adj_") else "placeholder"


@check_core(
    "abi.layout",
    cases={"one-population": False, "two-populations": True},
    faults=[faults.two_places_swapped, faults.reference_side_copied, faults.nothing_for_placeholders],
    near_misses=[faults.layout_as_a_tuple],
)
def layout(core: Core, two: bool) -> Evidence:
    query, reference = particles(), particles(salt=2, count=5)
    with attributed("layout"):
        entries = core.layout(query, reference if two else None)
    sides = {"query": query, "reference": reference}
    known = {id(t): f"{side}.{name}" for side, made in sides.items() for name, t in vars(made).items()}

    def described(entry: Any) -> str:
        if core.is_placeholder(entry):
            return "placeholder"
        return known.get(id(entry), "a tensor" if isinstance(entry, torch.Tensor) else type(entry).__name__)

    return Evidence(
        {"places": core.slots, "entries": [described(entry) for entry in entries]},
        {"places": LAYOUT, "entries": [expected_entry(slot, "reference" if two else "query") for slot in LAYOUT]},
    )


PLACES = 10


@check_core(
    "abi.positional-state",
    faults=[faults.places_filled_up, faults.state_without_places_for_what_is_absent],
    near_misses=[faults.state_as_a_tuple],
)
def positional_state(core: Core) -> Evidence:
    given = particles(*FLOATS)
    with attributed("positional state"):
        state = core.positional_state(given)
    observed = {
        "places": len(state),
        "absent": sum(entry is None for entry in state),
        "density": compared(core.run_positional(state, ()), due(given)),
        "one too few": outcome_of(lambda: core.run_positional(state[:-1], ())),
        "one too many": outcome_of(lambda: core.run_positional([*state, None], ())),
    }
    refused = re.compile(rf"^\w*Error: state.*{PLACES} places")
    return Evidence(
        observed,
        {"places": PLACES, "absent": PLACES - 3, "density": "right", "one too few": refused, "one too many": refused},
    )


@check_core(
    "abi.same-engine",
    faults=[faults.positional_call_rounds_otherwise, faults.positional_gradient_rounds_otherwise],
    near_misses=[faults.particles_copied],
)
def same_engine(core: Core) -> Evidence:
    found = {}
    for form, density in (("declared", core.density), ("positional", core.positional)):
        given = particles(*FLOATS)
        output = called(density, given)
        found[form] = output, pulled_back(output, given)
    values, gradients = zip(*found.values(), strict=True)
    return Evidence(
        {"values": equal(values[:1], values[1:]), "gradients": equal(*gradients)},
        {"values": "equal", "gradients": "equal"},
    )


LEADING = 6


def tensors_of(core: Core, given: Particles, call: Callable[[], Any]) -> list[str]:
    """Names of the particles' tensors that enter the autograd Function in a call, in order."""
    names = {id(tensor): name for name, tensor in vars(given).items()}
    with core.entering() as found:
        call()
    return [names.get(id(a), "another tensor") for call in found for a in call if isinstance(a, torch.Tensor)]


@check_core(
    "abi.apply-signature",
    faults=[
        faults.five_leading_arguments,
        faults.structs_among_tensors,
        faults.gradients_from_the_start,
        faults.everything_answered,
    ],
    near_misses=[faults.particles_copied],
)
def apply_signature(core: Core) -> Evidence:
    given = particles(*FLOATS)
    with core.entering() as calls, core.leaving() as answers:
        pulled_back(called(core.density, given), given)
    (arguments,), (answer,) = calls, answers
    kinds = ["tensor" if isinstance(argument, torch.Tensor) else "no tensor" for argument in arguments]
    tensors = len(arguments) - LEADING
    given_back = ["none" if gradient is None else "gradient" for gradient in answer]
    owners = {id(a) for a in arguments[LEADING:]}
    return Evidence(
        {
            "leading": kinds[:LEADING],
            "then": kinds[LEADING:],
            "answers to the leading": given_back[:LEADING],
            "answers": len(answer),
            "gradients": given_back.count("gradient"),
        },
        {
            "leading": ["no tensor"] * LEADING,
            "then": ["tensor"] * tensors,
            "answers to the leading": ["none"] * LEADING,
            "answers": LEADING + tensors,
            "gradients": len(owners),
        },
    )


@check_core("abi.forward-mode-rejected", faults=[faults.every_mode_taken], near_misses=[faults.contexts_made_twice])
def forward_mode_rejected(core: Core) -> Evidence:
    observed = {mode: outcome_of(lambda mode=mode: core.in_mode(mode)) for mode in ("AUTO", "FORWARD")}
    return Evidence(observed, {"AUTO": "no error", "FORWARD": re.compile(r"^\w*Error: .*mode.*FORWARD")})


@check_core("abi.kinds-required", faults=[faults.kinds_guessed], near_misses=[faults.states_made_in_another_order])
def kinds_required(core: Core) -> Evidence:
    tensors = dict(vars(particles()))
    kinds = tensors.pop("kinds")
    observed = {
        "left out": outcome_of(lambda: core.state(**tensors)),
        "None": outcome_of(lambda: core.state(**tensors, kinds=None)),
        "given": outcome_of(lambda: core.state(**tensors, kinds=kinds)),
    }
    refused = re.compile(r"^\w*Error: .*kinds")
    return Evidence(observed, {"left out": refused, "None": refused, "given": "no error"})


ROLES = {"positions": 2, "supports": 1, "masses": 1}
"""How many places of a density's call a tensor of one population takes."""


def entered(core: Core, density: Density, *differentiable: str) -> dict[str, Any]:
    """What enters the autograd Function where these tensors require a gradient, and whether results are right."""
    given = particles(*differentiable)
    names = tensors_of(core, given, lambda: called(density, given))
    return {"entered": {name: names.count(name) for name in dict.fromkeys(names)}, "density": judged(density, given)}


def to_enter(*differentiable: str) -> dict[str, Any]:
    """What should."""
    return {"entered": {name: ROLES[name] for name in differentiable}, "density": "right"}


@check_core(
    "abi.inert-pruning",
    faults=[faults.every_tensor_enters, faults.no_tensor_enters],
    near_misses=[faults.particles_copied],
)
def inert_pruning(core: Core) -> Evidence:
    sets = {"nothing": (), **{name: (name,) for name in FLOATS}, "everything": FLOATS}
    return Evidence(
        {name: entered(core, core.density, *differentiable) for name, differentiable in sets.items()},
        {name: to_enter(*differentiable) for name, differentiable in sets.items()},
    )


PLACES_READ = {"positions": ("qPos", "rPos"), "supports": ("qSup",), "masses": ("rMas",)}
"""Places of the flat layout that a density's kernel reads, by tensor."""


@check_core(
    "abi.pruning-reexpands",
    faults=[faults.tangents_without_gaps, faults.tangents_of_everything],
    near_misses=[faults.particles_copied],
)
def pruning_reexpands(core: Core) -> Evidence:
    found = {", ".join(varying): by_place(core, *varying) for varying in (*((name,) for name in FLOATS), FLOATS)}
    return Evidence(
        {name: observed for name, (observed, _) in found.items()},
        {name: wanted for name, (_, wanted) in found.items()},
    )


def by_place(core: Core, *varying: str) -> tuple[dict[str, str], dict[str, str]]:
    """What a tangent kernel is handed at each place where these tensors vary, and what it should be."""
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        given, along = duals_of(particles(), *varying)
        with core.pushing() as launches:
            found = forward_ad.unpack_dual(called(core.density, given)).tangent
        wanted = forward_ad.unpack_dual(due(given)).tangent
    seen = {place: tangent for launch in launches for place, _, tangent in launch}
    observed = {"derivative": "no tangent" if found is None else compared(found, wanted)}
    expected = {"derivative": "right"}
    for name, places in PLACES_READ.items():
        for place in places:
            tangent = seen.get(place)
            same = tangent is not None and name in along and torch.equal(tangent, along[name])
            observed[place] = "none" if tangent is None else "its tangent" if same else "another"
            expected[place] = "its tangent" if name in along else "none"
    return observed, expected


FLAGS = (("masses",), ("positions",), (), ("masses", "positions"))
"""What requires a gradient, call after call, of the same tensors."""


@check_core("abi.pruning-per-call", faults=[faults.pruned_as_at_first], near_misses=[faults.particles_copied])
def pruning_per_call(core: Core) -> Evidence:
    given = particles("masses")
    observed = []
    for flags in FLAGS:
        for name in FLOATS:
            getattr(given, name).requires_grad_(name in flags)
        names = tensors_of(core, given, lambda: called(core.density, given))
        observed.append([sorted(set(names)), judged(core.density, given)])
    return Evidence(observed, [[sorted(flags), "right"] for flags in FLAGS])


def by_transform(density: Density, given: Particles, *names: str) -> torch.Tensor:
    """Σ ρ², differentiated by one tensor inside and another outside."""

    def total(inner: torch.Tensor, outer: torch.Tensor) -> torch.Tensor:
        tensors = {**vars(given), names[0]: inner, names[-1]: outer if len(names) > 1 else inner}
        return density(type(given)(**tensors)).square().sum()

    inner, outer = (getattr(given, name) for name in (names[0], names[-1]))
    slope: Callable[..., torch.Tensor] = torch.func.grad(total)
    if len(names) == 1:
        return slope(inner, outer)
    found: torch.Tensor = torch.func.grad(lambda o: slope(inner, o).square().sum())(outer)
    return found


NESTS = {
    "grad-of-positions": ("positions",),
    "grad-of-masses": ("masses",),
    "positions-inside-masses": ("positions", "masses"),
    "masses-inside-positions": ("masses", "positions"),
}
"""What is differentiated by, from the inside out."""


@check_core(
    "abi.pruning-transforms",
    cases=NESTS,
    faults=[faults.detached_under_transforms],
    near_misses=[faults.particles_copied],
)
def pruning_transforms(core: Core, names: tuple[str, ...]) -> Evidence:
    given = particles()
    wanted = by_transform(due, given, *names)
    verdict = refusal(lambda: compared(by_transform(core.density, given, *names), wanted))
    return Evidence({"derivative": verdict}, {"derivative": RIGHT_OR_REFUSED})
