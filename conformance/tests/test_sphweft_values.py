"""The core's operators equal the oracle's, over a pairwise covering array of everything that shapes them."""

from __future__ import annotations

import itertools
import random

import pytest
import torch

import sphweft
from tapecheck import oracles

AXES = {
    "operator": ["density", "interpolate", "gradient"],
    "scheme": list(sphweft.GradientScheme),
    "mode": list(sphweft.SupportMode),
    "function": list(sphweft.SmoothingFunction),
    "dimension": [1, 2, 3],
    "direction": list(sphweft.InteractionDirection),
    "rank": [0, 1, 2],
    "populations": ["one", "two"],
    "periodic": [False, True],
    "volumes": [False, True],
}


def covering() -> list[dict]:
    """Rows in which every pair of values of any two axes occurs, found greedily from a fixed seed."""
    names = list(AXES)
    missing = {((a, x), (b, y)) for a, b in itertools.combinations(names, 2) for x in AXES[a] for y in AXES[b]}
    draw, rows = random.Random(0), []
    while missing:
        (a, x), (b, y) = min(missing, key=str)
        best: tuple[int, dict] = (-1, {})
        for _ in range(40):
            row = {name: draw.choice(values) for name, values in AXES.items()} | {a: x, b: y}
            covered = sum(pair in missing for pair in itertools.combinations(row.items(), 2))
            best = max(best, (covered, row), key=lambda entry: entry[0])
        missing -= set(itertools.combinations(best[1].items(), 2))
        rows.append(best[1])
    return rows


def uniform(generator: torch.Generator, *shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=generator, dtype=torch.float64)


def population(generator: torch.Generator, count: int, dimension: int) -> tuple[torch.Tensor, ...]:
    kinds = torch.randint(0, 4, (count,), generator=generator, dtype=torch.int32)
    spread = 3 * uniform(generator, count, dimension) - 1  # out of the box as well, where it is periodic
    supports, masses = 0.3 + 0.15 * uniform(generator, count), 0.5 + uniform(generator, count)
    return spread, supports, masses, kinds, 1 + uniform(generator, count)


def name_of(row: dict) -> str:
    return "-".join(getattr(value, "name", str(value)).lower() for value in row.values())


@pytest.mark.parametrize("row", covering(), ids=name_of)
def test_forward_equals_the_oracle(row: dict) -> None:
    generator = torch.Generator().manual_seed(7)
    dimension, symmetric = row["dimension"], row["scheme"] == sphweft.GradientScheme.SYMMETRIC
    query = population(generator, 14, dimension)
    reference = query if row["populations"] == "one" else population(generator, 11, dimension)
    trailing = (2, 3)[: row["rank"]]
    field = uniform(generator, len(reference[0]), *trailing) - 0.5
    query_field = field if row["populations"] == "one" else uniform(generator, len(query[0]), *trailing) - 0.5
    box = ([0.0] * dimension, [1.0] * dimension, [row["periodic"]] * dimension)
    takes_volumes = row["operator"] == "interpolate" or (row["operator"] == "gradient" and not symmetric)
    volumes = 0.1 + uniform(generator, len(reference[0])) if row["volumes"] and takes_volumes else None

    everything = torch.ones(len(query[0]), len(reference[0])).nonzero().T
    adjacency = sphweft.AdjacencyList.from_pairs(*everything, len(query[0]), len(reference[0]))
    options = {
        "domain": sphweft.DomainDescription(*box),
        "reference": None if reference is query else sphweft.ParticleState(*reference),
        "properties": sphweft.OperationProperties(row["function"], row["mode"], row["scheme"], row["direction"]),
    }
    if row["operator"] != "density":
        options["values"] = field
        options["corrections"] = sphweft.Corrections(reference_volumes=volumes)
    if row["operator"] == "gradient":
        options["query_values"] = query_field
    found = sphweft.warp_operation(
        sphweft.Operation[row["operator"].upper()], sphweft.ParticleState(*query), adjacency, **options
    )

    def judged(amount: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
        common = {
            "query": oracles.Particles(*query),
            "reference": oracles.Particles(*reference),
            "domain": oracles.Domain(*box),
            "rules": oracles.Rules(
                function=row["function"].name.lower(),
                support_mode=row["mode"].name.lower(),
                direction=row["direction"].name.lower(),
            ),
        }
        if row["operator"] == "density":
            return oracles.density(**common)
        if row["operator"] == "interpolate":
            return oracles.interpolate(**common, reference_field=amount, volumes=volumes)
        scheme = row["scheme"].name.lower()
        return oracles.gradient(**common, scheme=scheme, reference_field=amount, query_field=own, volumes=volumes)

    expected = judged(field, query_field)
    assert found.shape == expected.shape
    scale = 20 * (1 + expected.abs().max())  # of the largest value, with room for sums that cancel
    torch.testing.assert_close(found, expected, rtol=0, atol=float(1e-13 * scale))
