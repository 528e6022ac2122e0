"""What torch derives from the oracle: backward, twice, and forward, at r = 0 too; and the Hessian-vector product."""

import dataclasses

import pytest
import torch
from oracle_sets import FUNCTIONS, MODES, at, irregular, open_box, random, setup

from tapecheck.oracles import (
    Corrections,
    Domain,
    Particles,
    covariance,
    crk_correction,
    crk_density,
    crk_volume,
    curl,
    density,
    density_hvp,
    divergence,
    grad_h,
    gradient,
    interpolate,
    laplacian,
    renormalization,
    smoothing,
)
from tapecheck.oracles.pairs import pair_up

PERIODIC = Domain([-1.0, 0.0], [6.0, 7.0], [True, True])
QUERY, REFERENCE = irregular(2, per_axis=2, seed=31, support=2.6), irregular(2, per_axis=3, seed=32)
FIRST_SIX = {name: getattr(REFERENCE, name)[:6] for name in ("positions", "supports", "masses", "kinds", "densities")}
REFERENCE = dataclasses.replace(REFERENCE, **FIRST_SIX)
FAST = {"fast_mode": True, "check_undefined_grad": False}
LEAVES = ("positions", "supports", "masses", "densities")


def all_corrections(a):
    """All corrections at once, each made from the inputs; and the volumes."""
    volumes = crk_volume(**a | {"query": a["reference"]})
    crk = crk_correction(**a, volumes=volumes)
    return volumes, Corrections(
        crk=crk,
        renormalization=renormalization(**a, crk=crk),
        omega=grad_h(**a),
        reference_omega=grad_h(**a | {"query": a["reference"]}),
    )


def corrected(operator, scheme):
    def call(a, f_i, f_j):
        volumes, corrections = all_corrections(a)
        more = {} if scheme == "symmetric" else {"volumes": volumes}
        return operator(**a, scheme=scheme, query_field=f_i, reference_field=f_j, corrections=corrections, **more)

    return call


def plain(operator, scheme):
    return lambda a, f_i, f_j: operator(**a, scheme=scheme, query_field=f_i, reference_field=f_j)


CALLS = {
    "density": lambda a, f_i, f_j: density(**a),
    "interpolate": lambda a, f_i, f_j: interpolate(**a, reference_field=f_j),
    "interpolate-crk": lambda a, f_i, f_j: interpolate(**a, reference_field=f_j, crk=crk_correction(**a)),
    "covariance": lambda a, f_i, f_j: covariance(**a)[0],
    "renormalization": lambda a, f_i, f_j: renormalization(**a),
    "crk-density": lambda a, f_i, f_j: crk_density(**a, crk=crk_correction(**a)),
    "grad-h": lambda a, f_i, f_j: grad_h(**a),
    "hvp": lambda a, f_i, f_j: density_hvp(**a, query_tangent=f_i, reference_tangent=f_j),
    "curl": plain(curl, "difference"),
    "divergence": plain(divergence, "summation"),
    **{f"gradient-{scheme}": plain(gradient, scheme) for scheme in ("naive", "difference", "symmetric")},
    **{f"laplacian-{scheme}": plain(laplacian, scheme) for scheme in ("naive", "brookshaw", "dot")},
    **{f"corrected-{scheme}": corrected(gradient, scheme) for scheme in ("difference", "symmetric")},
    "corrected-brookshaw": corrected(laplacian, "brookshaw"),
}


def of_leaves(name, mode, domain=PERIODIC, function="wendland4"):
    """A call as a function of every tensor that it can be differentiated by, and those tensors."""

    def call(*leaves):
        query = Particles(**dict(zip(LEAVES, leaves[:4], strict=True)), kinds=QUERY.kinds)
        reference = Particles(**dict(zip(LEAVES, leaves[4:8], strict=True)), kinds=REFERENCE.kinds)
        return CALLS[name](setup(query, reference, domain, support_mode=mode, function=function), *leaves[8:])

    leaves = [getattr(particles, name).clone() for particles in (QUERY, REFERENCE) for name in LEAVES]
    leaves += [random(4, 2, seed=41), random(6, 2, seed=42)]
    leaves[0] = leaves[0] + torch.tensor([7.0, -14.0])  # unwrapped
    return call, tuple(leaf.requires_grad_() for leaf in leaves)


@pytest.mark.parametrize("name", CALLS)
def test_first_derivatives(name):
    call, leaves = of_leaves(name, "mean_kernel")
    assert torch.autograd.gradcheck(call, leaves, check_forward_ad=True, **FAST)


@pytest.mark.parametrize("mode", ["gather", "scatter", "mean_support"])
def test_first_derivatives_in_each_mode(mode):
    call, leaves = of_leaves("corrected-difference", mode)
    assert torch.autograd.gradcheck(call, leaves, check_forward_ad=True, **FAST)


@pytest.mark.parametrize("name", ["gradient-difference", "laplacian-dot", "corrected-difference"])
def test_first_derivatives_one_by_one(name):
    call, leaves = of_leaves(name, "mean_support")
    assert torch.autograd.gradcheck(call, leaves)


@pytest.mark.parametrize("name", CALLS)
def test_second_derivatives(name):
    call, leaves = of_leaves(name, "mean_kernel")
    slow = name.startswith("corrected")  # forward over reverse is compared below
    assert torch.autograd.gradgradcheck(call, leaves, check_fwd_over_rev=not slow, atol=1e-4, **FAST)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", ["gradient-difference", "laplacian-naive"])
def test_derivatives_of_each_function(name, function):
    call, leaves = of_leaves(name, "gather", function=function)
    assert torch.autograd.gradcheck(call, leaves, check_forward_ad=True, **FAST)
    if name != "laplacian-naive":  # whose second derivative is the fourth of k, and jumps
        assert torch.autograd.gradgradcheck(call, leaves, atol=1e-4, **FAST)


@pytest.mark.parametrize("name", CALLS)
def test_one_population_has_finite_derivatives_everywhere(name):
    """Every particle coincides with itself; two of them with each other as well."""
    places = QUERY.positions.clone()
    places[1] = places[0]

    def total(positions):
        particles = dataclasses.replace(QUERY, positions=positions)
        field = random(4, 2, seed=5)
        return CALLS[name](setup(particles, particles, PERIODIC), field, field + positions).sum()

    tangent = random(4, 2, seed=6)
    value, forward = torch.func.jvp(total, (places,), (tangent,))
    reverse = torch.func.grad(total)(places)
    assert bool(value.isfinite()) and bool(reverse.isfinite().all())
    torch.testing.assert_close((reverse * tangent).sum(), forward)
    _, twice = torch.func.jvp(torch.func.grad(total), (places,), (tangent,))
    positions = places.clone().requires_grad_()
    (first,) = torch.autograd.grad(total(positions), positions, create_graph=True)
    (second,) = torch.autograd.grad(first, positions, tangent, allow_unused=True, materialize_grads=True)
    assert bool(second.isfinite().all())
    torch.testing.assert_close(second, twice)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_derivatives_where_two_populations_coincide(function, dimension):
    """The gradient of W is zero there, its Hessian I W''(0), and its third derivative taken as zero."""
    place = at(random(1, dimension), support=0.8)
    constant = smoothing.constant(function=function, dimension=dimension)
    curvature = constant * smoothing.at_origin(function=function, dimension=dimension, order=2) / 0.8 ** (dimension + 2)

    def rho(positions, support):
        query = dataclasses.replace(place, positions=positions[None], supports=support[None])
        return density(**setup(query, place, function=function))[0]

    def nabla(positions, support):
        query = dataclasses.replace(place, positions=positions[None], supports=support[None])
        return pair_up(**setup(query, place, function=function)).gradient()[0, 0]

    def by_support(positions, support):
        query = dataclasses.replace(place, positions=positions[None], supports=support[None])
        return pair_up(**setup(query, place, function=function)).support_derivative()[0, 0]

    here = place.positions[0], place.supports[0]
    expected = curvature * torch.eye(dimension, dtype=torch.float64)
    by_h = -(dimension + 2) / 0.8 * expected  # ∂(∇W)/∂h moves W''(0) as h^-(d+2)
    assert not torch.func.grad(rho)(*here).any()
    torch.testing.assert_close(torch.func.hessian(rho)(*here), expected)
    torch.testing.assert_close(torch.func.jacrev(torch.func.grad(rho))(*here), expected)
    torch.testing.assert_close(torch.func.jacfwd(nabla)(*here), expected)
    assert not torch.func.hessian(nabla)(*here).any()
    torch.testing.assert_close(torch.func.hessian(by_support)(*here), by_h)
    torch.testing.assert_close(torch.func.jacrev(torch.func.jacrev(nabla), argnums=1)(*here), by_h)


@pytest.mark.parametrize(("function", "third"), [("cubic_spline", -6.0), ("wendland2", -24.0)])
def test_the_cutoff_counts_as_inside(function, third):
    """Only k''' of these two jumps there, in one dimension: the derivative of the radial Laplacian is the inner one."""

    def form(x, h):
        query = dataclasses.replace(at([[0.0]]), positions=x.reshape(1, 1), supports=h.reshape(1))
        return pair_up(**setup(query, at([[0.0]]), function=function)).radial_laplacian()[0, 0]

    x = torch.tensor(1.0, dtype=torch.float64)
    constant = smoothing.constant(function=function, dimension=1)
    assert float(torch.func.grad(form)(x, x)) == pytest.approx(constant * third)
    assert float(torch.func.jvp(form, (x, x), (x, 0 * x))[1]) == pytest.approx(constant * third)
    assert float(torch.func.grad(form, argnums=1)(x, x)) == pytest.approx(-constant * third)


def hvp_by_torch(arguments, v, u):
    """The query's part of the summed density's second derivative along (v, u)."""

    def by_query(query, reference):
        def total(query):
            moved = {
                "query": dataclasses.replace(arguments["query"], positions=query),
                "reference": dataclasses.replace(arguments["reference"], positions=reference),
            }
            return density(**arguments | moved).sum()

        return torch.func.grad(total)(query)

    places = arguments["query"].positions, arguments["reference"].positions
    return torch.func.jvp(by_query, places, (v, u))[1]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_hvp_is_the_second_derivative(function, mode):
    reference = dataclasses.replace(REFERENCE, positions=torch.cat([QUERY.positions[:2], REFERENCE.positions[2:]]))
    arguments = setup(QUERY, reference, PERIODIC, function=function, support_mode=mode, calibration=1.2)
    v, u = random(4, 2, seed=1), random(6, 2, seed=2)
    observed = density_hvp(**arguments, query_tangent=v, reference_tangent=u)
    torch.testing.assert_close(observed, hvp_by_torch(arguments, v, u))
    torch.testing.assert_close(density_hvp(**arguments, query_tangent=v), hvp_by_torch(arguments, v, 0 * u))
    torch.testing.assert_close(density_hvp(**arguments, reference_tangent=u), hvp_by_torch(arguments, 0 * v, u))


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_hvp_by_differences(dimension):
    particles, step = irregular(dimension, per_axis=3), 1e-5
    v = random(len(particles.positions), dimension, seed=3)
    unfolded = dataclasses.replace(particles, positions=particles.positions.clone())  # another population, coinciding

    def slope(change):
        query = dataclasses.replace(particles, positions=(particles.positions + change * v).requires_grad_())
        rho = density(**setup(query, unfolded, function="wendland4"))
        return torch.autograd.grad(rho.sum(), query.positions)[0]

    expected = (slope(step) - slope(-step)) / (2 * step)
    observed = density_hvp(**setup(particles, unfolded, function="wendland4"), query_tangent=v)
    torch.testing.assert_close(observed, expected, rtol=1e-6, atol=1e-7)


def test_hvp_leaves_out_a_particle_with_itself_in_one_population():
    arguments = setup(QUERY, QUERY, support_mode="mean_kernel")
    twin = arguments | {"reference": dataclasses.replace(QUERY, positions=QUERY.positions.clone())}
    v, u = random(4, 2, seed=1), random(4, 2, seed=2)
    itself = torch.einsum("i,iiab,ib->ia", QUERY.masses, pair_up(**twin).hessian(), v - u)
    assert itself.abs().min() > 0.1
    two = density_hvp(**twin, query_tangent=v, reference_tangent=u)
    torch.testing.assert_close(two, hvp_by_torch(twin, v, u))
    torch.testing.assert_close(density_hvp(**arguments, query_tangent=v, reference_tangent=u), two - itself)
    moved_together = density_hvp(**arguments, query_tangent=v, reference_tangent=v)
    torch.testing.assert_close(moved_together, hvp_by_torch(twin, v, v))


def test_hvp_of_a_lone_particle_is_exactly_zero():
    lone = at([[0.3, 0.4]])
    arguments = setup(lone, lone)
    v = torch.tensor([[torch.nan, 2.0]], dtype=torch.float64)
    assert density_hvp(**arguments, query_tangent=v).tolist() == [[0.0, 0.0]]
    twins = at([[0.3, 0.4], [0.3, 0.4]])  # distinct particles in one place: the pairs of one with the other count
    observed = density_hvp(**setup(twins, twins), query_tangent=torch.ones(2, 2).double())
    curvature = 7 / torch.pi * -20
    torch.testing.assert_close(observed, torch.full((2, 2), curvature).double())


def test_kinds_have_no_derivative_and_a_detached_correction_is_frozen():
    arguments = setup(QUERY, REFERENCE, open_box(2))
    matrix = renormalization(**arguments)
    positions = QUERY.positions.clone().requires_grad_()
    arguments["query"] = dataclasses.replace(QUERY, positions=positions)
    assert renormalization(**arguments).requires_grad and not matrix.requires_grad
    assert not arguments["query"].kinds.requires_grad
