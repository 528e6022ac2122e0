"""The oracle's corrections: exact for linear fields, the identity where they are rejected."""

import dataclasses

import pytest
import torch
from oracle_sets import FUNCTIONS, MODES, at, irregular, random, setup

from tapecheck.oracles import (
    Corrections,
    Crk,
    covariance,
    crk_correction,
    crk_density,
    crk_volume,
    density,
    divergence,
    grad_h,
    gradient,
    interpolate,
    laplacian,
    renormalization,
)
from tapecheck.oracles.corrected import corrected_gradient, corrected_value
from tapecheck.oracles.pairs import pair_up

EVERY_MODE = pytest.mark.parametrize("mode", MODES)
EVERY_DIMENSION = pytest.mark.parametrize("dimension", [1, 2, 3])
PER_AXIS = {1: 8, 2: 5, 3: 4}


def two_populations(dimension, **rules):
    """Queries that lie among irregular references."""
    reference = irregular(dimension, per_axis=PER_AXIS[dimension], seed=2)
    query = irregular(dimension, per_axis=2, seed=11, support=2.6)
    return setup(dataclasses.replace(query, positions=query.positions + 0.9), reference, **rules)


def linear(arguments, rank=1):
    """A linear field of vectors (rank 1) or tensors: what an operator takes, and its gradient."""
    dimension = arguments["query"].positions.shape[1]
    slope = random(*[dimension] * rank, dimension, seed=21) - 0.4

    def f(x):
        return torch.einsum("...a,na->n...", slope, x) + random(*[dimension] * rank, seed=22)

    return {name + "_field": f(arguments[name].positions) for name in ("query", "reference")}, slope


def volumes_of(arguments):
    """The apparent volumes of the references."""
    reference = arguments["reference"]
    return crk_volume(**arguments | {"query": reference})


@EVERY_MODE
@EVERY_DIMENSION
def test_renormalized_difference_gradient_is_exact_for_linear_fields(dimension, mode):
    arguments = two_populations(dimension, support_mode=mode, calibration=1.1)
    fields, slope = linear(arguments)
    matrix = renormalization(**arguments)
    observed = gradient(**arguments, **fields, scheme="difference", corrections=Corrections(renormalization=matrix))
    torch.testing.assert_close(observed, slope.expand_as(observed))
    observed = divergence(**arguments, **fields, scheme="difference", corrections=Corrections(renormalization=matrix))
    torch.testing.assert_close(observed, slope.trace().expand_as(observed))
    assert (matrix - torch.eye(dimension)).abs().max() > 1e-2  # there was something to correct


@EVERY_MODE
@EVERY_DIMENSION
def test_crk_is_exact_for_linear_fields(dimension, mode):
    arguments = two_populations(dimension, support_mode=mode, calibration=1.1)
    fields, slope = linear(arguments)
    volumes = volumes_of(arguments)
    crk = crk_correction(**arguments, volumes=volumes)
    observed = interpolate(**arguments, reference_field=fields["reference_field"], volumes=volumes, crk=crk)
    torch.testing.assert_close(observed, fields["query_field"])
    for scheme in ("naive", "difference", "summation"):
        observed = gradient(**arguments, **fields, scheme=scheme, volumes=volumes, corrections=Corrections(crk=crk))
        torch.testing.assert_close(observed, slope.expand_as(observed))
    assert (crk.a - 1).abs().max() > 1e-2 and crk.b.abs().max() > 1e-2


@EVERY_MODE
@EVERY_DIMENSION
def test_renormalization_after_crk_is_exact_and_needs_the_transpose(dimension, mode):
    """With other volumes than its own CRK is not exact, and C is not symmetric."""
    arguments = two_populations(dimension, support_mode=mode)
    fields, slope = linear(arguments)
    crk = crk_correction(**arguments, volumes=volumes_of(arguments))
    matrix = renormalization(**arguments, crk=crk)

    def observed(matrix):
        both = Corrections(crk=crk, renormalization=matrix)
        return gradient(**arguments, **fields, scheme="difference", corrections=both)

    torch.testing.assert_close(observed(matrix), slope.expand_as(observed(matrix)))
    assert (observed(None) - slope).abs().max() > 1e-2
    if dimension > 1:
        assert (observed(matrix.mT) - slope).abs().max() > 1e-3


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_reproduces_linear_fields(function):
    arguments = two_populations(2, function=function, support_mode="mean_kernel")
    fields, slope = linear(arguments, rank=2)
    volumes = volumes_of(arguments)
    crk = crk_correction(**arguments, volumes=volumes)
    matrix = renormalization(**arguments)
    observed = gradient(**arguments, **fields, scheme="naive", volumes=volumes, corrections=Corrections(crk=crk))
    torch.testing.assert_close(observed, slope.expand_as(observed))
    observed = gradient(**arguments, **fields, scheme="difference", corrections=Corrections(renormalization=matrix))
    torch.testing.assert_close(observed, slope.expand_as(observed))


@EVERY_MODE
@EVERY_DIMENSION
def test_crk_derivatives_are_those_of_its_coefficients(dimension, mode):
    """∂A, ∂B and ∇W^R against torch's derivatives by the query's position, all else held."""
    arguments = two_populations(dimension, support_mode=mode)
    volumes = volumes_of(arguments)

    def at_query(positions):
        moved = arguments | {"query": dataclasses.replace(arguments["query"], positions=positions)}
        crk = crk_correction(**moved, volumes=volumes)
        return crk.a, crk.b, corrected_value(pair_up(**moved), crk)

    query = arguments["query"].positions
    by_a, by_b, by_value = torch.func.jacrev(at_query)(query)
    each = torch.arange(len(query))
    crk = crk_correction(**arguments, volumes=volumes)
    torch.testing.assert_close(crk.grad_a, by_a[each, each])
    torch.testing.assert_close(crk.grad_b, by_b[each, :, each].mT)  # the derivative's index first
    torch.testing.assert_close(corrected_gradient(pair_up(**arguments), crk), by_value[each, :, each])


def test_crk_moments_of_the_corrected_kernel():
    """Σ V W^R = 1, Σ V W^R x = 0, Σ V ∇W^R = 0, Σ V x ∇W^R = -1: Σ V x_j ∇W^R is the identity."""
    arguments = two_populations(3, support_mode="mean_support")
    volumes = volumes_of(arguments)
    crk = crk_correction(**arguments, volumes=volumes)
    pairs = pair_up(**arguments)
    weight, slope = volumes * corrected_value(pairs, crk), volumes[:, None] * corrected_gradient(pairs, crk)
    torch.testing.assert_close(weight.sum(1), torch.ones(8).double())
    torch.testing.assert_close((weight[..., None] * pairs.x).sum(1), torch.zeros(8, 3).double())
    torch.testing.assert_close(slope.sum(1), torch.zeros(8, 3).double())
    outer = torch.einsum("nma,nmb->nab", pairs.x, slope)
    torch.testing.assert_close(outer, -torch.eye(3).double().expand(8, 3, 3))
    torch.testing.assert_close(covariance(**arguments, volumes=volumes, crk=crk)[0], -outer)


def test_laplacians_use_the_corrected_gradient():
    arguments = two_populations(2)
    fields, _ = linear(arguments)
    crk, matrix = crk_correction(**arguments), renormalization(**arguments, crk=crk_correction(**arguments))
    pairs = pair_up(**arguments)
    nabla = torch.einsum("nab,nmb->nma", matrix, corrected_gradient(pairs, crk))
    volume = arguments["reference"].masses / arguments["reference"].densities
    f = volume * (nabla * pairs.x).sum(-1) / pairs.r**2 * pairs.selected
    delta = fields["reference_field"][None] - fields["query_field"][:, None]
    omega = 0.8 + random(4)
    corrections = Corrections(crk=crk, renormalization=matrix, omega=omega)
    expected = -2 * torch.einsum("nm,nma->na", f, delta) / omega[:, None]
    observed = laplacian(**arguments, **fields, scheme="brookshaw", corrections=corrections)
    torch.testing.assert_close(observed, expected)
    along = (delta * pairs.x).sum(-1, keepdim=True) * pairs.x / pairs.r[..., None] ** 2
    expected = torch.einsum("nm,nma->na", f, delta - 4 * along) / omega[:, None]
    torch.testing.assert_close(laplacian(**arguments, **fields, scheme="dot", corrections=corrections), expected)


@EVERY_MODE
def test_a_constant_field_stays_constant_with_omega(mode):
    particles = irregular(2)
    arguments = setup(particles, particles, support_mode=mode)
    particles = dataclasses.replace(particles, densities=density(**arguments))
    arguments = setup(particles, particles, support_mode=mode)
    omega = grad_h(**arguments)
    constant = torch.full((16, 3), 4.2).double()
    fields = {"query_field": constant, "reference_field": constant}
    observed = gradient(**arguments, **fields, scheme="difference", corrections=Corrections(omega=omega))
    assert not observed.any()
    if mode == "gather":  # Ω of the whole space is near 1, at an edge it is not
        assert 0.1 < float((omega - 1).abs().max()) < 1


def test_volume_is_the_inverse_of_the_number_density_in_every_mode():
    arguments = two_populations(2, support_mode="gather")
    unit = dataclasses.replace(arguments["reference"], masses=torch.ones(25).double())
    expected = 1 / density(**arguments | {"reference": unit})
    for mode in MODES:
        observed = crk_volume(**two_populations(2, support_mode=mode))
        torch.testing.assert_close(observed, expected)


def test_diagnostic_density_of_a_uniform_fluid():
    arguments = two_populations(2)
    volumes = volumes_of(arguments)
    crk = crk_correction(**arguments, volumes=volumes)
    uniform = arguments | {"reference": dataclasses.replace(arguments["reference"], masses=3.5 * volumes)}
    torch.testing.assert_close(crk_density(**uniform, volumes=volumes, crk=crk), torch.full((4,), 3.5).double())


LINE = [[0.0, 0.0], [0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.4, 0.4]]
CLOUD = [[10.0, 0.0], [10.4, 0.1], [10.1, 0.5], [9.6, 0.1], [9.9, -0.45]]
PAIR = [[20.0, 0.0], [20.3, 0.1]]
ALONE = [[30.0, 0.0]]
SAME = [[40.0, 0.0]] * 4
PLACES = torch.tensor(LINE + CLOUD + PAIR + ALONE + SAME, dtype=torch.float64)
CRK_ACCEPTS = [False] * 5 + [True] * 5 + [False] * 7
RENORMALIZATION_ACCEPTS = [True] * 10 + [False] * 7  # those on a line have a pseudo-inverse


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1.0, 1e3, 1e9])
@EVERY_MODE
def test_what_is_rejected_does_not_depend_on_the_unit(unit, mode):
    particles = at(PLACES, support=1.0)
    scaled = dataclasses.replace(
        particles,
        positions=unit * particles.positions,
        supports=unit * particles.supports,
        densities=particles.densities / unit**2,
    )
    domain = type(setup(particles, particles)["domain"])([-50 * unit] * 2, [50 * unit] * 2, [False] * 2)
    arguments = setup(scaled, scaled, domain, support_mode=mode)
    crk, matrix = crk_correction(**arguments, volumes=volumes_of(arguments)), renormalization(**arguments)
    assert ((crk.a != 1) | crk.b.any(1)).tolist() == CRK_ACCEPTS
    assert (matrix != torch.eye(2)).any(-1).any(-1).tolist() == RENORMALIZATION_ACCEPTS
    plain = setup(particles, particles, support_mode=mode)
    same = crk_correction(**plain, volumes=volumes_of(plain))
    torch.testing.assert_close(crk.a, same.a, rtol=1e-9, atol=0)
    torch.testing.assert_close(unit * crk.b, same.b, rtol=1e-8, atol=1e-9)
    torch.testing.assert_close(matrix, renormalization(**plain), rtol=1e-8, atol=1e-8)


def test_rejected_rows_are_constants():
    particles = at(PLACES, support=1.0)
    leaves = [particles.positions, particles.supports, particles.masses, particles.densities]

    def corrections(positions, supports, masses, densities):
        arguments = setup(
            dataclasses.replace(particles, positions=positions, supports=supports, masses=masses, densities=densities),
            None,
        )
        arguments["reference"] = arguments["query"]
        crk, matrix = crk_correction(**arguments), renormalization(**arguments)
        rejected = ~torch.tensor(CRK_ACCEPTS)
        low = ~torch.tensor(RENORMALIZATION_ACCEPTS)
        return crk.a[rejected], crk.b[rejected], crk.grad_a[rejected], crk.grad_b[rejected], matrix[low]

    a, b, grad_a, grad_b, matrix = corrections(*leaves)
    assert torch.equal(a, torch.ones(12).double())
    assert not b.any() and not grad_a.any() and not grad_b.any()
    assert torch.equal(matrix, torch.eye(2).double().expand(7, 2, 2))
    for by_leaf in torch.func.jacrev(corrections, argnums=(0, 1, 2, 3))(*leaves):
        assert all(torch.equal(part, torch.zeros_like(part)) for part in by_leaf)
    _, tangents = torch.func.jvp(corrections, tuple(leaves), tuple(random(*leaf.shape) for leaf in leaves))
    assert all(torch.equal(part, torch.zeros_like(part)) for part in tangents)


def test_gradients_of_sets_with_rejected_rows_are_finite():
    particles = at(PLACES, support=1.0)
    positions = particles.positions.clone().requires_grad_()
    moved = dataclasses.replace(particles, positions=positions)
    arguments = setup(moved, moved)
    volumes = volumes_of(arguments)
    crk = crk_correction(**arguments, volumes=volumes)
    both = Corrections(crk=crk, renormalization=renormalization(**arguments, volumes=volumes, crk=crk))
    f = random(17)
    value = gradient(
        **arguments, query_field=f, reference_field=f, scheme="difference", volumes=volumes, corrections=both
    )
    (first,) = torch.autograd.grad((value**2).sum(), positions, create_graph=True)
    (second,) = torch.autograd.grad((first**2).sum(), positions)
    assert bool(first.isfinite().all()) and bool(second.isfinite().all())


def test_what_a_divides_by_is_looked_at_too():
    """Two references in one place fix m2 in one dimension, and yet cannot reproduce a constant and a slope."""
    arguments = setup(at([[0.0]]), at([[0.4], [0.4]]))
    crk = crk_correction(**arguments)
    assert crk.a.tolist() == [1.0] and not crk.b.any()


@pytest.mark.parametrize("count", [3, 4])
def test_renormalization_counts_pairs_in_support_the_cutoff_included(count):
    places = [[0.0, 0.0], [0.5, 0.0], [0.0, 0.5], [1.0, 0.0]][:count]
    matrix = renormalization(**setup(at([[0.0, 0.0]]), at(places)))
    assert torch.equal(matrix[0], torch.eye(2).double()) == (count == 3)


def test_a_masked_query_has_the_identity():
    particles = dataclasses.replace(irregular(2), kinds=torch.arange(16) % 4)
    arguments = setup(particles, particles, direction="all_to_fluid")
    masked = particles.kinds != 0
    crk, matrix = crk_correction(**arguments), renormalization(**arguments)
    assert torch.equal(crk.a[masked], torch.ones(12).double()) and not crk.b[masked].any()
    assert torch.equal(matrix[masked], torch.eye(2).double().expand(12, 2, 2))
    assert torch.equal(grad_h(**arguments)[masked], torch.ones(12).double())
    assert not crk_volume(**arguments)[masked].any() and not crk_density(**arguments, crk=crk)[masked].any()
    kept = dataclasses.replace(
        particles,
        **{
            name: getattr(particles, name)[particles.kinds != 2]
            for name in ("positions", "supports", "masses", "kinds", "densities")
        },
    )
    plain = setup(particles, kept, direction="unmasked")
    same = crk_correction(**plain)
    for part in ("a", "b", "grad_a", "grad_b"):
        torch.testing.assert_close(getattr(crk, part)[~masked], getattr(same, part)[~masked])
    torch.testing.assert_close(matrix[~masked], renormalization(**plain)[~masked])


def test_nothing_of_the_callers_is_changed():
    arguments = two_populations(2)
    fields, _ = linear(arguments)
    before = [
        value.clone() for name in ("query", "reference") for value in dataclasses.asdict(arguments[name]).values()
    ]
    crk = crk_correction(**arguments)
    kept = Crk(*(part.clone() for part in dataclasses.asdict(crk).values()))
    matrix = renormalization(**arguments, crk=crk)
    gradient(**arguments, **fields, scheme="difference", corrections=Corrections(crk, matrix, random(4)))
    after = [value for name in ("query", "reference") for value in dataclasses.asdict(arguments[name]).values()]
    assert all(map(torch.equal, before, after))
    assert all(map(torch.equal, dataclasses.asdict(kept).values(), dataclasses.asdict(crk).values()))
