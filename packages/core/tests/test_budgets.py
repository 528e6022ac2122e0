"""Counted budgets: what one call of an operator costs, exactly, so that a step more is seen on any machine.

Everything is counted from outside: patched functions of Warp, and the operations that torch dispatches.
"""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import pytest
import torch
import warp as wp
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode

import sphweft
from sphweft.bridge import Build, ExtraSpec, OperatorSpec, OutputSpec, SPHContext, entry_type, launch, launch_operator

READ = {
    "density": ("positions", "supports", "masses"),
    "covariance": ("positions", "supports", "masses", "densities"),
    **dict.fromkeys(
        ("interpolate", "gradient", "divergence", "curl", "laplacian"),
        ("positions", "supports", "masses", "densities", "values"),
    ),
}
"""What each operator reads and has a gradient for."""
READBACKS = ("aten::_local_scalar_dense", "aten::nonzero", "aten::equal", "aten::is_nonzero")
FIRST = {"launches": 1, "structs filled": 1, "views built": 0, "torch operations": 1, "readbacks": 0, "modules": 0}

BUDGETS: dict[str, dict[str, int]] = {
    "without gradient": {**FIRST, "structs filled": 0},
    "forward": FIRST,
    "tangent": {**FIRST, "structs filled": 0},
}
"""What a later call with the same tensors may cost. Adjoint launches count as launches."""


def backward_of(operator: str) -> dict[str, int]:
    """Of torch a buffer of zeros for each gradient."""
    return {**FIRST, "torch operations": len(READ[operator])}


def double_backward_of(operator: str) -> dict[str, int]:
    """For each gradient a buffer, and two views that make an array of the direction that it is differentiated along."""
    gradients = len(READ[operator])
    return {**FIRST, "views built": gradients, "torch operations": 3 * gradients}


class Operations(TorchDispatchMode):
    """The operations that torch dispatches meanwhile, views and all."""

    def __init__(self) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        self.names[function._schema.name] += 1
        return function(*arguments, **(options or {}))


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Counts meanwhile; the figures are there afterwards."""
    figures: Counter[str] = Counter()
    with ExitStack() as stack:
        patched = {
            "launches": stack.enter_context(mock.patch.object(wp, "launch", wraps=wp.launch)),
            "views built": stack.enter_context(mock.patch.object(wp, "from_torch", wraps=wp.from_torch)),
            "modules": stack.enter_context(mock.patch.object(wp, "load_module", wraps=wp.load_module)),
            "structs filled": stack.enter_context(mock.patch.object(launch, "StateBundle", wraps=launch.StateBundle)),
        }
        operations = stack.enter_context(Operations())
        yield figures
    figures.update({name: each.call_count for name, each in patched.items()})
    figures["torch operations"] = operations.names.total()
    figures["readbacks"] = sum(operations.names[name] for name in READBACKS)


@pytest.fixture
def calls(case) -> Callable[[str, bool], tuple[Callable[[], torch.Tensor], list[torch.Tensor]]]:
    """An operator called on the same tensors every time; and those of them that require a gradient."""

    def make(operator: str, grad: bool):
        names = ("positions", "supports", "masses", "densities", "values")
        tensors = dict(zip(names, case.tensors, strict=True))
        tensors["values"] = tensors["values"][:, :2].contiguous()
        leaves = [tensors[name].requires_grad_(grad) for name in READ[operator]]
        given = [tensors.pop("values")]
        state = sphweft.ParticleState(**tensors, kinds=case.kinds)
        return lambda: one(getattr(sphweft, operator)(state, *given[: len(leaves) > 4], case.adjacency)), leaves

    return make


def one(result: Any) -> torch.Tensor:
    """The first of an operator's outputs."""
    return result[0] if isinstance(result, tuple) else result


def costs(call: Callable[[], torch.Tensor]) -> dict[str, int]:
    call()
    with counted() as figures:
        call()
    return dict(figures)


def costs_backward(call: Callable[[], torch.Tensor], leaves: list[torch.Tensor]) -> dict[str, int]:
    for _ in range(2):
        out = call()
        seed = torch.ones_like(out)
        with counted() as figures:
            torch.autograd.grad(out, leaves, seed)
    return dict(figures)


@pytest.mark.parametrize("operator", READ)
def test_forward(calls, operator):
    outputs = {"torch operations": 2 if operator == "covariance" else 1}  # memory for each; a matrix has a count
    assert costs(calls(operator, False)[0]) == BUDGETS["without gradient"] | outputs
    assert costs(calls(operator, True)[0]) == BUDGETS["forward"] | outputs


@pytest.mark.parametrize("operator", READ)
def test_backward(calls, operator):
    assert costs_backward(*calls(operator, True)) == backward_of(operator)


@pytest.mark.parametrize("operator", READ)
def test_double_backward(calls, operator):
    call, leaves = calls(operator, True)
    for _ in range(2):
        out = call()
        seed = torch.ones_like(out)
        slopes = torch.autograd.grad(out, leaves, seed, create_graph=True)
        vectors = [torch.ones_like(slope) for slope in slopes]
        with counted() as figures:
            torch.autograd.grad(slopes, leaves, vectors)
    assert figures == double_backward_of(operator)


@pytest.mark.parametrize("operator", READ)
def test_explicit_tangent(operator, case):
    positions, supports, masses, densities, values = case.tensors
    state = sphweft.ParticleState(positions, supports, masses, case.kinds, densities)
    moving = sphweft.ParticleTangents(positions=positions, supports=supports)
    values = values[:, :2].contiguous()
    options = {"values": values, "values_tangent": values} if "values" in READ[operator] else {}

    def call():
        operation = sphweft.Operation[operator.upper()]
        return sphweft.warp_operation_jvp(operation, state, case.adjacency, query_tangents=moving, **options)

    assert costs(call) == BUDGETS["tangent"]


@pytest.mark.parametrize("live", [1, 30])
def test_a_dual_call_reads_nothing_back(case, live):
    names = [f"part_{number}" for number in range(30)]
    positions, supports, masses, densities, _ = case.tensors
    context = SPHContext(sphweft.ParticleState(positions, supports, masses, case.kinds, densities))
    count, spec = context.query.count, first_of(names)
    tensors = {name: torch.rand(count, dtype=torch.float64) for name in names}
    with forward_ad.dual_level():
        along = torch.ones(count, dtype=torch.float64)
        duals = {name: forward_ad.make_dual(tensors[name], along) for name in names[:live]}

        def call():
            return launch_operator(spec, context, **tensors | duals)

        found = costs(call)
        assert forward_ad.unpack_dual(call()).tangent.eq(2).all()
    assert (found["launches"], found["readbacks"]) == (2, 0)


def first_of(names: list[str]) -> OperatorSpec:
    """Twice the first of many extras."""

    def kernel(State: Any, build: Build) -> Any:  # noqa: N803
        @wp.kernel(module="unique")
        def twice(state: State, out: wp.array(dtype=build.scalar)):
            i = wp.tid()
            out[i] = state.part_0[i] + state.part_0[i]

        return twice

    def tangent(State: Any, build: Build) -> Any:  # noqa: N803
        @wp.kernel(module="unique")
        def twice_the_tangent(state: State, out: wp.array(dtype=build.scalar)):
            i = wp.tid()
            out[i] = state.part_0_tangent[i] + state.part_0_tangent[i]

        return twice_the_tangent

    output = OutputSpec(lambda context, extras: entry_type(context), lambda context, extras: (context.query.count,))
    extras = tuple(ExtraSpec(name, rows="query") for name in names)
    return OperatorSpec("first", kernel, (), (output,), extras, tangent_kernel=tangent)


FIRST_CALL = """
import torch, sphweft
ones, kinds = torch.ones(4), torch.zeros(4, dtype=torch.int32)
everybody = sphweft.AdjacencyList.from_pairs(*torch.ones(4, 4).nonzero().T, 4, 4)
masses = ones.clone().requires_grad_()
for direction in list(sphweft.InteractionDirection)[1:]:
    properties = sphweft.OperationProperties(direction=direction)
    state = sphweft.ParticleState(torch.rand(4, 2), ones, masses, kinds)
    sphweft.density(state, everybody, properties=properties).sum().backward()
"""


def test_first_call_compiles_one_module_and_prints_nothing(tmp_path):
    environment = {**os.environ, "WARP_CACHE_PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALL], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    assert len(list(tmp_path.rglob("wp_*/"))) == 1


@pytest.fixture
def launched_twice(monkeypatch):
    once = launch.Launcher.run

    def run(self, tensors):
        once(self, tensors)
        return once(self, tensors)

    monkeypatch.setattr(launch.Launcher, "run", run)


@pytest.fixture
def asks_for_a_value(monkeypatch):
    silent = launch.Launcher.run

    def run(self, tensors):
        tensors[0].sum().item()
        return silent(self, tensors)

    monkeypatch.setattr(launch.Launcher, "run", run)


@pytest.mark.parametrize(("plant", "shown_by"), [("launched_twice", "launches"), ("asks_for_a_value", "readbacks")])
def test_a_planted_step_is_seen(calls, request, plant, shown_by):
    call, _ = calls("density", True)
    call()
    request.getfixturevalue(plant)
    assert costs(call)[shown_by] == BUDGETS["forward"][shown_by] + 1
