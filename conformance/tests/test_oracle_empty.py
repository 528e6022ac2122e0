"""The oracle on sets without particles, and on particles without neighbours."""

import dataclasses

import pytest
import torch
from oracle_sets import MODES, at, irregular, random, setup

from tapecheck.oracles import (
    Corrections,
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
    minimum_image,
    pair_mask,
    renormalization,
)


def particles(dimension, count):
    chosen = irregular(dimension, per_axis=2)
    names = ("positions", "supports", "masses", "kinds", "densities")
    return Particles(**{name: getattr(chosen, name)[:count] for name in names})


def results(arguments, f_i, f_j):
    """Every operator of vector fields, with all corrections where it has a place for them."""
    crk = crk_correction(**arguments)
    matrix = renormalization(**arguments, crk=crk)
    omega, reference_omega = grad_h(**arguments), grad_h(**arguments | {"query": arguments["reference"]})
    both = Corrections(crk, matrix, omega, reference_omega)
    fields = {"query_field": f_i, "reference_field": f_j}
    values = {
        "density": density(**arguments),
        "interpolate": interpolate(**arguments, reference_field=f_j, crk=crk),
        "covariance": covariance(**arguments, crk=crk)[0],
        "crk-volume": crk_volume(**arguments),
        "crk-density": crk_density(**arguments, crk=crk),
        "hvp": density_hvp(**arguments, query_tangent=f_i, reference_tangent=f_j),
    }
    for scheme in ("naive", "difference", "summation", "symmetric"):
        values |= {
            f"gradient-{scheme}": gradient(**arguments, **fields, scheme=scheme, corrections=both),
            f"divergence-{scheme}": divergence(**arguments, **fields, scheme=scheme, corrections=both),
        }
        if f_j.shape[1] > 1:
            values[f"curl-{scheme}"] = curl(**arguments, **fields, scheme=scheme, corrections=both)
    for scheme in ("naive", "brookshaw", "dot"):
        corrections = Corrections(omega=omega) if scheme == "naive" else both
        values[f"laplacian-{scheme}"] = laplacian(**arguments, **fields, scheme=scheme, corrections=corrections)
    return values, {"a": crk.a, "b": crk.b, "grad_a": crk.grad_a, "grad_b": crk.grad_b, "l": matrix, "omega": omega}


@pytest.mark.parametrize(("queries", "references"), [(0, 2), (2, 0), (0, 0)])
@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("mode", MODES)
def test_empty_sets(mode, dimension, queries, references):
    query, reference = particles(dimension, queries), particles(dimension, references)
    leaves = [
        getattr(one, name).clone().requires_grad_()
        for one in (query, reference)
        for name in ("positions", "supports", "masses", "densities")
    ]
    leaves += [random(count, dimension).requires_grad_() for count in (queries, references)]

    def call(*leaves):
        query = Particles(leaves[0], leaves[1], leaves[2], torch.zeros(queries, dtype=torch.int32), leaves[3])
        reference = Particles(leaves[4], leaves[5], leaves[6], torch.zeros(references, dtype=torch.int32), leaves[7])
        values, corrections = results(setup(query, reference, support_mode=mode), *leaves[8:])
        return tuple(values.values()) + tuple(corrections.values())

    values, corrections = results(setup(query, reference, support_mode=mode), *leaves[8:])
    d, n = dimension, queries
    shapes = {"density": (n,), "interpolate": (n, d), "covariance": (n, d, d), "crk-volume": (n,)}
    shapes |= {"crk-density": (n,), "hvp": (n, d)}
    ranks = {"gradient": (n, d, d), "divergence": (n,), "curl": (n, 3) if d == 3 else (n,), "laplacian": (n, d)}
    for name, value in values.items():
        assert tuple(value.shape) == shapes.get(name, ranks.get(name.split("-")[0])), name
        assert not value.any(), name
    identity = torch.eye(dimension).double().expand(n, d, d)
    assert torch.equal(corrections["l"], identity)
    assert torch.equal(corrections["a"], torch.ones(n).double()) and torch.equal(corrections["omega"], corrections["a"])
    for name, shape in (("b", (n, d)), ("grad_a", (n, d)), ("grad_b", (n, d, d))):
        assert tuple(corrections[name].shape) == shape and not corrections[name].any()
    assert covariance(**setup(query, reference))[1].tolist() == [0] * n

    outputs = call(*leaves)
    total = sum((output.sum() for output in outputs), torch.zeros(()).double())
    gradients = torch.autograd.grad(total, leaves, create_graph=True, allow_unused=True, materialize_grads=True)
    assert all(
        not gradient.any() and gradient.shape == leaf.shape for gradient, leaf in zip(gradients, leaves, strict=True)
    )
    again = sum((gradient.sum() for gradient in gradients), torch.zeros(()).double())
    if again.requires_grad:
        torch.autograd.grad(again, leaves, allow_unused=True)
    _, tangents = torch.func.jvp(call, tuple(leaves), tuple(torch.ones_like(leaf) for leaf in leaves))
    for tangent, output in zip(tangents, outputs, strict=True):
        assert tangent.shape == output.shape and not tangent.any()


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_scalar_fields_and_masks(dimension):
    none, some = particles(dimension, 0), particles(dimension, 2)
    domain = setup(none, some)["domain"]
    assert minimum_image(none.positions, some.positions, domain).shape == (0, 2, dimension)
    assert pair_mask(none.kinds, some.kinds, direction="all_to_all").shape == (0, 2)
    for query, reference in ((none, some), (some, none)):
        fields = {"query_field": random(len(query.masses)), "reference_field": random(len(reference.masses))}
        observed = gradient(**setup(query, reference), **fields, scheme="difference")
        assert observed.shape == (len(query.masses), dimension) and not observed.any()
        observed = gradient(**setup(query, reference), reference_field=fields["reference_field"], scheme="naive")
        assert observed.shape == (len(query.masses), dimension) and not observed.any()


def test_a_large_support_is_no_error_where_there_is_no_pair():
    domain = type(setup(particles(1, 0), particles(1, 0))["domain"])([0.0], [1.0], [True])
    assert density(**setup(particles(1, 2), particles(1, 0), domain)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("mode", MODES)
def test_a_particle_without_neighbours_beside_others(mode):
    """Far references in another population: its row is that of no references, the other rows do not change."""
    query, reference = at([[0.2, 0.1], [30.0, 0.0], [0.6, 0.7]], support=1.5), irregular(2)
    query = dataclasses.replace(query, positions=query.positions.requires_grad_())
    f_i, f_j = random(3, 2), random(16, 2, seed=1)
    values, corrections = results(setup(query, reference, support_mode=mode), f_i, f_j)
    kept = [0, 2]
    few = Particles(
        query.positions[kept], query.supports[kept], query.masses[kept], query.kinds[kept], query.densities[kept]
    )
    same, same_corrections = results(setup(few, reference, support_mode=mode), f_i[kept], f_j)
    for name, value in (values | corrections).items():
        torch.testing.assert_close(value[kept], (same | same_corrections)[name], msg=name)
    for name, value in values.items():
        assert not value[1].any(), name
    assert corrections["a"][1] == 1 and torch.equal(corrections["l"][1], torch.eye(2).double())
    total = sum(value.sum() for value in (values | corrections).values())
    (slope,) = torch.autograd.grad(total, query.positions)
    assert bool(slope.isfinite().all()) and not slope[1].any()
