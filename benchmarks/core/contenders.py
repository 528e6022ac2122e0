"""The same sums by other means: plain torch, a Warp kernel made for them alone, `warpsphcore` where it is installed.

A contender takes a case and gives functions without arguments, one a way in which it can do it: the sum with or without
a gradient in prospect, the gradient of its total with respect to positions, supports and masses, the derivative of that
gradient, the tangent of the sum along positions and supports.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
import warp as wp
from torch.autograd import forward_ad

import sphweft
from sphweft.runtime import silence

CONSTANT = 495 / (32 * torch.pi)
"""Of the function wendland4 in three dimensions, W = C (1 - q)⁶ (1 + 6 q + 35/3 q²) / h³."""
NEIGHBOURS = 50


@dataclass(frozen=True, eq=False)
class Case:
    """Particles at random in a cube without periodic sides, single precision, and one field of vectors.

    Attributes:
        operator: `"density"` or `"gradient"`, of the difference scheme.
        count: how many particles.
        grad: whether positions, supports and masses require a gradient.
    """

    operator: str
    count: int
    grad: bool

    @cached_property
    def tensors(self) -> dict[str, torch.Tensor]:
        generator = torch.Generator().manual_seed(self.count)
        positions = torch.rand(self.count, 3, generator=generator)
        reach = min((NEIGHBOURS / self.count / (4 / 3 * torch.pi)) ** (1 / 3), 0.6)
        made = {
            "positions": positions,
            "supports": torch.full((self.count,), reach),
            "masses": torch.full((self.count,), 1 / self.count),
        }
        for tensor in made.values():
            tensor.requires_grad_(self.grad)
        return {
            **made,
            "kinds": torch.zeros(self.count, dtype=torch.int32),
            "densities": torch.ones(self.count),
            "values": torch.rand(self.count, 3, generator=generator),
        }

    @property
    def leaves(self) -> list[torch.Tensor]:
        return [self.tensors[name] for name in ("positions", "supports", "masses")]

    @cached_property
    def pairs(self) -> torch.Tensor:
        """Query above reference, sorted by query, int64."""
        from scipy.spatial import cKDTree

        tree = cKDTree(self.tensors["positions"].detach().numpy())
        reach = float(self.tensors["supports"][0].detach())
        near = tree.query_pairs(reach, output_type="ndarray")
        one_way = torch.from_numpy(near).long().T
        own = torch.arange(self.count).expand(2, -1)
        every = torch.cat([one_way, one_way.flip(0), own], dim=1)
        return every[:, torch.argsort(every[0] * self.count + every[1])]

    @cached_property
    def adjacency(self) -> sphweft.AdjacencyList:
        return sphweft.AdjacencyList.from_pairs(*self.pairs, self.count, self.count)


NO_GRADIENT, TANGENT, JVP, FORWARD = "no gradient", "value + tangent", "tangent alone", "forward"
BACKWARD, TWICE = "forward + backward", "forward + backward twice"

Ways = dict[str, Callable[[], Any]]
Tensors = dict[str, torch.Tensor]


def ways(case: Case, prepare: Callable[[Tensors], Callable[[], torch.Tensor]]) -> Ways:
    """All ways of a sum that torch differentiates; `prepare` makes a call from tensors."""
    call = prepare(case.tensors)

    def both(create_graph: bool = False) -> Any:
        return torch.autograd.grad(call().sum(), case.leaves, allow_unused=True, create_graph=create_graph)

    def again() -> Any:
        total = sum(gradient.square().sum() for gradient in both(create_graph=True) if gradient is not None)
        return torch.autograd.grad(total, case.leaves, allow_unused=True)

    def tangent() -> Any:
        with forward_ad.dual_level():
            names = ("positions", "supports")  # one tensor in both roles; for masses `warpsphcore` refuses that
            duals = {name: forward_ad.make_dual(case.tensors[name], case.tensors[name]) for name in names}
            return forward_ad.unpack_dual(prepare({**case.tensors, **duals})()).tangent

    if not case.grad:
        return {NO_GRADIENT: call, TANGENT: tangent}
    return {FORWARD: call, BACKWARD: both, TWICE: again}


def ours(case: Case) -> Ways:
    """The operators of this repository."""
    adjacency, properties = case.adjacency, sphweft.OperationProperties()
    names = ("positions", "supports", "masses", "kinds", "densities")

    def prepare(tensors: Tensors) -> Callable[[], torch.Tensor]:
        state, values = sphweft.ParticleState(*(tensors[name] for name in names)), tensors["values"]
        if case.operator == "density":
            return lambda: sphweft.density(state, adjacency, properties=properties)
        return lambda: sphweft.gradient(state, values, adjacency, properties=properties)

    def jvp() -> torch.Tensor:
        state = sphweft.ParticleState(*(case.tensors[name] for name in names))
        moving = sphweft.ParticleTangents(positions=state.positions, supports=state.supports)
        options = {"values": case.tensors["values"]} if case.operator == "gradient" else {}
        operation = sphweft.Operation[case.operator.upper()]
        return sphweft.warp_operation_jvp(operation, state, adjacency, query_tangents=moving, **options)

    return {**ways(case, prepare), **({} if case.grad else {JVP: jvp})}


def plain_torch(case: Case) -> Ways:
    """Gathered pairs and `index_add`."""
    i, j = case.pairs

    def prepare(tensors: Tensors) -> Callable[[], torch.Tensor]:
        positions, supports, masses, densities = (tensors[n] for n in ("positions", "supports", "masses", "densities"))
        values = tensors["values"]

        def density() -> torch.Tensor:
            x, h = positions[i] - positions[j], supports[i]
            q = x.square().sum(1).clamp(min=1e-30).sqrt() / h
            kernel = CONSTANT * (1 - q).clamp(min=0) ** 6 * (1 + q * (6 + q * (35 / 3))) / h**3
            return torch.zeros_like(masses).index_add(0, i, masses[j] * kernel)

        def gradient() -> torch.Tensor:
            x, h = positions[i] - positions[j], supports[i]
            q = x.square().sum(1).clamp(min=1e-30).sqrt() / h
            slope = CONSTANT * (-56 / 3) * (1 - q).clamp(min=0) ** 5 * (1 + 5 * q) / h**5
            weight = masses[j] / densities[j] * slope
            terms = (values[j] - values[i])[:, :, None] * (weight[:, None] * x)[:, None, :]
            return values.new_zeros(case.count, 3, 3).index_add(0, i, terms)

        return density if case.operator == "density" else gradient

    return ways(case, prepare)


@wp.func
def density_of(
    i: int,
    positions: wp.array(dtype=wp.vec3),
    supports: wp.array(dtype=float),
    masses: wp.array(dtype=float),
    offsets: wp.array(dtype=int),
    counts: wp.array(dtype=int),
    neighbors: wp.array(dtype=int),
):
    total = float(0.0)  # noqa: UP018  # a variable to Warp
    x_i = positions[i]
    h = supports[i]
    for at in range(offsets[i], offsets[i] + counts[i]):
        j = neighbors[at]
        q = wp.length(x_i - positions[j]) / h
        t = wp.max(1.0 - q, 0.0)
        total += masses[j] * (t * t * t * t * t * t * (1.0 + q * (6.0 + q * (35.0 / 3.0))))
    return total * (wp.static(CONSTANT) / (h * h * h))


@wp.kernel
def hand_density(
    positions: wp.array(dtype=wp.vec3),
    supports: wp.array(dtype=float),
    masses: wp.array(dtype=float),
    offsets: wp.array(dtype=int),
    counts: wp.array(dtype=int),
    neighbors: wp.array(dtype=int),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    out[i] = density_of(i, positions, supports, masses, offsets, counts, neighbors)


@wp.func
def gradient_of(
    i: int,
    positions: wp.array(dtype=wp.vec3),
    supports: wp.array(dtype=float),
    masses: wp.array(dtype=float),
    densities: wp.array(dtype=float),
    values: wp.array(dtype=wp.vec3),
    offsets: wp.array(dtype=int),
    counts: wp.array(dtype=int),
    neighbors: wp.array(dtype=int),
):
    total = wp.mat33()
    x_i = positions[i]
    f_i = values[i]
    h = supports[i]
    for at in range(offsets[i], offsets[i] + counts[i]):
        j = neighbors[at]
        x = x_i - positions[j]
        q = wp.length(x) / h
        t = wp.max(1.0 - q, 0.0)
        slope = t * t * t * t * t * (1.0 + 5.0 * q)
        total += wp.outer(masses[j] / densities[j] * (values[j] - f_i), slope * x)
    return total * (wp.static(CONSTANT * -56 / 3) / (h * h * h * h * h))


@wp.kernel
def hand_gradient(
    positions: wp.array(dtype=wp.vec3),
    supports: wp.array(dtype=float),
    masses: wp.array(dtype=float),
    densities: wp.array(dtype=float),
    values: wp.array(dtype=wp.vec3),
    offsets: wp.array(dtype=int),
    counts: wp.array(dtype=int),
    neighbors: wp.array(dtype=int),
    out: wp.array(dtype=wp.mat33),
):
    i = wp.tid()
    out[i] = gradient_of(i, positions, supports, masses, densities, values, offsets, counts, neighbors)


def hand_written(case: Case) -> Ways:
    """A kernel that can do this and nothing else, launched on arrays made once."""
    with silence():
        wp.init()
    names = ["positions", "supports", "masses"] + (["densities", "values"] if case.operator == "gradient" else [])
    kernel, entry = (hand_density, float) if case.operator == "density" else (hand_gradient, wp.mat33)
    vectors = {"positions": wp.vec3, "values": wp.vec3}
    inputs = [
        wp.from_torch(case.tensors[name].detach(), dtype=vectors.get(name, wp.float32), requires_grad=case.grad)
        for name in names
    ]
    inputs += [wp.from_torch(getattr(case.adjacency, name)) for name in ("offsets", "counts", "neighbors")]
    out = wp.zeros(case.count, dtype=entry, requires_grad=case.grad)
    seed = wp.array([entry(1.0) if entry is float else entry(*[1.0] * 9)] * case.count, dtype=entry)

    def forward() -> Any:
        wp.launch(kernel, case.count, inputs, [out], device="cpu", record_tape=False)
        return wp.to_torch(out)

    def both() -> None:
        forward()
        for array in inputs:
            if array.grad is not None:
                array.grad.zero_()
        gradients = [array.grad for array in inputs]
        wp.launch(
            kernel,
            case.count,
            inputs,
            [out],
            adj_inputs=gradients,
            adj_outputs=[seed],
            adjoint=True,
            device="cpu",
            record_tape=False,
        )

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
        operation=peer.WarpOperation[case.operator.capitalize()],
        gradientMode=peer.GradientScheme.Difference,
        supportMode=peer.SupportScheme.Gather,
        operationMode=peer.OperationDirection.AllToAll,
    )

    def state_of(tensors: Tensors) -> Any:
        names = ("positions", "supports", "masses", "kinds", "densities")
        return peer.ParticleState(*(tensors[name] for name in names))

    with torch.no_grad():
        adjacency = peer.radiusSearchCompactHashMap(state_of(case.tensors), domain)

    def prepare(tensors: Tensors) -> Callable[[], torch.Tensor]:
        state, fields = state_of(tensors), {"queryValues": tensors["values"], "referenceValues": tensors["values"]}
        given = fields if case.operator == "gradient" else {}
        return lambda: peer.warpOperation(state, properties, domain, adjacency=adjacency, **given)

    lacking = {TWICE} if case.operator == "density" else {TWICE, TANGENT}  # it refuses tangents of vector fields
    return {way: call for way, call in ways(case, prepare).items() if way not in lacking}


CONTENDERS: dict[str, Callable[[Case], Ways]] = {
    "sphweft": ours,
    "plain torch": plain_torch,
    "hand-written kernel": hand_written,
    "warpsphcore": warpsphcore,
}
