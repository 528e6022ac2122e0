"""What comes between the steps of a call: another call on the same thread, an interrupt; and tensors of odd making."""

import subprocess
import sys
import threading
import time
from unittest import mock

import pytest
import torch

import sphweft
from sphweft import slices
from sphweft.bridge.launch import Launcher


@pytest.mark.parametrize("other", [12, 30])
@pytest.mark.parametrize("differentiated", [False, True])
def test_a_call_within_a_call_has_a_launch_of_its_own(make_case, other, differentiated):
    outer, inner = make_case(12), make_case(other, seed=1)
    leaves = outer.leaves() if differentiated else outer.tensors
    due, due_inside = outer.gradient(*outer.tensors), inner.gradient(*inner.tensors)
    found, original = [], Launcher._command

    def interrupted(launcher, *arguments):
        with mock.patch.object(Launcher, "_command", original):
            manager = original(launcher, *arguments)
            command = manager.__enter__()
            found.append(inner.gradient(*inner.tensors))
        entered = mock.MagicMock()
        entered.__enter__.return_value = command
        entered.__exit__.side_effect = manager.__exit__
        return entered

    with mock.patch.object(Launcher, "_command", interrupted):
        made = outer.gradient(*leaves)
    assert torch.equal(made, due)
    assert torch.equal(found[0], due_inside)


def test_an_interrupted_caller_waits_until_nobody_works(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    started, working, original = threading.Event(), [], slices.wait

    def task():
        if threading.current_thread() is threading.main_thread():
            started.wait()
            return
        working.append(True)
        started.set()
        time.sleep(0.2)
        working.pop()

    waits = iter([KeyboardInterrupt, original])

    def wait(others):
        step = next(waits)
        if step is KeyboardInterrupt:
            raise step
        return step(others)

    monkeypatch.setattr(slices, "wait", wait)
    with pytest.raises(KeyboardInterrupt):
        slices.side_by_side([task, task])
    assert started.is_set()
    assert not working


def test_a_tensor_that_torch_negates_lazily_has_its_sign(case):
    positions, supports, masses, densities, values = case.tensors
    negated = torch._neg_view(values)
    assert torch.equal(case.gradient(positions, supports, masses, densities, negated), -case.gradient(*case.tensors))
    leaves = case.leaves()
    made = case.gradient(*leaves)
    seed = torch.rand_like(made)
    lazily = torch.autograd.grad(made, leaves, torch._neg_view(seed), retain_graph=True)
    for one, other in zip(lazily, torch.autograd.grad(made, leaves, -seed), strict=True):
        assert torch.equal(one, other)


def test_a_domain_first_used_in_inference_mode_can_be_trained_with(case):
    positions, supports, masses, *_ = case.tensors
    domain = sphweft.DomainDescription([0, 0], [9, 9], [True, True])

    def total(x):
        state = sphweft.ParticleState(x, supports, masses, case.kinds)
        return sphweft.density(state, case.adjacency, domain=domain).sum()

    with torch.inference_mode():
        total(positions)
    leaf = positions.clone().requires_grad_()
    total(leaf).backward()
    assert leaf.grad.abs().sum() > 0


def test_a_user_can_load_all_modules_after_a_call():
    """In a process of its own: other tests leave modules that are broken on purpose."""
    script = """
import torch, warp as wp, sphweft
state = sphweft.ParticleState(torch.rand(9, 2), torch.ones(9), torch.ones(9), torch.zeros(9, dtype=torch.int32))
sphweft.density(state).sum()
wp.force_load("cpu")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
