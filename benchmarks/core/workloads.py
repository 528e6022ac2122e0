"""What of the core is timed and counted: every operator in every way, small and large, and the search.

The table serves the gate, which times two trees by turns, and pytest-benchmark, which keeps a history.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from operators import OPERATORS
from particles import LEAVES, particle_tensors, state_of

import sphweft
from tapecheck.workloads import Operation, Workload

READ = {
    name: (*LEAVES, *["densities"] * operator.volumes, *["values"] * operator.field)
    for name, operator in OPERATORS.items()
}
"""What each operator reads and has a gradient for."""
SMALL, LARGE = 16, 4096


class Calls:
    """An operator called on the same tensors every time.

    Args:
        operator: its name.
        count: of particles.
        grad: whether the tensors require a gradient.
    """

    def __init__(self, operator: str, count: int, grad: bool) -> None:
        tensors = particle_tensors(count)
        self.leaves = [tensors[name].requires_grad_(grad) for name in READ[operator]]
        self.state = state_of(tensors)
        self.adjacency = sphweft.neighbor_list(self.state)
        self.operation = sphweft.Operation[operator.upper()]
        self.given = {"values": tensors["values"]} if "values" in READ[operator] else {}

    def value(self) -> torch.Tensor:
        result = sphweft.warp_operation(self.operation, self.state, self.adjacency, **self.given)
        return result[0] if isinstance(result, tuple) else result

    def gradients(self, create_graph: bool = False) -> tuple[torch.Tensor, ...]:
        value = self.value()
        return torch.autograd.grad(value, self.leaves, torch.ones_like(value), create_graph=create_graph)

    def twice(self) -> Any:
        slopes = self.gradients(create_graph=True)
        return torch.autograd.grad(slopes, self.leaves, [torch.ones_like(slope) for slope in slopes])

    def tangent(self) -> Any:
        moving = sphweft.ParticleTangents(positions=self.state.positions, supports=self.state.supports)
        return sphweft.warp_operation_jvp(
            self.operation, self.state, self.adjacency, query_tangents=moving, **self.given
        )


WAYS: dict[str, tuple[bool, Callable[[Calls], Operation]]] = {
    "value": (False, lambda calls: calls.value),
    "tangent": (False, lambda calls: calls.tangent),
    "backward": (True, lambda calls: calls.gradients),
    "twice": (True, lambda calls: calls.twice),
}
"""For each way whether it needs gradients, and what is timed; the last two with the forward pass that they need."""


def made(operator: str, count: int, way: str, device: str) -> Operation:
    """What is timed."""
    assert device == "cpu"
    grad, operation = WAYS[way]
    return operation(Calls(operator, count, grad))


def search(device: str) -> Operation:
    """The search of a large case."""
    state = Calls("density", LARGE, False).state
    return lambda: sphweft.neighbor_list(state)


def walk(device: str) -> Operation:
    """The density of a large case without a list."""
    state = Calls("density", LARGE, False).state
    return lambda: sphweft.density(state)


WORKLOADS = {
    workload.name: workload
    for workload in (
        *(
            Workload(
                name=f"{operator}-{way}-{count}",
                what=f"{operator} of {count} particles: {way}",
                make=partial(made, operator, count, way),
            )
            for operator in READ
            for way in WAYS
            for count in (SMALL, LARGE)
        ),
        Workload(name=f"search-{LARGE}", what=f"the list of {LARGE} particles", make=search),
        Workload(name=f"density-walk-{LARGE}", what=f"density of {LARGE} particles without a list", make=walk),
    )
}


def counts_of(workload: Workload, operation: Operation) -> dict[str, int]:
    """Exact figures of one call."""
    from counting import counted

    return counted(operation)
