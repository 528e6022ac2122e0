"""What the operators tend to: signs, factors and shapes on linear and quadratic fields of a fine lattice."""

import pytest
import torch
from brute_force import near

import sphweft as sw

LINEAR = torch.tensor([[0.7, -0.4, 0.3], [0.2, 0.5, -0.6], [-0.1, 0.8, 0.9]], dtype=torch.float64)
"""∂f_a/∂x_b of the linear field."""
CURVED = torch.tensor([[0.5, -0.3, 0.2], [-0.3, 0.4, 0.1], [0.2, 0.1, -0.6]], dtype=torch.float64)


class Lattice:
    """Particles on a lattice, and one among them whose neighbours are all there."""

    def __init__(self, dimension: int, reach: float = 4.5) -> None:
        steps = torch.arange(-5, 6, dtype=torch.float64)
        self.positions = torch.cartesian_prod(*[steps] * dimension).reshape(-1, dimension)
        ones = torch.ones(len(self.positions), dtype=torch.float64)
        supports = torch.full_like(ones, reach)
        self.middle = len(ones) // 2
        self.adjacency = near(self.positions, supports)
        self.state = sw.ParticleState(self.positions, supports, ones, torch.zeros_like(ones, dtype=torch.int32), ones)

    def at_the_middle(self, operator, values, **choices):
        properties = sw.OperationProperties(**choices)
        return operator(self.state, values, self.adjacency, properties=properties)[self.middle]


@pytest.fixture(scope="module", params=[2, 3], ids=["2d", "3d"])
def lattice(request):
    return Lattice(request.param)


@pytest.mark.parametrize("scheme", list(sw.GradientScheme), ids=lambda scheme: scheme.name.lower())
def test_first_derivatives_of_a_linear_field(lattice, scheme):
    d = lattice.state.dimension
    slope = LINEAR[:d, :d]
    values = lattice.positions @ slope.T
    gradient = lattice.at_the_middle(sw.gradient, values, gradient_scheme=scheme)
    torch.testing.assert_close(gradient, slope, rtol=0.02, atol=0.01)
    divergence = lattice.at_the_middle(sw.divergence, values, gradient_scheme=scheme)
    torch.testing.assert_close(divergence, gradient.trace(), rtol=1e-12, atol=1e-12)
    curl = lattice.at_the_middle(sw.curl, values, gradient_scheme=scheme)
    turned = gradient.T - gradient  # ∂_a f_b - ∂_b f_a
    due = turned[0, 1] if d == 2 else torch.stack([turned[1, 2], turned[2, 0], turned[0, 1]])
    torch.testing.assert_close(curl, due, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scheme", [sw.LaplacianScheme.NAIVE, sw.LaplacianScheme.BROOKSHAW], ids=["naive", "brookshaw"])
def test_laplacian_of_a_quadratic_field(lattice, scheme):
    d = lattice.state.dimension
    values = torch.einsum("na,ab,nb->n", lattice.positions, CURVED[:d, :d], lattice.positions) / 2
    found = lattice.at_the_middle(sw.laplacian, values, laplacian_scheme=scheme)
    torch.testing.assert_close(found, CURVED[:d, :d].trace(), rtol=0.05, atol=0.02)


def test_dot_laplacian_is_the_gradient_of_the_divergence(lattice):
    d = lattice.state.dimension
    x = lattice.positions
    values = torch.stack([CURVED[0, a] * x[:, 0] * x[:, a] + CURVED[a, a] * x[:, a] ** 2 for a in range(d)], 1)
    first = CURVED[0, :d].clone()
    first[0] *= 2  # ∇(x₀ Σ c_a (1 + δ_a0)) is along x₀ alone
    due = 2 * CURVED[:d, :d].diagonal().clone()
    due[0] += first.sum()
    found = lattice.at_the_middle(sw.laplacian, values, laplacian_scheme=sw.LaplacianScheme.DOT)
    torch.testing.assert_close(found, due, rtol=0.05, atol=0.02)


def test_covariance_of_a_lattice_is_the_unit_matrix_and_counts_pairs_in_support(lattice):
    matrix, count = sw.covariance(lattice.state, lattice.adjacency)
    unit = torch.eye(lattice.state.dimension, dtype=torch.float64)
    torch.testing.assert_close(matrix[lattice.middle], unit, rtol=0.02, atol=0.01)
    within = (lattice.positions - lattice.positions[lattice.middle]).norm(dim=1) <= 4.5
    assert int(count[lattice.middle]) == int(within.sum())


def test_fields_of_any_rank_are_rows_of_vectors(lattice):
    d = lattice.state.dimension
    values = torch.rand(
        len(lattice.positions), 2, 3, d, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    whole = {name: getattr(sw, name)(lattice.state, values, lattice.adjacency) for name in ("divergence", "curl")}
    for row in range(2):
        for column in range(3):
            part = values[:, row, column].contiguous()
            for name, found in whole.items():
                alone = getattr(sw, name)(lattice.state, part, lattice.adjacency)
                torch.testing.assert_close(found[:, row, column], alone, rtol=1e-12, atol=1e-12)
