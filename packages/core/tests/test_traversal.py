"""Without a list the loop walks through cells: values and derivatives are those of the list that a search makes."""

import pytest
import torch

import sphweft as sw
import sphweft.inspect


def population(count, dimension, seed):
    generator = torch.Generator().manual_seed(seed)

    def uniform(*shape):
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    kinds = torch.randint(0, 4, (count,), generator=generator, dtype=torch.int32)
    positions, supports = 2 * uniform(count, dimension) - 0.5, 0.1 + 0.2 * uniform(count)
    return sw.ParticleState(positions, supports, 0.5 + uniform(count), kinds, 1 + uniform(count))


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-11, atol=1e-12 * float(expected.abs().max()))


@pytest.mark.parametrize("populations", ["one", "two"])
@pytest.mark.parametrize("periodic", [False, True], ids=["open", "periodic"])
@pytest.mark.parametrize(
    ("dimension", "mode"), [(1, sw.SupportMode.SCATTER), (2, sw.SupportMode.MEAN_KERNEL), (3, sw.SupportMode.GATHER)]
)
def test_equals_the_list(dimension, mode, periodic, populations):
    query = population(60, dimension, seed=1)
    reference = None if populations == "one" else population(50, dimension, seed=2)
    source = query if reference is None else reference
    options = {
        "domain": sw.DomainDescription([0.0] * dimension, [1.0] * dimension, [periodic] * dimension),
        "properties": sw.OperationProperties(support_mode=mode),
    }
    listed = sw.neighbor_list(query, reference, **options)
    options |= {"reference": reference}
    values = source.positions.sin()
    query_values = {} if reference is None else {"query_values": query.positions.cos()}

    def everything(adjacency):
        x = query.positions.clone().requires_grad_()
        state = sw.ParticleState(x, query.supports, query.masses, query.kinds, query.densities)
        gradient = sw.gradient(state, values, adjacency, **options, **query_values)
        (slope,) = torch.autograd.grad(gradient.square().sum(), x, create_graph=True)
        (twice,) = torch.autograd.grad(slope.square().sum(), x)
        moving = sw.ParticleTangents(positions=x.detach().cumsum(0))
        tangent = sw.warp_operation_jvp(
            sw.Operation.LAPLACIAN, query, adjacency, values=values, query_tangents=moving, **options, **query_values
        )
        matrix, count = sw.covariance(query, adjacency, **options)
        return gradient.detach(), slope.detach(), twice, tangent, matrix, count

    *found, count = everything(None)
    *expected, due = everything(listed)
    for one, other in zip(found, expected, strict=True):
        close(one, other)
    assert torch.equal(count, due)


def test_nobody_is_near_where_nobody_is():
    nobody = population(0, 2, seed=3)
    some = population(5, 2, seed=3)
    assert sw.density(nobody).shape == (0,)
    assert sw.density(nobody, reference=some).shape == (0,)
    assert sw.density(some, reference=nobody).eq(0).all()


@pytest.mark.parametrize("name", ["positions", "supports"])
def test_what_no_search_can_use_is_refused(name):
    good = population(5, 2, seed=3)
    spoiled = {**{each: getattr(good, each) for each in ("positions", "supports", "masses", "kinds")}}
    spoiled[name] = spoiled[name].clone()
    spoiled[name][2] = torch.nan
    with pytest.raises(sw.InputError, match=rf"query\.{name}: expected values that are finite"):
        sw.density(sw.ParticleState(**spoiled))


class TestSlices:
    """Large launches on the CPU, side by side."""

    @pytest.fixture(autouse=True)
    def threads(self):
        before = torch.get_num_threads()
        yield
        torch.set_num_threads(before)

    def results(self, threads):
        torch.set_num_threads(threads)
        count = 3 * 8192
        state = population(count, 2, seed=4)
        reach = torch.full_like(state.supports, 0.01)
        leaves = [tensor.clone().requires_grad_() for tensor in (state.positions, reach, state.masses)]
        density = sw.density(sw.ParticleState(*leaves, state.kinds, state.densities))
        launches = sw.inspect.counters()["launches"]
        gradients = torch.autograd.grad(density.square().sum(), leaves)
        adjoints = sw.inspect.counters()["adjoint_launches"]
        return [density.detach(), *gradients], launches, adjoints

    def test_equal_to_the_bit_for_any_number_of_threads(self):
        alone, _, before = self.results(1)
        for threads in (2, 3):
            together, _, after = self.results(threads)
            assert all(map(torch.equal, alone, together))
            assert after - before == 3
            before = after

    def test_the_tape_path_is_equal_within_rounding(self, monkeypatch):
        expected, _, _ = self.results(2)
        monkeypatch.setenv("SPHWEFT_TAPE_BACKWARD", "1")
        found, _, _ = self.results(2)
        for one, other in zip(found, expected, strict=True):
            close(one, other)

    def test_what_a_slice_raises_is_raised(self):
        from sphweft.slices import side_by_side

        torch.set_num_threads(2)

        def fail():
            raise RuntimeError("this slice")

        done = []
        with pytest.raises(RuntimeError, match="this slice"):
            side_by_side([fail, lambda: done.append(1), lambda: done.append(2)])


def searched(x, particles):
    state = sw.ParticleState(x, particles.supports, particles.masses, particles.kinds)
    return sw.density(state, sw.neighbor_list(state)).square().sum()


def walked(x, particles):
    state = sw.ParticleState(x, particles.supports, particles.masses, particles.kinds)
    return sw.density(state).square().sum()


@pytest.mark.parametrize("f", [searched, walked])
def test_under_function_transforms(f):
    particles = population(40, 2, seed=3)
    x = particles.positions.clone().requires_grad_()
    listed = sw.neighbor_list(particles)
    loss = sw.density(sw.ParticleState(x, particles.supports, particles.masses, particles.kinds), listed)
    (expected,) = torch.autograd.grad(loss.square().sum(), x)
    for transform in (torch.func.grad, torch.func.jacrev, torch.func.jacfwd):
        close(transform(f)(particles.positions, particles), expected)
    curvature = torch.func.hessian(f)(particles.positions, particles)
    close(curvature, torch.autograd.functional.hessian(lambda x: f(x, particles), particles.positions))
    with pytest.raises(NotImplementedError, match="positions: torch.func.vmap over what a neighbour search reads"):
        torch.func.vmap(lambda x: f(x, particles))(particles.positions.expand(2, -1, -1))
    with pytest.raises(NotImplementedError, match="torch is tracing"):
        torch.func.linearize(lambda x: f(x, particles), particles.positions)


def test_a_batch_that_the_search_does_not_read():
    particles = population(40, 2, seed=4)

    def heavier(masses):
        return sw.density(sw.ParticleState(particles.positions, particles.supports, masses, particles.kinds))

    masses = torch.stack([particles.masses, 2 * particles.masses])
    close(torch.func.vmap(heavier)(masses), torch.stack([heavier(each) for each in masses]))


def test_nobody_under_a_function_transform():
    nobody = population(0, 2, seed=5)
    for f in (searched, walked):
        assert torch.func.grad(f)(nobody.positions, nobody).shape == (0, 2)


def test_whether_to_rebuild_is_asked_under_a_transform():
    particles = population(40, 2, seed=6)
    listed = sw.neighbor_list(particles, margin=0.01)

    def f(x):
        state = sw.ParticleState(x, particles.supports, particles.masses, particles.kinds)
        assert not listed.must_rebuild(state)
        return sw.density(state, listed).sum()

    torch.func.grad(f)(particles.positions + 1e-4)
