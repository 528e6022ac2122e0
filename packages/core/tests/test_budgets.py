"""What the budgets of the benchmarks do not hold: dual calls, and the first call of all.

The exact cost of a later call of every operator stands in `benchmarks/core/budgets.toml`.
"""

import os
import subprocess
import sys
from typing import Any

import pytest
import torch
import warp as wp
from counting import counted
from torch.autograd import forward_ad

import sphweft
from sphweft.bridge import Build, ExtraSpec, OperatorSpec, OutputSpec, SPHContext, entry_type, launch_operator


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

        found = counted(call)
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
