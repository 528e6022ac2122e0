"""Particles for the tests: irregular, each with several neighbours."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from brute_force import near

import sphweft


class Case(NamedTuple):
    """One population, and a call of the gradient on its tensors."""

    tensors: tuple[torch.Tensor, ...]
    kinds: torch.Tensor
    adjacency: sphweft.AdjacencyList

    def gradient(self, *tensors: torch.Tensor) -> torch.Tensor:
        positions, supports, masses, densities, values = tensors
        state = sphweft.ParticleState(positions, supports, masses, self.kinds, densities)
        return sphweft.gradient(state, values, self.adjacency)

    def leaves(self) -> list[torch.Tensor]:
        return [tensor.clone().requires_grad_() for tensor in self.tensors]


@pytest.fixture
def make_case() -> Callable[..., Case]:
    def make(count: int = 12, dimension: int = 2, dtype: torch.dtype = torch.float64, seed: int = 0) -> Case:
        generator = torch.Generator().manual_seed(seed)

        def uniform(*shape: int) -> torch.Tensor:
            return torch.rand(*shape, generator=generator, dtype=torch.float64).to(dtype)

        positions, supports = uniform(count, dimension), 0.5 + 0.1 * uniform(count)
        tensors = (positions, supports, 0.5 + uniform(count), 1 + uniform(count), uniform(count, 3) - 0.5)
        return Case(tensors, torch.zeros(count, dtype=torch.int32), near(positions, supports))

    return make


@pytest.fixture
def case(make_case: Callable[..., Case]) -> Case:
    return make_case()
