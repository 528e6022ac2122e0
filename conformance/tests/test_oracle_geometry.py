"""The oracle's minimum image, and its rules of interaction."""

import math

import pytest
import torch
from oracle_sets import MODES, at, random, setup

from tapecheck.oracles import DIRECTIONS, Domain, density, minimum_image, pair_mask
from tapecheck.oracles.geometry import wrapped
from tapecheck.oracles.pairs import Particles, pair_up

UNIT = Domain([0.0], [1.0], [True])


def column(*values):
    return torch.tensor(values, dtype=torch.float64)[:, None]


def image(x, y, domain=UNIT):
    return float(minimum_image(column(x), column(y), domain))


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (0.9, 0.1, -0.2),
        (0.1, 0.9, 0.2),
        (-1e-9, 0.0, -1e-9),
        (-1e-20, 0.0, 0.0),
        (1.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.5, 0.0, -0.5),
        (0.0, 0.5, -0.5),
        (3.25, -4.5, -0.25),
        (-7.75, 12.25, 0.0),
        (0.75, 0.25, -0.5),
    ],
)
def test_minimum_image(x, y, expected):
    assert image(x, y) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-0.3, 0.4), (5.0, 5.7), (-3.0, -1.0)])
def test_wrapping_lands_inside(low, high):
    domain = Domain([low], [high], [True])
    period = high - low
    edges = [low, high, low - 1e-9, low - 1e-20, math.nextafter(low, -9), math.nextafter(high, -9)]
    edges += [low + n * period for n in range(-5, 6)] + [math.nextafter(low + n * period, -99) for n in range(-5, 6)]
    moved = wrapped(column(*edges), domain)
    assert bool((moved >= low).all()) and bool((moved < high).all())
    far = (moved - column(*edges)) / period
    assert float((far - far.round()).abs().max()) < 1e-13
    inside = [low, math.nextafter(high, -9), low + period / 3]
    assert torch.equal(wrapped(column(*inside), domain), column(*inside))


def test_an_image_lies_in_the_half_open_interval():
    domain = Domain([-0.3], [0.4], [True])
    x, y = 20 * random(300, 1) - 10, 20 * random(300, 1, seed=1) - 10
    observed = minimum_image(x, y, domain)
    assert float(observed.min()) >= -0.35 and float(observed.max()) < 0.35
    turns = (observed[..., 0] - (x - y.T)) / 0.7
    torch.testing.assert_close(turns, turns.round(), rtol=0, atol=1e-12)


def test_axes_are_periodic_one_by_one():
    domain = Domain([0.0, 0.0, -math.inf], [1.0, 1.0, math.inf], [True, False, False])
    x, y = torch.tensor([[0.9, 0.9, 0.9]]).double(), torch.tensor([[0.1, 0.1, 0.1]]).double()
    torch.testing.assert_close(minimum_image(x, y, domain)[0, 0], torch.tensor([-0.2, 0.8, 0.8]).double())


def test_wrapping_has_no_derivative():
    x, y = column(0.9, -3.0, 0.5, 1.0), column(0.1, 17.2)
    by_x, by_y = torch.func.jacrev(minimum_image, argnums=(0, 1))(x, y, UNIT)
    for i in range(4):
        for j in range(2):
            assert torch.equal(by_x[i, j, 0, :, 0], torch.eye(4).double()[i])
            assert torch.equal(by_y[i, j, 0, :, 0], -torch.eye(2).double()[j])
    value, tangent = torch.func.jvp(lambda x, y: minimum_image(x, y, UNIT), (x, y), (2 * x, 3 * y))
    assert torch.equal(value, minimum_image(x, y, UNIT))
    assert torch.equal(tangent, 2 * x[:, None] - 3 * y[None])
    assert not torch.func.jacfwd(torch.func.jacrev(lambda x: minimum_image(x, y, UNIT).sum()))(x).any()


@pytest.mark.parametrize("mode", MODES)
def test_only_the_nearest_image_counts(mode):
    domain = Domain([0.0, 0.0], [1.0, 8.0], [True, True])
    half = at([[0.1, 0.2]], support=0.5)
    assert int(pair_up(**setup(half, half, domain, support_mode=mode)).count) == 1
    large = at([[0.1, 0.2]], support=0.51)
    with pytest.raises(ValueError, match="a support of 0.51 is larger than half the period of axis 0, 0.5"):
        density(**setup(large, large, domain, support_mode=mode))
    density(**setup(large, large, Domain([0.0, 0.0], [1.0, 8.0], [False, True]), support_mode=mode))


def test_a_periodic_sum_is_that_of_the_unfolded_particles():
    inside = at(random(6, 2), support=0.45)
    images = torch.cat([inside.positions + torch.tensor([a, b]) for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0)])
    expected = density(**setup(inside, at(images, support=0.45)))
    shifted = at(inside.positions + torch.tensor([-3.0, 5.0]), support=0.45)
    torch.testing.assert_close(density(**setup(shifted, inside, Domain([0, 0], [1, 1], [True, True]))), expected)


def test_single_precision_is_refused():
    single = Particles(torch.zeros(1, 1), torch.ones(1), torch.ones(1), torch.zeros(1, dtype=torch.int32))
    with pytest.raises(TypeError, match="the oracle works in double precision; query positions are torch.float32"):
        density(**setup(single, single))


SELECTED = """
unmasked             fbgo fbgo
fluid_to_fluid       f    f
fluid_to_boundary    b    f
boundary_to_fluid    f    b
boundary_to_boundary b    b
fluid_to_ghost       g    f
ghost_to_fluid       f    g
boundary_to_ghost    g    b
ghost_to_boundary    b    g
all_to_all           fbgo fbo
all_to_ghost         g    fbo
all_to_fluid         f    fbo
all_to_boundary      b    fbo
fluid_to_all         fbo  f
boundary_to_all      fbo  b
"""
"""Direction, kinds that receive, kinds that contribute."""


@pytest.mark.parametrize("line", SELECTED.strip().splitlines(), ids=lambda line: line.split()[0])
def test_directions(line):
    direction, receivers, sources = line.split()
    kinds = torch.arange(4)
    expected = [[query in receivers and reference in sources for reference in "fbgo"] for query in "fbgo"]
    assert pair_mask(kinds, kinds, direction=direction).tolist() == expected
    everywhere = at([[0.0]] * 4, kinds=kinds)
    arguments = setup(everywhere, everywhere, direction=direction)
    assert pair_up(**arguments).count.tolist() == [sum(row) for row in expected]
    torch.testing.assert_close(density(**arguments), torch.tensor([1.25 * sum(row) for row in expected]).double())


def test_no_direction_is_forgotten():
    assert [line.split()[0] for line in sorted(SELECTED.strip().splitlines())] == sorted(DIRECTIONS)
