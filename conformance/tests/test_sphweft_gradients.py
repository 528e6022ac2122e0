"""The core's gradients: checked numerically for every input, and the oracle's to 1e-12 in whatever way they are had."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from operator_rows import AXES, Row, by_the_core, by_the_oracle, exists, made
from torch.utils.checkpoint import checkpoint

import sphweft

OPERATORS = AXES["operator"]
IN_EVERY_DIMENSION = [
    (operator, dimension)
    for operator in OPERATORS
    for dimension in AXES["dimension"]
    if exists({"operator": operator, "dimension": dimension})
]


def row_of(operator: str, dimension: int, populations: str) -> Row:
    """Irregular particles in a periodic box, each with at least four neighbours, in which every input counts."""
    choices = {
        "operator": operator,
        "scheme": sphweft.GradientScheme.SYMMETRIC,
        "laplacian": sphweft.LaplacianScheme.DOT if dimension == 2 else sphweft.LaplacianScheme.NAIVE,
        "mode": sphweft.SupportMode.MEAN_KERNEL,
        "function": sphweft.SmoothingFunction.WENDLAND4,
        "dimension": dimension,
        "direction": sphweft.InteractionDirection.UNMASKED,
        "trailing": (2,),
        "populations": populations,
        "periodic": True,
        "volumes": False,
    }
    return made(choices, 70, 70)


def leaves_of(row: Row) -> tuple[Row, dict[str, torch.Tensor]]:
    """The row with leaves in the place of what its operator reads; and these."""
    leaves = {name: t.clone().requires_grad_() for name, t in zip(row.names, row.tensors, strict=True)}
    return row.holding(*leaves.values()), leaves


def gradients(run: Callable[[Row], torch.Tensor], row: Row, seed: torch.Tensor) -> dict[str, torch.Tensor]:
    own, leaves = leaves_of(row)
    return dict(zip(leaves, torch.autograd.grad(run(own), list(leaves.values()), seed), strict=True))


def seed_of(row: Row) -> torch.Tensor:
    out = by_the_oracle(row)
    return torch.rand(out.shape, generator=torch.Generator().manual_seed(3), dtype=out.dtype) - 0.5


def fewest_neighbours(row: Row) -> int:
    """How many others the loneliest query has within the mean of both supports."""
    apart = row.query.positions[:, None] - row.reference.positions[None]
    distance = (apart - torch.floor(apart + 0.5)).norm(dim=-1)
    near = distance < (row.query.supports[:, None] + row.reference.supports[None]) / 2
    return int((near & (distance > 0)).sum(1).min())


@pytest.mark.parametrize("populations", ["one", "two"])
@pytest.mark.parametrize(("operator", "dimension"), IN_EVERY_DIMENSION)
def test_gradcheck(operator: str, dimension: int, populations: str) -> None:
    row = row_of(operator, dimension, populations)
    assert fewest_neighbours(row) >= 4
    due = gradients(by_the_oracle, row, seed_of(row))
    assert min(float(gradient.abs().min()) for gradient in due.values()) > 1e-6
    leaves = tuple(leaves_of(row)[1].values())
    for _ in range(2):
        assert torch.autograd.gradcheck(lambda *tensors: by_the_core(row.holding(*tensors)), leaves)


def summed(first: torch.Tensor, second: torch.Tensor, seed: torch.Tensor) -> torch.Tensor:
    return ((first + second) * seed).sum()


Scenario = Callable[[Row, list[torch.Tensor], torch.Tensor], Any]


def called_twice(row: Row, leaves: list[torch.Tensor], seed: torch.Tensor) -> Any:
    return torch.autograd.grad(summed(by_the_core(row), by_the_core(row), seed), leaves), 2


def beside_a_branch(row: Row, leaves: list[torch.Tensor], seed: torch.Tensor) -> Any:
    return torch.autograd.grad(summed(by_the_core(row), torch.ones_like(seed, requires_grad=True), seed), leaves), 1


def behind_a_branch(row: Row, leaves: list[torch.Tensor], seed: torch.Tensor) -> Any:
    return torch.autograd.grad(summed(torch.ones_like(seed, requires_grad=True), by_the_core(row), seed), leaves), 1


def one_seed_twice(row: Row, leaves: list[torch.Tensor], seed: torch.Tensor) -> Any:
    out = by_the_core(row)
    torch.autograd.grad(out, leaves, seed, retain_graph=True)
    return torch.autograd.grad(out, leaves, seed), 1


def checkpointed(row: Row, leaves: list[torch.Tensor], seed: torch.Tensor, *, reentrant: bool) -> Any:
    out = checkpoint(lambda *tensors: by_the_core(row), *leaves, use_reentrant=reentrant)
    out.backward(seed)
    return [leaf.grad for leaf in leaves], 1


def hooked(row: Row, leaves: list[torch.Tensor], seed: torch.Tensor) -> Any:
    kept: list[list[torch.Tensor]] = [[] for _ in leaves]
    for leaf, seen in zip(leaves, kept, strict=True):
        leaf.register_hook(seen.append)
    by_the_core(row).backward(seed)
    by_the_core(row).backward(-seed)
    return [seen[0] for seen in kept], 1


def in_four_threads(row: Row, leaves: list[torch.Tensor], seed: torch.Tensor) -> Any:
    threads = [threading.Thread(target=lambda: by_the_core(row).backward(seed)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [leaf.grad for leaf in leaves], 4


SCENARIOS: dict[str, Scenario] = {
    "called-twice": called_twice,
    "beside-a-branch": beside_a_branch,
    "behind-a-branch": behind_a_branch,
    "one-seed-twice": one_seed_twice,
    "checkpointed": partial(checkpointed, reentrant=False),
    "checkpointed-reentrant": partial(checkpointed, reentrant=True),
    "hooked": hooked,
    "in-four-threads": in_four_threads,
}
"""Ways to get gradients; each gives these and how many times those of one call they are."""


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
@pytest.mark.parametrize("populations", ["one", "two"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_gradients_are_the_oracles(operator: str, populations: str, scenario: Scenario) -> None:
    row = row_of(operator, 2, populations)
    due = gradients(by_the_oracle, row, seed_of(row))
    own, leaves = leaves_of(row)
    found, times = scenario(own, list(leaves.values()), seed_of(row))
    for name, gradient in zip(leaves, found, strict=True):
        error = (gradient - times * due[name]).abs().max() / due[name].abs().max()
        assert error < 1e-12, f"{name}: off by {float(error):.1e} of the largest value"
