"""Which pairs a search finds, beside brute force, and in which order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import attributed, refusal
from tapecheck.contracts.sphing import call_of, check_each_operator, check_operators, closeness, output_of, population
from tapecheck.faults.neighbors import pairs as faults
from tapecheck.lazy import oracles, torch
from tapecheck.subjects.sph import SEARCH, SUPPORT_MODES, WALK, Listed, Operators


def particles(positions: torch.Tensor, supports: float | torch.Tensor) -> oracles.Particles:
    """Particles at these positions, shape (n, d)."""
    ones = torch.ones(len(positions), dtype=torch.float64).to(positions)
    return oracles.Particles(positions, supports * ones, ones, torch.zeros_like(ones, dtype=torch.int32), ones)


def uniform(*shape: int, salt: int) -> torch.Tensor:
    """Numbers from 0 to 1, always the same ones, on the device that is judged."""
    generator = torch.Generator().manual_seed(salt)
    drawn = torch.rand(*shape, generator=generator, dtype=torch.float64)
    return drawn.to(population([0], salt=0).positions)


def box(dimension: int, *periodic: bool, side: float = 1.0) -> oracles.Domain:
    """A box from zero."""
    wraps = [*periodic, *[periodic[-1]] * dimension][:dimension]
    return oracles.Domain([0.0] * dimension, [side] * dimension, wraps)


def lattice(dimension: int, side: int, spacing: float) -> torch.Tensor:
    """Positions that binary numbers hold exactly."""
    steps = torch.arange(side).to(uniform(1, salt=0)) * spacing
    return torch.cartesian_prod(*[steps] * dimension).reshape(-1, dimension)


def searched(
    operators: Operators,
    query: oracles.Particles,
    reference: oracles.Particles,
    domain: oracles.Domain,
    mode: str,
    margin: float = 0.0,
) -> Listed:
    """What the search gives."""
    assert operators.search is not None
    with attributed("neighbour search"):
        return operators.search(query, reference, domain, mode, margin)


def compared(pairs: torch.Tensor, due: torch.Tensor) -> str:
    """What is to be said of pairs beside those that are due."""
    found, wanted = list(map(tuple, pairs.T.tolist())), set(map(tuple, due.T.tolist()))
    twice, missing, outside = len(found) - len(set(found)), len(wanted - set(found)), len(set(found) - wanted)
    if twice or missing or outside:
        return f"of {len(wanted)} pairs {missing} missing, {twice} twice, {outside} too many"
    return "the pairs of brute force"


def beside_brute_force(
    operators: Operators, query: oracles.Particles, reference: oracles.Particles, domain: oracles.Domain, mode: str
) -> str:
    """What is to be said of a search."""

    def said() -> str:
        due = oracles.near(query=query, reference=reference, domain=domain, support_mode=mode)
        return compared(searched(operators, query, reference, domain, mode).pairs, due)

    return refusal(said)


RIGHT_OR_REFUSED = re.compile("^the pairs of brute force|^refused")


def evidence(found: dict[str, str]) -> Evidence:
    """All are right."""
    return Evidence(found, dict.fromkeys(found, "the pairs of brute force"))


EXACT: dict[str, Callable[[], Any]] = {
    "cutoff-on-a-lattice": lambda: (*[particles(lattice(2, 8, 0.125), 0.25)] * 2, box(2, False)),
    "cutoff-on-a-periodic-lattice": lambda: (*[particles(lattice(2, 8, 0.125), 0.25)] * 2, box(2, True)),
    "in-a-line": lambda: (*[particles(lattice(1, 40, 0.125), 0.375)] * 2, box(1, False)),
    "in-space": lambda: (*[particles(uniform(80, 3, salt=1), 0.15 + 0.2 * uniform(80, salt=2))] * 2, box(3, True)),
    "one-point": lambda: (*[particles(torch.zeros_like(uniform(30, 2, salt=3)), 0.25)] * 2, box(2, True)),
    "two-cells-an-axis": lambda: (*[particles(uniform(60, 2, salt=4), 0.375)] * 2, box(2, True)),
    "one-cell-an-axis": lambda: (*[particles(uniform(60, 2, salt=5), 0.5)] * 2, box(2, True)),
    "one-axis-periodic": lambda: (*[particles(uniform(80, 2, salt=6), 0.2)] * 2, box(2, True, False)),
    "far-and-negative": lambda: (*[particles(uniform(80, 2, salt=7) - 4096.5, 0.2)] * 2, box(2, False)),
    "two-populations": lambda: (
        particles(uniform(50, 2, salt=8), 0.1 + 0.2 * uniform(50, salt=9)),
        particles(uniform(70, 2, salt=10), 0.1 + 0.2 * uniform(70, salt=11)),
        box(2, True),
    ),
}
"""Queries, references and a box."""


@check_operators(
    "neighbors.exact",
    cases=EXACT,
    needs=[SEARCH],
    faults=[faults.last_pair_missing, faults.first_pair_twice, faults.all_pairs_listed],
    near_misses=[faults.particles_copied],
)
def exact(operators: Operators, made: Callable[[], Any]) -> Evidence:
    query, reference, domain = made()
    modes = operators.knows(*SUPPORT_MODES)
    return evidence({mode: beside_brute_force(operators, query, reference, domain, mode) for mode in modes})


@check_operators(
    "neighbors.bounds",
    needs=[SEARCH],
    faults=[faults.positions_clamped_into_the_box, faults.positions_wrapped_once],
    near_misses=[faults.particles_copied],
)
def bounds(operators: Operators) -> Evidence:
    mode = operators.knows(*SUPPORT_MODES)[-1]
    spread = particles(3 * uniform(90, 2, salt=12) - 1, 0.2)
    far = particles(5 * uniform(90, 2, salt=13) - 2, 0.2)
    corners = torch.tensor([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [-1e-9, 0.5], [1.0 - 1e-12, 0.5]])
    edges = particles(torch.cat([corners.to(spread.positions), lattice(2, 5, 0.25)]), 0.3)
    situations = {
        "outside an open box": (spread, box(2, False)),
        "on the edges of an open box": (edges, box(2, False)),
        "on the edges of a periodic box": (edges, box(2, True)),
        "unwrapped": (far, box(2, True)),
    }
    return evidence(
        {name: beside_brute_force(operators, each, each, domain, mode) for name, (each, domain) in situations.items()}
    )


@check_operators(
    "neighbors.capacity",
    needs=[SEARCH],
    faults=[faults.rows_cut_off, faults.cells_of_32_bits],
    near_misses=[faults.particles_copied],
)
def capacity(operators: Operators) -> Evidence:
    mode = operators.knows(*SUPPORT_MODES)[-1]
    crowd = particles(1e-3 * uniform(300, 2, salt=14), 0.25)
    clusters = uniform(60, 3, salt=15) + 2.0**22 * torch.arange(3).to(crowd.positions).repeat_interleave(20)[:, None]
    situations = {
        "300 particles in one cell": (crowd, box(2, False)),
        "three clusters, four million cells apart on each axis": (particles(clusters, 0.75), box(3, False)),
    }
    found = {name: beside_brute_force(operators, p, p, domain, mode) for name, (p, domain) in situations.items()}
    due: dict[str, Any] = {"300 particles in one cell": "the pairs of brute force"}
    return Evidence(found, dict.fromkeys(found, RIGHT_OR_REFUSED) | due)


@check_operators(
    "neighbors.order",
    case="rows",
    needs=[SEARCH],
    faults=[faults.rows_reversed, faults.pairs_by_reference],
    near_misses=[faults.particles_copied],
)
def rows(operators: Operators) -> Evidence:
    each, domain = particles(uniform(80, 2, salt=16), 0.2), box(2, True)
    mode = operators.knows(*SUPPORT_MODES)[-1]
    first, second = (searched(operators, each, each, domain, mode).pairs for _ in range(2))
    key = first[0] * len(each.masses) + first[1]
    ascending = bool((key.diff() > 0).all())
    return Evidence(
        {"sorted": ascending, "the same twice": torch.equal(first, second)}, {"sorted": True, "the same twice": True}
    )


@check_each_operator(
    "neighbors.order",
    case="walk",
    needs=[WALK],
    faults=[faults.nobody_near_the_last_query_without_a_list],
    near_misses=[faults.particles_copied],
)
def walk(operators: Operators, operator: str) -> Evidence:
    call = call_of(operators, operator, population([0, 1, 2, 3] * 3, salt=17), population([3, 2, 1, 0] * 2, salt=18))
    listed = output_of(operators.run, call)
    without = output_of(operators.run, replace(call, pairs=None))
    said = closeness(without, listed)
    due = "as with one"
    return Evidence({"without a list": due if said.startswith("right") else said}, {"without a list": due})


SIZES: dict[str, Sequence[int]] = {"query": (0, 5), "reference": (5, 0), "both": (0, 0)}


@check_operators(
    "empty.neighbors",
    needs=[SEARCH],
    faults=[faults.largest_support_of_nobody],
    near_misses=[faults.particles_copied],
)
def empty_neighbors(operators: Operators) -> Evidence:
    mode = operators.knows(*SUPPORT_MODES)[-1]
    found = {}
    for name, (queries, references) in SIZES.items():
        query, reference = (particles(uniform(count, 2, salt=19), 0.2) for count in (queries, references))
        found[name] = tuple(searched(operators, query, reference, box(2, True), mode).pairs.shape)
    return Evidence(found, dict.fromkeys(SIZES, (2, 0)))


@check_operators(
    "neighbors.rebuild",
    needs=[SEARCH],
    faults=[faults.never_rebuilt, faults.positions_not_copied],
    near_misses=[faults.particles_copied],
)
def rebuild(operators: Operators) -> Evidence:
    mode, margin, domain = operators.knows(*SUPPORT_MODES)[-1], 0.05, box(2, True)
    start = uniform(60, 2, salt=20)
    observed: dict[str, str] = {}
    for name, step in (("a tenth of the margin", 0.1), ("a third", 0.33), ("the margin", 1.0), ("ten times", 10.0)):
        each = particles(start.clone(), 0.2)
        listed = searched(operators, each, each, domain, mode, margin)
        angle = 2 * torch.pi * uniform(60, salt=21)
        each.positions.add_(step * margin * torch.stack([angle.cos(), angle.sin()], 1))  # in place
        now = oracles.near(query=each, reference=each, domain=domain, support_mode=mode)
        complete = set(map(tuple, now.T.tolist())) <= set(map(tuple, listed.pairs.T.tolist()))
        asks = listed.must_rebuild(each, each)
        observed[f"moved by {name}"] = "good" if asks or complete else "a pair is missing, and nothing said"
    still = particles(start.clone(), 0.2)
    observed["not moved"] = (
        "asks in vain" if searched(operators, still, still, domain, mode, margin).must_rebuild(still, still) else "good"
    )
    return Evidence(observed, dict.fromkeys(observed, "good"))
