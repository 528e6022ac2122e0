"""The oracle's smoothing functions, and the forms of W at a pair."""

import itertools
import math

import numpy as np
import pytest
import torch
from oracle_sets import FUNCTIONS, MODES, at, random, setup

from tapecheck.oracles import Rules, density, density_hvp, lattice_calibration, smoothing
from tapecheck.oracles.pairs import pair_up

EVERY = pytest.mark.parametrize(
    ("function", "dimension"), [(function, dimension) for function in FUNCTIONS for dimension in (1, 2, 3)]
)
KNOTS = (0.0, 1 / 5, 1 / 3, 1 / 2, 3 / 5, 2 / 3, 1.0)
SPHERE = {1: 2.0, 2: 2 * math.pi, 3: 4 * math.pi}


@EVERY
def test_integrates_to_one(function, dimension):
    nodes, weights = np.polynomial.legendre.leggauss(12)
    total = 0.0
    for low, high in itertools.pairwise(KNOTS):
        q = (high - low) / 2 * nodes + (high + low) / 2
        k = smoothing.profile(torch.tensor(q), function=function, dimension=dimension).numpy()
        total += (high - low) / 2 * float((weights * k * q ** (dimension - 1)).sum())
    total *= smoothing.constant(function=function, dimension=dimension) * SPHERE[dimension]
    assert total == pytest.approx(1.0, abs=1e-13)


@EVERY
@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_by_differences(function, dimension, order):
    q = 0.02 + 0.96 * random(200)
    q = q[(q[:, None] - torch.tensor(KNOTS)).abs().amin(1) > 1e-3]
    step = 1e-5

    def lower(q):
        return smoothing.profile(q, function=function, dimension=dimension, order=order - 1)

    expected = (8 * (lower(q + step) - lower(q - step)) - lower(q + 2 * step) + lower(q - 2 * step)) / (12 * step)
    observed = smoothing.profile(q, function=function, dimension=dimension, order=order)
    torch.testing.assert_close(observed, expected, rtol=1e-8, atol=1e-7)


@EVERY
def test_nothing_beyond_the_support_and_flat_at_the_origin(function, dimension):
    for order in range(4):
        beyond = smoothing.profile(
            torch.tensor([1 + 1e-12, 1.5, 7.0], dtype=torch.float64),
            function=function,
            dimension=dimension,
            order=order,
        )
        assert not beyond.any()
    assert smoothing.at_origin(function=function, dimension=dimension, order=1) == pytest.approx(0, abs=1e-12)
    assert smoothing.at_origin(function=function, dimension=dimension, order=2) < 0


@pytest.mark.parametrize(
    ("function", "dimension", "at_half"),
    [
        ("wendland2", 1, 5 / 16),
        ("wendland2", 3, 3 / 16),
        ("wendland4", 1, (1 + 5 / 2 + 2) / 32),
        ("wendland4", 2, (4 + 35 / 12) / 64),
        ("wendland6", 1, (1 + 3.5 + 19 / 4 + 21 / 8) / 128),
        ("wendland6", 3, (1 + 4 + 25 / 4 + 4) / 256),
        ("cubic_spline", 2, 1 / 8),
        ("quartic_spline", 2, 1 / 16 - 5e-4),
        ("quintic_spline", 2, 1 / 32 - 6 / 6**5),
    ],
)
def test_values_at_half_the_support(function, dimension, at_half):
    k = smoothing.profile(torch.tensor(0.5, dtype=torch.float64), function=function, dimension=dimension)
    assert float(k) == pytest.approx(at_half, rel=1e-14)


@pytest.mark.parametrize(("dimension", "n_h", "expected"), [(1, 2, 1.015625), (2, 2, 1.0376018), (3, 3, 1.0031411)])
def test_calibration(dimension, n_h, expected):
    assert lattice_calibration(n_h, function="wendland2", dimension=dimension) == pytest.approx(expected, abs=5e-8)


@pytest.mark.parametrize("n_h", [0.0, -1.0, math.nan, math.inf])
def test_calibration_needs_a_finite_positive_count(n_h):
    with pytest.raises(ValueError, match="n_h, supports per spacing, must be finite and positive, it is"):
        lattice_calibration(n_h, function="wendland2", dimension=2)


def test_calibration_must_not_overflow():
    with pytest.raises(ValueError, match="the calibration factor must be finite and positive, it is inf"):
        lattice_calibration(1e-140, function="wendland2", dimension=3)


def test_calibration_makes_a_lattice_dense_as_it_should_be():
    nodes = [[x, y] for x in range(-2, 3) for y in range(-2, 3)]
    factor = lattice_calibration(2.0, function="cubic_spline", dimension=2)
    rho = density(
        **setup(at([[0.0, 0.0]], support=2), at(nodes, support=2), function="cubic_spline", calibration=factor)
    )
    assert float(rho) == pytest.approx(1.0, rel=1e-14)


def pairs_at(positions, function="wendland2", mode="gather", calibration=1.0, support=1.3):
    """A query at the origin whose support is 1, and references around it."""
    dimension = len(positions[0])
    query, reference = at([[0.0] * dimension], support=1.0), at(positions, support=support)
    rules = Rules(function=function, support_mode=mode, calibration=calibration)
    return pair_up(**{**setup(query, reference), "rules": rules})


@EVERY
def test_forms_of_the_kernel_by_differences_of_the_value(function, dimension):
    place = [0.37, -0.21, 0.11][:dimension]
    step = 1e-4

    def value(shift, support=1.0):
        moved = at([[0.0] * dimension]).positions + torch.tensor(shift, dtype=torch.float64)
        query = at(moved, support=support)
        return float(pair_up(**setup(query, at([place]), function=function)).value())

    unit = np.eye(dimension) * step
    pairs = pairs_at([place], function)
    gradient = [(value(list(e)) - value(list(-e))) / (2 * step) for e in unit]
    np.testing.assert_allclose(pairs.gradient()[0, 0], gradient, rtol=1e-5, atol=1e-6)
    hessian = [
        [
            (value(list(e + f)) - value(list(e - f)) - value(list(f - e)) + value(list(-e - f))) / (4 * step**2)
            for f in unit
        ]
        for e in unit
    ]
    np.testing.assert_allclose(pairs.hessian()[0, 0], hessian, rtol=1e-4, atol=1e-4)
    assert float(pairs.radial_laplacian()) == pytest.approx(np.trace(hessian), rel=1e-4, abs=1e-4)
    by_support = (value([0.0], 1 + step) - value([0.0], 1 - step)) / (2 * step)
    assert float(pairs.support_derivative()) == pytest.approx(by_support, rel=1e-5, abs=1e-6)


@EVERY
def test_the_origin(function, dimension):
    pairs = pairs_at([[0.0] * dimension], function)
    constant = smoothing.constant(function=function, dimension=dimension)
    k0, k2 = (smoothing.at_origin(function=function, dimension=dimension, order=order) for order in (0, 2))
    assert float(pairs.value()) == pytest.approx(constant * k0)
    assert not pairs.gradient().any()
    torch.testing.assert_close(pairs.hessian()[0, 0], constant * k2 * torch.eye(dimension, dtype=torch.float64))
    assert float(pairs.radial_laplacian()) == pytest.approx(dimension * constant * k2)
    assert float(pairs.support_derivative()) == pytest.approx(-dimension * constant * k0)


def test_modes():
    k = {h: (1 - 0.6 / h) ** 3 * (1 + 1.8 / h) * 1.25 / h for h in (1.0, 1.3, 1.15)}
    observed = {mode: float(pairs_at([[0.6]], mode=mode).value()) for mode in MODES}
    expected = {"gather": k[1.0], "scatter": k[1.3], "mean_support": k[1.15], "mean_kernel": (k[1.0] + k[1.3]) / 2}
    assert observed == pytest.approx(expected, rel=1e-14)


def test_search_radii_include_the_cutoff():
    places = [[1.0], [1.0 + 1e-15], [1.15], [1.15 + 1e-15], [1.3], [1.3 + 1e-15]]
    counts = {mode: int(pairs_at(places, mode=mode).count) for mode in MODES}
    assert counts == {"gather": 1, "scatter": 5, "mean_support": 3, "mean_kernel": 5}


def test_calibration_divides_every_form():
    plain, calibrated = (pairs_at([[0.3, 0.2], [0.0, 0.0]], calibration=factor) for factor in (1.0, 1.25))
    for form in ("value", "gradient", "radial_laplacian", "hessian", "support_derivative"):
        torch.testing.assert_close(getattr(calibrated, form)(), getattr(plain, form)() / 1.25)


@pytest.mark.parametrize("factor", [0.0, -1.0, math.nan, math.inf])
def test_a_factor_that_cannot_divide(factor):
    with pytest.raises(ValueError, match="the calibration factor must be finite and positive"):
        pairs_at([[0.5]], calibration=factor)


def test_a_cusp_has_no_hessian(monkeypatch):
    cusp = smoothing.SmoothingFunction((smoothing.Term(1, 3),), (smoothing.Term(1, 3),), (2.0, 1.0, 1.0))
    monkeypatch.setitem(smoothing.SMOOTHING_FUNCTIONS, "cusp", cusp)
    arguments = setup(at([[0.0]]), at([[0.4]]), function="cusp")
    assert float(density(**arguments)) == pytest.approx(2 * 0.6**3)
    with pytest.raises(ValueError, match="cusp has no Hessian at the origin: its k'\\(0\\) is -3, it must be 0"):
        density_hvp(**arguments)
