"""The oracle's operators: against loops written by hand, closed forms and conservation."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from oracle_sets import MODES, irregular, lattice, open_box, random, setup

from tapecheck.oracles import (
    Corrections,
    covariance,
    curl,
    density,
    divergence,
    grad_h,
    gradient,
    interpolate,
    laplacian,
)
from tapecheck.oracles.kinds import contributes, receives

C = 7 / math.pi


def hand_w(r, h):
    """Wendland's function of two dimensions."""
    return C / h**2 * (1 - r / h) ** 4 * (1 + 4 * r / h) if r <= h else 0.0


def hand_slope(r, h):
    """Its W'."""
    return -20 * C / h**3 * (r / h) * (1 - r / h) ** 3 if r <= h else 0.0


def hand_curvature(r, h):
    """Its W''."""
    return -20 * C / h**4 * (1 - r / h) ** 2 * (1 - 4 * r / h) if r <= h else 0.0


def by_mode(form, mode, r, h_i, h_j):
    return {
        "gather": lambda: form(r, h_i),
        "scatter": lambda: form(r, h_j),
        "mean_support": lambda: form(r, (h_i + h_j) / 2),
        "mean_kernel": lambda: (form(r, h_i) + form(r, h_j)) / 2,
    }[mode]()


def hand_sum(query, reference, mode, term):
    """Σ_j term(i, j, x, r, W, ∇W, ∇²W), kinds and period left aside."""
    rows = []
    for i, (x_i, h_i) in enumerate(zip(query.positions.numpy(), query.supports.tolist(), strict=True)):
        total = 0.0
        for j, (x_j, h_j) in enumerate(zip(reference.positions.numpy(), reference.supports.tolist(), strict=True)):
            x = x_i - x_j
            r = math.sqrt(float(x @ x))
            w, slope, curvature = (by_mode(f, mode, r, h_i, h_j) for f in (hand_w, hand_slope, hand_curvature))
            nabla = x / r * slope if r > 0 else 0 * x
            total = total + term(i, j, x, r, w, nabla, curvature + slope / r if r > 0 else 0.0)
        rows.append(total)
    return np.array(rows)


QUERY, REFERENCE = irregular(2, per_axis=3, seed=1), irregular(2, per_axis=4, seed=5)
QUERY_FIELD, REFERENCE_FIELD = random(9, 3, 2, seed=7), random(16, 3, 2, seed=8)
FIELDS = {"query_field": QUERY_FIELD, "reference_field": REFERENCE_FIELD}
M, RHO, RHO_I = REFERENCE.masses.numpy(), REFERENCE.densities.numpy(), QUERY.densities.numpy()
F, F_I = REFERENCE_FIELD.numpy(), QUERY_FIELD.numpy()

COEFFICIENTS = {
    "naive": lambda i, j: M[j] / RHO[j] * F[j],
    "difference": lambda i, j: M[j] / RHO[j] * (F[j] - F_I[i]),
    "summation": lambda i, j: M[j] / RHO[j] * (F[j] + F_I[i]),
    "symmetric": lambda i, j: M[j] * RHO_I[i] * (F_I[i] / RHO_I[i] ** 2 + F[j] / RHO[j] ** 2),
}


@pytest.mark.parametrize("mode", MODES)
def test_sums_by_hand(mode):
    arguments = setup(QUERY, REFERENCE, support_mode=mode)
    expected = hand_sum(QUERY, REFERENCE, mode, lambda i, j, x, r, w, nabla, lap: M[j] * w)
    np.testing.assert_allclose(density(**arguments), expected, rtol=1e-13)
    expected = hand_sum(QUERY, REFERENCE, mode, lambda i, j, x, r, w, nabla, lap: M[j] / RHO[j] * F[j] * w)
    np.testing.assert_allclose(interpolate(**arguments, reference_field=REFERENCE_FIELD), expected, rtol=1e-13)
    expected = hand_sum(QUERY, REFERENCE, mode, lambda i, j, x, r, w, nabla, lap: -M[j] / RHO[j] * np.outer(x, nabla))
    np.testing.assert_allclose(covariance(**arguments)[0], expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("scheme", COEFFICIENTS)
@pytest.mark.parametrize("mode", MODES)
def test_gradients_by_hand(mode, scheme):
    arguments = setup(QUERY, REFERENCE, support_mode=mode) | FIELDS | {"scheme": scheme}
    c = COEFFICIENTS[scheme]

    def check(observed, term):
        np.testing.assert_allclose(observed, hand_sum(QUERY, REFERENCE, mode, term), rtol=1e-11, atol=1e-11)

    check(gradient(**arguments), lambda i, j, x, r, w, nabla, lap: np.multiply.outer(c(i, j), nabla))
    check(divergence(**arguments), lambda i, j, x, r, w, nabla, lap: c(i, j) @ nabla)
    check(curl(**arguments), lambda i, j, x, r, w, nabla, lap: nabla[0] * c(i, j)[:, 1] - nabla[1] * c(i, j)[:, 0])


@pytest.mark.parametrize("mode", MODES)
def test_laplacians_by_hand(mode):
    arguments = setup(QUERY, REFERENCE, support_mode=mode) | FIELDS

    def check(scheme, term):
        expected = hand_sum(QUERY, REFERENCE, mode, lambda *pair: term(*pair) if pair[3] > 0 else np.zeros((3, 2)))
        np.testing.assert_allclose(laplacian(scheme=scheme, **arguments), expected, rtol=1e-11, atol=1e-11)

    def dot(i, j, x, r, w, nabla, lap):
        delta, n = F[j] - F_I[i], x / r
        return nabla @ x / r**2 * M[j] / RHO[j] * (delta - 4 * np.outer(delta @ n, n))

    check("naive", lambda i, j, x, r, w, nabla, lap: M[j] / RHO[j] * (F[j] - F_I[i]) * lap)
    check("brookshaw", lambda i, j, x, r, w, nabla, lap: 2 * M[j] / RHO[j] * (F_I[i] - F[j]) * (nabla @ x / r**2))
    check("dot", dot)


def test_supplied_volumes_replace_masses_over_densities():
    arguments = setup(QUERY, REFERENCE)
    without = setup(QUERY, dataclasses.replace(REFERENCE, masses=REFERENCE.masses * math.nan, densities=None))
    volumes = REFERENCE.masses / REFERENCE.densities
    for name, scheme in ((gradient, "difference"), (divergence, "naive"), (laplacian, "dot")):
        plain = name(**arguments, **FIELDS, scheme=scheme)
        assert torch.equal(name(**without, **FIELDS, scheme=scheme, volumes=volumes), plain)
    plain = interpolate(**arguments, reference_field=REFERENCE_FIELD)
    assert torch.equal(interpolate(**without, reference_field=REFERENCE_FIELD, volumes=volumes), plain)
    assert torch.equal(covariance(**without, volumes=volumes)[0], covariance(**arguments)[0])


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 1, 2, 3)])
def test_fields_of_any_rank(shape):
    query, reference = irregular(3, per_axis=2), irregular(3, per_axis=2, seed=9)
    fields = {"query_field": random(8, *shape), "reference_field": random(8, *shape, seed=1)}
    arguments = setup(query, reference)
    flat = {name: field.reshape(8, -1) for name, field in fields.items()}

    def columns(operator, **more):
        """The operator, a scalar field at a time."""
        each = [{name: field[:, at] for name, field in flat.items()} for at in range(flat["query_field"].shape[1])]
        return torch.stack([operator(**arguments, **scalar, **more) for scalar in each], 1)

    for scheme in COEFFICIENTS:
        observed = gradient(**arguments, **fields, scheme=scheme)
        torch.testing.assert_close(observed, columns(gradient, scheme=scheme).reshape(8, *shape, 3))
        if shape:
            trace = torch.einsum("...aa->...", observed)
            torch.testing.assert_close(divergence(**arguments, **fields, scheme=scheme), trace)
            assert curl(**arguments, **fields, scheme=scheme).shape == (8, *shape[:-1], 3)
    for scheme in ("naive", "brookshaw"):
        observed = laplacian(**arguments, **fields, scheme=scheme)
        torch.testing.assert_close(observed, columns(laplacian, scheme=scheme).reshape(8, *shape))
    field = fields["reference_field"]
    weights = torch.stack([interpolate(**arguments, reference_field=row) for row in torch.eye(8).double()], 1)
    observed = interpolate(**arguments, reference_field=field)
    torch.testing.assert_close(observed, torch.tensordot(weights, field, 1))


def test_one_dimension_keeps_the_derivative_axis():
    particles = irregular(1)
    fields = {"query_field": random(4), "reference_field": random(4)}
    assert gradient(**setup(particles, particles), **fields, scheme="difference").shape == (4, 1)
    vectors = {name: field[:, None] for name, field in fields.items()}
    assert divergence(**setup(particles, particles), **vectors, scheme="difference").shape == (4,)


REACH = {1: 40, 2: 12, 3: 7}


def quadratic(dimension):
    """A lattice, a quadratic function with a linear and a constant term, and its second derivatives."""
    query, reference = lattice(dimension, REACH[dimension])
    q = random(dimension, dimension, seed=3) + torch.eye(dimension)
    q = (q + q.T) / 2

    def f(x):
        return 0.5 * torch.einsum("na,ab,nb->n", x, q, x) + x.sum(1) + 4

    return setup(query, reference, function="wendland4"), f, q


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("scheme", ["naive", "brookshaw"])
def test_laplacians_of_a_quadratic(dimension, scheme):
    arguments, f, q = quadratic(dimension)
    fields = {name + "_field": f(arguments[name].positions) for name in ("query", "reference")}
    observed = laplacian(**arguments, **fields, scheme=scheme)
    assert float(observed) == pytest.approx(float(q.trace()), rel=1e-2)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_dot_laplacian_is_the_gradient_of_the_divergence(dimension):
    query, reference = lattice(dimension, REACH[dimension])
    tensor = random(dimension, dimension, dimension, seed=4) - 0.2
    tensor = (tensor + tensor.transpose(1, 2)) / 2

    def f(x):
        return 0.5 * torch.einsum("abc,nb,nc->na", tensor, x, x) + 2 * x + 1

    fields = {"query_field": f(query.positions), "reference_field": f(reference.positions)}
    observed = laplacian(**setup(query, reference, function="wendland4"), **fields, scheme="dot")
    expected = torch.einsum("bab->a", tensor)  # ∂_a ∂_b f_b
    torch.testing.assert_close(observed[0], expected, rtol=1e-2, atol=5e-3)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_covariance_of_a_lattice_is_the_identity(dimension):
    matrix, count = covariance(**setup(*lattice(dimension, REACH[dimension])))
    torch.testing.assert_close(matrix[0], torch.eye(dimension).double(), rtol=1e-2, atol=1e-12)
    nodes = lattice(dimension, REACH[dimension])[1].positions
    assert count.tolist() == [int((nodes.norm(dim=1) <= REACH[dimension]).sum())]
    assert not count.dtype.is_floating_point


def test_curl_of_a_rotation():
    spin = torch.tensor([0.3, -0.5, 0.7], dtype=torch.float64)

    def velocity(x):
        return torch.linalg.cross(spin.expand_as(x), x)

    query, reference = lattice(3, 6)
    fields = {"query_field": velocity(query.positions), "reference_field": velocity(reference.positions)}
    for scheme in ("naive", "difference"):
        observed = curl(**setup(query, reference), **fields, scheme=scheme)
        torch.testing.assert_close(observed[0], 2 * spin, rtol=1e-2, atol=1e-3)

    query, reference = lattice(2, 9)
    fields = {
        name + "_field": torch.stack([-particles.positions[:, 1], particles.positions[:, 0]], 1)
        for name, particles in (("query", query), ("reference", reference))
    }
    assert float(curl(**setup(query, reference), **fields, scheme="difference")) == pytest.approx(2, rel=1e-2)


@pytest.mark.parametrize("mode", ["mean_support", "mean_kernel"])
@pytest.mark.parametrize("with_omega", [False, True])
def test_symmetric_forces_balance(mode, with_omega):
    particles = irregular(2)
    omega = 0.8 + 0.4 * random(16, seed=6)
    corrections = Corrections(omega=omega, reference_omega=omega) if with_omega else Corrections()
    pressure = random(16, seed=7)
    arguments = setup(particles, particles, support_mode=mode)
    force = gradient(
        **arguments, scheme="symmetric", query_field=pressure, reference_field=pressure, corrections=corrections
    )
    total = (particles.masses / particles.densities) @ force
    assert float(total.abs().max()) < 1e-12 < float(force.abs().max())


@pytest.mark.parametrize("scheme", COEFFICIENTS)
def test_omega_in_each_scheme(scheme):
    omega, reference_omega = 0.8 + 0.4 * random(9, seed=6), 0.8 + 0.4 * random(16, seed=7)
    arguments = setup(QUERY, REFERENCE) | FIELDS | {"scheme": scheme}
    observed = gradient(**arguments, corrections=Corrections(omega=omega, reference_omega=reference_omega))
    if scheme == "symmetric":  # f_i enters over Ω_i, f_j over Ω_j
        arguments |= {"query_field": QUERY_FIELD / omega[:, None, None]}
        arguments |= {"reference_field": REFERENCE_FIELD / reference_omega[:, None, None]}
        torch.testing.assert_close(observed, gradient(**arguments))
    else:
        torch.testing.assert_close(observed, gradient(**arguments) / omega[:, None, None, None])


@pytest.mark.parametrize("mode", MODES)
def test_grad_h_by_differences(mode):
    step = 1e-6

    def rho(change):
        moved = dataclasses.replace(QUERY, supports=QUERY.supports + change)
        return density(**setup(moved, REFERENCE, support_mode=mode))

    slope = (rho(step) - rho(-step)) / (2 * step)
    expected = 1 + QUERY.supports / (2 * QUERY.densities) * slope
    torch.testing.assert_close(grad_h(**setup(QUERY, REFERENCE, support_mode=mode)), expected, rtol=1e-7, atol=1e-7)
    if mode == "scatter":
        assert torch.equal(expected, torch.ones_like(expected))


def test_grad_h_where_the_density_is_zero():
    zero = dataclasses.replace(QUERY, densities=torch.zeros(9).double())
    far = dataclasses.replace(REFERENCE, positions=REFERENCE.positions + 40)
    assert grad_h(**setup(zero, far)).tolist() == [1.0] * 9


@pytest.mark.parametrize("direction", ["fluid_to_fluid", "boundary_to_ghost", "fluid_to_all", "all_to_all"])
def test_excluded_particles_do_not_reach_a_result(direction):
    """What is left out might as well hold NaN; a query left out gets zero."""
    query = dataclasses.replace(QUERY, kinds=torch.arange(9) % 4)
    reference = dataclasses.replace(REFERENCE, kinds=torch.arange(16) % 4)
    out_i = ~receives(query.kinds, direction=direction)
    out_j = ~contributes(reference.kinds, direction=direction)

    def spoiled(particles, out):
        changes = {name: torch.where(out, math.nan, getattr(particles, name)) for name in ("masses", "densities")}
        return dataclasses.replace(particles, **changes)

    def spoiled_field(field, out):
        return torch.where(out[:, None, None], math.nan, field).requires_grad_()

    arguments = setup(spoiled(query, out_i), spoiled(reference, out_j), direction=direction)
    fields = {
        "query_field": spoiled_field(QUERY_FIELD, out_i),
        "reference_field": spoiled_field(REFERENCE_FIELD, out_j),
    }
    kept = dataclasses.replace(
        reference,
        **{n: getattr(reference, n)[~out_j] for n in ("positions", "supports", "masses", "kinds", "densities")},
    )
    for scheme in COEFFICIENTS:
        observed = gradient(**arguments, **fields, scheme=scheme)
        plain = gradient(
            **setup(query, kept, direction="unmasked"),
            query_field=QUERY_FIELD,
            reference_field=REFERENCE_FIELD[~out_j],
            scheme=scheme,
        )
        torch.testing.assert_close(observed[~out_i], plain[~out_i])
        assert not observed[out_i].any()
        by_query, by_reference = torch.autograd.grad(observed.sum(), list(fields.values()), allow_unused=True)
        assert by_query is None or not by_query[out_i].any()
        assert not by_reference[out_j].any()
    assert not density(**arguments)[out_i].any()


def missing(particles):
    return dataclasses.replace(particles, densities=None)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (
            lambda a: curl(**setup(irregular(1), irregular(1)), scheme="naive", reference_field=random(4, 1)),
            "the curl needs two or three dimensions, the particles have 1",
        ),
        (lambda a: curl(**a, scheme="naive", reference_field=random(16, 3)), "curl needs a field whose last axis has"),
        (lambda a: divergence(**a, scheme="naive", reference_field=random(16)), "divergence needs a field whose last"),
        (
            lambda a: laplacian(**a, scheme="dot", query_field=random(9, 3), reference_field=random(16, 3)),
            r"the dot Laplacian needs a field whose last axis has length 2; this one's shape is \(16, 3\)",
        ),
        (
            lambda a: laplacian(**a, scheme="dot", query_field=random(9), reference_field=random(16)),
            r"the dot Laplacian needs a field whose last axis has length 2; this one's shape is \(16,\)",
        ),
        (
            lambda a: gradient(**a, **FIELDS, scheme="symmetric", volumes=random(16)),
            "the symmetric scheme has no volumes",
        ),
        (lambda a: gradient(**a, **FIELDS, scheme="symmetric", corrections=Corrections(omega=random(9))), "both sides"),
        (lambda a: gradient(**a, reference_field=random(16), scheme="difference"), "difference reads query_field"),
        (lambda a: gradient(**a, **FIELDS, scheme="other"), "unknown scheme 'other': naive, difference, summation"),
        (lambda a: laplacian(**a, **FIELDS, scheme="other"), "unknown scheme 'other': naive, brookshaw, dot"),
        (
            lambda a: laplacian(
                **a, **FIELDS, scheme="naive", corrections=Corrections(renormalization=random(9, 2, 2))
            ),
            "the naive Laplacian has no gradient to correct",
        ),
        (
            lambda a: interpolate(**setup(QUERY, missing(REFERENCE)), reference_field=REFERENCE_FIELD),
            "reads reference.densities, which is missing",
        ),
        (lambda a: grad_h(**setup(missing(QUERY), REFERENCE)), "grad-h reads query.densities, which is missing"),
        (lambda a: density(**setup(QUERY, REFERENCE, support_mode="other")), "unknown support mode 'other'"),
    ],
)
def test_errors(call, problem):
    with pytest.raises(ValueError, match=problem):
        call(setup(QUERY, REFERENCE, open_box(2)))
