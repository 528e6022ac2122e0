"""The bridge under torch.autograd: right in every role, order and mode, or a clear error."""

import copy
import gc
import io
import pickle
import threading

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import sphweft
from sphweft import inspect


def gradients(case, tensors=None, seed=None):
    tensors = tensors or case.leaves()
    out = case.gradient(*tensors)
    return torch.autograd.grad(out, tensors, torch.ones_like(out) if seed is None else seed)


def assert_same(found, expected, tolerance=1e-12):
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_gradcheck_of_every_input(make_case, dimension):
    case = make_case(count=9, dimension=dimension)
    for _ in range(2):
        assert torch.autograd.gradcheck(case.gradient, case.leaves())


def test_aliased_roles_sum_once(case):
    positions, supports, masses, densities, values = case.leaves()
    state = sphweft.ParticleState(positions, supports, masses, case.kinds, densities)
    twin = [tensor.detach().clone().requires_grad_() for tensor in (positions, values)]
    other = sphweft.ParticleState(twin[0], supports, masses, case.kinds, densities)
    one = sphweft.gradient(state, values, case.adjacency)
    two = sphweft.gradient(state, twin[1], case.adjacency, query_values=values, reference=other)
    seed = torch.randn_like(one)
    whole = torch.autograd.grad(one, (positions, values), seed)
    query = torch.autograd.grad(two, (positions, values), seed, retain_graph=True)
    reference = torch.autograd.grad(two, twin, seed)
    assert_same(whole, [a + b for a, b in zip(query, reference, strict=True)])


def test_shared_seed_reaches_every_branch(case):
    expected = [2 * gradient for gradient in gradients(case)]
    leaves = case.leaves()
    (case.gradient(*leaves) + case.gradient(*leaves)).sum().backward()
    assert_same([leaf.grad for leaf in leaves], expected)


def test_retained_graph_and_repeated_seed(case):
    leaves = case.leaves()
    out = case.gradient(*leaves)
    seed = torch.randn_like(out)
    kept = seed.clone()
    first = torch.autograd.grad(out, leaves, seed, retain_graph=True)
    assert_same(torch.autograd.grad(out, leaves, seed), first)
    assert torch.equal(seed, kept)


def test_expanded_seed(case):
    leaves = case.leaves()
    expected = gradients(case)
    case.gradient(*leaves).sum().backward()
    assert_same([leaf.grad for leaf in leaves], expected)


@pytest.mark.parametrize(
    "switch", ["SPHWEFT_TAPE_BACKWARD=1", "SPHWEFT_FIELD_CACHE_GRAD=0", "SPHWEFT_DISABLE_BUNDLE=1"]
)
def test_switches_change_no_bit(case, switch, monkeypatch):
    value, expected = case.gradient(*case.tensors), gradients(case)
    monkeypatch.setenv(*switch.split("="))
    assert torch.equal(case.gradient(*case.tensors), value)
    for a, b in zip(gradients(case), expected, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint(case, reentrant):
    leaves = case.leaves()
    checkpoint(case.gradient, *leaves, use_reentrant=reentrant).sum().backward()
    assert_same([leaf.grad for leaf in leaves], gradients(case))


def test_transforms(case):
    expected = gradients(case)
    found = torch.func.grad(lambda *t: case.gradient(*t).sum(), argnums=(0, 1, 2, 3, 4))(*case.tensors)
    assert_same(found, expected)
    _, pull = torch.func.vjp(case.gradient, *case.tensors)
    assert_same(pull(torch.ones_like(case.gradient(*case.tensors))), expected)
    jacobian = torch.func.jacrev(case.gradient, argnums=4)(*case.tensors)
    assert_same([jacobian.sum((0, 1, 2))], expected[4:], tolerance=1e-11)
    *rest, values = case.tensors
    batch = torch.randn(3, *values.shape, dtype=values.dtype)
    found = torch.func.vmap(lambda field: case.gradient(*rest, field))(batch)
    assert_same(found, [case.gradient(*rest, field) for field in batch])


@pytest.mark.parametrize("which", ["kinds", "neighbors", "masses"])
def test_in_place_change_is_noticed(case, which):
    positions, supports, masses, densities, values = case.tensors
    leaf = values.clone().requires_grad_()
    out = case.gradient(positions, supports, masses, densities, leaf)
    {"kinds": case.kinds, "neighbors": case.adjacency.neighbors, "masses": masses}[which].add_(0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_threads_share_a_leaf(case):
    leaves, expected, found = case.leaves(), gradients(case), []

    def work():
        for _ in range(10):
            found.append(gradients(case, leaves))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 40
    for each in found:
        assert_same(each, expected)


def test_a_thousand_calls_leave_nothing_behind(case):
    def call():
        leaves = case.leaves()
        case.gradient(*leaves).sum().backward()

    call()
    gc.collect()
    gc.disable()
    try:
        objects, views = len(gc.get_objects()), inspect.cached_view_count()
        for _ in range(1000):
            call()
        assert len(gc.get_objects()) - objects < 10
        assert inspect.cached_view_count() == views
    finally:
        gc.enable()


def test_tensors_pickle_and_copy_as_before(case):
    before = pickle.dumps(case.tensors[0])
    case.gradient(*case.tensors)
    assert pickle.dumps(case.tensors[0]) == before
    buffer = io.BytesIO()
    torch.save(case.tensors[0], buffer)
    buffer.seek(0)
    assert torch.equal(torch.load(buffer, weights_only=True), case.tensors[0])
    copy.deepcopy(case.adjacency)


def test_noncontiguous_inputs(case):
    wide = [torch.stack([tensor, tensor + 1], dim=-1)[..., 0].detach().requires_grad_() for tensor in case.tensors]
    assert not any(tensor.is_contiguous() for tensor in wide)
    out = case.gradient(*wide)
    assert torch.equal(out, case.gradient(*case.tensors))
    assert_same(torch.autograd.grad(out.sum(), wide), gradients(case))


def test_inference_mode(case):
    with torch.inference_mode():
        assert torch.equal(case.gradient(*case.tensors), case.gradient(*case.tensors))
