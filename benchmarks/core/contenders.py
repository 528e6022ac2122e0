"""The same sums by other means: plain torch, a Warp kernel made for them alone, `warpsphcore` where it is installed.

A contender takes a case and gives functions without arguments, one a way in which it can do it: the sum with or without
a gradient in prospect, the gradient of its total with respect to positions, supports and masses, the derivative of that
gradient, the tangent of the sum along positions and supports.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
import warp as wp
from operators import ENTRIES, Operator, pair_kernel, pair_sum
from particles import FIELDS, LEAVES, Tensors, adjacency_of, pairs_of, particle_tensors, state_of
from torch.autograd import forward_ad

import sphweft
from sphweft.runtime import silence

NO_GRADIENT, TANGENT, JVP, FORWARD = "no gradient", "value + tangent", "tangent alone", "forward"
BACKWARD, TWICE = "forward + backward", "forward + backward twice"

Ways = dict[str, Callable[[], Any]]


class Case(NamedTuple):
    """An operator on particles that require a gradient or do not, in no order or by cell."""

    operator: Operator
    count: int
    tensors: Tensors
    grad: bool
    by_cell: bool = False

    @property
    def leaves(self) -> list[torch.Tensor]:
        return [self.tensors[name] for name in LEAVES]


def ways(case: Case, prepare: Callable[[Tensors], Callable[[], torch.Tensor]], without: tuple[str, ...] = ()) -> Ways:
    """All ways but some of a sum that torch differentiates; `prepare` makes a call from tensors."""
    call = prepare(case.tensors)

    def both(create_graph: bool = False) -> Any:
        return torch.autograd.grad(call().sum(), case.leaves, create_graph=create_graph)

    def again() -> Any:
        total = sum(gradient.square().sum() for gradient in both(create_graph=True))
        return torch.autograd.grad(total, case.leaves)

    def tangent() -> Any:
        with forward_ad.dual_level():
            names = ("positions", "supports")  # one tensor in both roles; for masses `warpsphcore` refuses that
            duals = {name: forward_ad.make_dual(case.tensors[name], case.tensors[name]) for name in names}
            return forward_ad.unpack_dual(prepare({**case.tensors, **duals})()).tangent

    every = {FORWARD: call, BACKWARD: both, TWICE: again} if case.grad else {NO_GRADIENT: call, TANGENT: tangent}
    return {way: call for way, call in every.items() if way not in without}


def ours(case: Case) -> Ways:
    """The operators of this repository."""
    adjacency, properties = adjacency_of(case.count, case.by_cell), sphweft.OperationProperties()
    operator, function = case.operator, getattr(sphweft, case.operator.name)

    def prepare(tensors: Tensors) -> Callable[[], torch.Tensor]:
        state, values = state_of(tensors), tensors["values"]
        if operator.field:
            return lambda: function(state, values, adjacency, properties=properties)
        if operator.name == "covariance":  # beside the number of pairs
            return lambda: function(state, adjacency, properties=properties)[0]
        return lambda: function(state, adjacency, properties=properties)

    def jvp() -> torch.Tensor:
        state = state_of(case.tensors)
        moving = sphweft.ParticleTangents(positions=state.positions, supports=state.supports)
        field = {"values": case.tensors["values"]} if operator.field else {}
        operation = sphweft.Operation[operator.name.upper()]
        return sphweft.warp_operation_jvp(operation, state, adjacency, query_tangents=moving, **field)

    return {**ways(case, prepare), **({} if case.grad else {JVP: jvp})}


def plain_torch(case: Case) -> Ways:
    """Gathered pairs and `index_add`; its derivatives of derivatives are long, and nothing is held against them."""
    pairs = pairs_of(case.count)
    return ways(case, lambda tensors: partial(pair_sum, case.operator, tensors, pairs), without=(TANGENT, TWICE))


def hand_written(case: Case) -> Ways:
    """A kernel that can do this and nothing else, launched on arrays made once; its adjoint is what Warp derives."""
    with silence():
        wp.init()
    kernel, entry = pair_kernel(case.operator), ENTRIES[case.operator.entry]
    vectors, adjacency = {"positions": wp.vec3, "values": wp.vec3}, adjacency_of(case.count)

    def array(name: str) -> wp.array:
        grad = case.grad and name in LEAVES
        return wp.from_torch(case.tensors[name].detach(), dtype=vectors.get(name, wp.float32), requires_grad=grad)

    inputs = [array(name) for name in (*LEAVES, "densities", "values")]
    inputs += [wp.from_torch(getattr(adjacency, name)) for name in ("offsets", "counts", "neighbors")]
    gradients = [each.grad for each in inputs]
    out = wp.zeros(case.count, dtype=entry, requires_grad=case.grad)
    seed = wp.from_torch(torch.ones(case.count, *case.operator.entry), dtype=entry)
    launch = partial(wp.launch, kernel, case.count, inputs, [out], device="cpu", record_tape=False)

    def forward() -> torch.Tensor:
        launch()
        return wp.to_torch(out)

    def both() -> list[torch.Tensor]:
        launch()
        for gradient in gradients[: len(LEAVES)]:
            gradient.zero_()
        launch(adj_inputs=gradients, adj_outputs=[seed], adjoint=True)
        return [wp.to_torch(gradient) for gradient in gradients[: len(LEAVES)]]

    with silence():
        forward()
    return {FORWARD: forward, BACKWARD: both} if case.grad else {NO_GRADIENT: forward}


def warpsphcore(case: Case) -> Ways:
    """The published package, as it comes; in no way where it is not installed. Its gradients have none."""
    try:
        peer: Any = importlib.import_module("warpSPHCore")
    except ImportError:
        return {}
    with silence():
        wp.init()
    domain = peer.DomainDescription(torch.zeros(3), torch.ones(3), torch.zeros(3, dtype=torch.bool), 3)
    properties = peer.OperationProperties(
        kernel=peer.KernelFunctions.Wendland4,
        operation=peer.WarpOperation[case.operator.name.capitalize()],
        gradientMode=peer.GradientScheme.Difference,
        laplacianMode=peer.LaplacianScheme.Brookshaw,
        supportMode=peer.SupportScheme.Gather,
        operationMode=peer.OperationDirection.AllToAll,
    )

    def state_of(tensors: Tensors) -> Any:
        return peer.ParticleState(*(tensors[name] for name in FIELDS))

    with torch.no_grad():
        adjacency = peer.radiusSearchCompactHashMap(state_of(case.tensors), domain)

    def prepare(tensors: Tensors) -> Callable[[], torch.Tensor]:
        state, fields = state_of(tensors), {"queryValues": tensors["values"], "referenceValues": tensors["values"]}
        given = fields if case.operator.field else {}
        return lambda: peer.warpOperation(state, properties, domain, adjacency=adjacency, **given)

    refused = (TANGENT,) if case.operator.name in ("gradient", "curl") else ()  # of vector fields, in three dimensions
    return ways(case, prepare, without=(TWICE, *refused))


CONTENDERS: dict[str, Callable[[Case], Ways]] = {
    "sphweft": ours,
    "plain torch": plain_torch,
    "hand-written kernel": hand_written,
    "warpsphcore": warpsphcore,
}


def all_ways(operator: Operator, count: int) -> dict[tuple[str, str], Callable[[], Any]]:
    """Every way in which a contender can do an operator, by the way and the contender."""
    cases = [Case(operator, count, particle_tensors(count, grad=grad), grad) for grad in (False, True)]
    return {
        (way, name): call
        for case in cases
        for name, contender in CONTENDERS.items()
        for way, call in contender(case).items()
    }


def check(operator: Operator) -> None:
    """Raises an AssertionError unless all contenders give the same, value, gradients and tangents."""
    found = all_ways(operator, 16)
    for (way, name), call in found.items():
        value, expected = call(), found[way, "sphweft"]()
        if name == "warpsphcore" and operator.name == "gradient" and way in (NO_GRADIENT, FORWARD):
            value = value.mT  # its derivative axis is the first one
        value, expected = flat(value), flat(expected)
        error, size = float((value - expected).abs().max()), float(expected.abs().max())
        assert error <= 1e-4 * size, f"{operator.name}, {way}: {name} differs by {error:g}, of {size:g}"


def flat(values: torch.Tensor | Sequence[torch.Tensor]) -> torch.Tensor:
    every = (values,) if isinstance(values, torch.Tensor) else values
    return torch.cat([each.detach().flatten() for each in every])
