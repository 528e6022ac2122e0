"""The neighbour search against brute force in plain torch, in the same precision: the same pairs, to the last one."""

import itertools
import math
import re
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sphweft import (
    AdjacencyList,
    DomainDescription,
    InputError,
    OperationProperties,
    ParticleState,
    SupportMode,
    runtime,
)
from sphweft.neighbors import HashGrid, NeighborList, neighbor_list
from sphweft.runtime import LARGE, fresh_indices

DTYPES = (torch.float32, torch.float64)


def particles(positions, supports, dtype=torch.float64):
    positions = torch.as_tensor(positions, dtype=torch.float64).to(dtype)
    count = len(positions)
    supports = torch.as_tensor(supports, dtype=torch.float64).expand(count).to(dtype)
    return ParticleState(positions, supports, torch.ones(count, dtype=dtype), torch.zeros(count, dtype=torch.int32))


def scattered(count, dimension, radius, dtype=torch.float64, seed=0, low=0.0, high=1.0):
    """Particles at random, supports from half the radius to the radius."""
    generator = torch.Generator().manual_seed(seed)
    uniform = torch.rand(count, dimension + 1, generator=generator, dtype=torch.float64)
    return particles(low + (high - low) * uniform[:, :-1], radius * (0.5 + 0.5 * uniform[:, -1]), dtype)


def box(dimension, *periodic, low=0.0, high=1.0):
    return DomainDescription([low] * dimension, [high] * dimension, periodic)


def reach(query, reference, mode, margin=0.0):
    h_i, h_j = query.supports[:, None], reference.supports[None]
    radii = {
        SupportMode.GATHER: h_i.expand(-1, h_j.shape[1]),
        SupportMode.SCATTER: h_j.expand(h_i.shape[0], -1),
        SupportMode.MEAN_SUPPORT: 0.5 * (h_i + h_j),
        SupportMode.MEAN_KERNEL: torch.maximum(h_i, h_j),
    }
    return radii[mode] + margin


def distances(query, reference, domain=None):
    """r as operators have it, an axis at a time."""
    square = torch.zeros(query.count, reference.count, dtype=query.positions.dtype)
    for axis in range(query.dimension):
        x = query.positions[:, None, axis] - reference.positions[None, :, axis]
        if domain is not None and domain.periodic[axis]:
            low, high, _ = domain.tensors(x.dtype, x.device)
            period = (high - low)[0, axis]
            x = x - period * torch.floor(x / period + 0.5)
        square = square + x * x
    # torch's square root is not correctly rounded where it goes through vendor libraries
    return torch.from_numpy(np.sqrt(square.numpy()))


def assert_exact(query, reference=None, domain=None, mode=SupportMode.GATHER, margin=0.0):
    properties = OperationProperties(support_mode=mode)
    found = neighbor_list(query, reference, domain=domain, properties=properties, margin=margin)
    source = query if reference is None else reference
    i, j = (distances(query, source, domain) <= reach(query, source, mode, margin)).nonzero().T
    assert torch.equal(found.counts.long(), torch.bincount(i, minlength=query.count))
    assert torch.equal(found.offsets.long(), found.counts.long().cumsum(0) - found.counts)
    assert torch.equal(found.neighbors.long(), j)
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", SupportMode)
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_modes(dimension, mode, dtype):
    radius = {1: 0.02, 2: 0.08, 3: 0.2}[dimension]
    one, other = (scattered(count, dimension, radius, dtype, seed) for seed, count in enumerate((400, 300)))
    assert_exact(one, mode=mode)
    assert_exact(one, other, mode=mode, margin=0.3 * radius)
    assert_exact(one, other, box(dimension, *[True] * dimension), mode)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("radius", [0.5, 0.4, 0.34, 0.33, 0.3, 0.24, 0.1])
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_few_cells_an_axis(dimension, radius, dtype):
    state = scattered(150, dimension, radius, dtype, low=-1.0, high=2.0)  # unwrapped as well
    for periodic in itertools.product((False, True), repeat=dimension):
        assert_exact(state, domain=box(dimension, *periodic), mode=SupportMode.SCATTER)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset", [-1e6, -3.0, 1e6])
@pytest.mark.parametrize("periodic", [False, True])
def test_far_and_negative(offset, dtype, periodic):
    size = 64.0
    state = scattered(500, 3, 10.0, dtype, low=offset, high=offset + size)
    assert_exact(state, domain=box(3, *[periodic] * 3, low=offset, high=offset + size))
    assert_exact(state, domain=box(3, *[periodic] * 3, low=0.0, high=size))


def test_a_fine_grid_in_single_precision():
    state = scattered(3000, 1, 4e-6, torch.float32)
    for domain in (None, box(1, True)):
        assert_exact(state, domain=domain)
        assert_exact(
            particles(state.positions.double() + torch.randint(-3, 4, (3000, 1)), 4e-6, torch.float32), None, domain
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spacing", [0.125, 0.1, 1 / 7])
@pytest.mark.parametrize("reached", [1.0, 2.0, math.sqrt(2), math.sqrt(5)])
def test_lattices_at_the_cutoff(spacing, reached, dtype):
    side = round(1 / spacing)
    axis = torch.arange(side, dtype=torch.float64) * spacing
    lattice = torch.cartesian_prod(axis, axis)
    state = particles(lattice, reached * spacing, dtype)
    found = assert_exact(state)
    if spacing == 0.125 and reached == 2.0:
        assert int(found.counts.max()) == 13
    assert_exact(particles(torch.cartesian_prod(axis, axis, axis), reached * spacing, dtype))
    assert_exact(state, domain=box(2, True, True))
    assert_exact(particles(lattice - 0.5, reached * spacing, dtype), domain=box(2, True, False))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("origin", [0.0, 0.3, -7.1])
def test_at_the_seam(origin, dtype):
    """Positions a rounding below the lower face, at it, and at the upper one."""
    at = torch.tensor([0.0, -1e-9, -1e-30, 1.0, 1 - 1e-9, 2.0, -1.0, 0.5, 0.2499999, 0.75]).double() + origin
    for radius in (0.5, 0.25, 0.1):
        assert_exact(particles(at[:, None], radius, dtype), domain=box(1, True, low=origin, high=origin + 1))
        assert_exact(
            particles(torch.cartesian_prod(at, at, at), radius, dtype),
            domain=box(3, True, True, True, low=origin, high=origin + 1),
        )


@pytest.mark.parametrize("count", [1, 40, 700])
def test_all_in_one_point(count):
    found = assert_exact(particles(torch.full((count, 3), 0.25), 0.1))
    assert int(found.counts.min()) == count


def test_long_rows_are_sorted():
    assert_exact(scattered(1500, 2, 3.0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("most", [1, 2, 3, 6])
def test_more_neighbours_than_there_is_room_for_notes(most, dtype, monkeypatch):
    monkeypatch.setattr("sphweft.neighbors.search.MOST_NOTES", most)
    for dimension, radius in ((1, 0.05), (2, 0.15), (3, 0.3)):
        state, domain = scattered(500, dimension, radius, dtype), box(dimension, *[True] * dimension)
        assert_exact(state, domain=domain, margin=0.1 * radius)
    far = 1e6 * torch.rand(50, 1, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    state = particles((far + torch.linspace(0, 1, 12)[:, None]).reshape(-1, 3), 0.8, dtype)
    assert_exact(state)
    assert HashGrid(state.positions, 0.8).struct.dense == 0


def test_a_crowd_among_few():
    x = torch.rand(3000, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x[::20] = 0.5 + 0.01 * x[::20]
    assert_exact(particles(x, 0.02))


@pytest.mark.parametrize("two", [False, True])
def test_threads(two):
    query, reference = scattered(20_003, 3, 0.1), scattered(17_000, 3, 0.1, seed=1) if two else None
    lists = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            lists.append(neighbor_list(query, reference, margin=0.01))
    finally:
        torch.set_num_threads(1)
    for other in lists[1:]:
        for name in ("neighbors", "offsets", "counts"):
            assert torch.equal(getattr(lists[0], name), getattr(other, name))


def test_the_order_of_particles_does_not_matter():
    state = scattered(600, 3, 0.15)
    order = torch.randperm(600, generator=torch.Generator().manual_seed(1))
    assert_exact(particles(state.positions[order], state.supports[order]))
    one, other = neighbor_list(state), neighbor_list(state)
    assert torch.equal(one.neighbors, other.neighbors)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("escape", [1e9, -1e9, 1e18, -1e30])
@pytest.mark.parametrize("domain", [None, box(3, False, False, True)])
def test_escaped(escape, dtype, domain):
    state = scattered(800, 3, 0.15, dtype)
    state.positions[17, 0] = escape
    state.positions[18, 1] = -escape
    assert_exact(state, domain=domain)
    assert HashGrid(state.positions, 0.15, domain).struct.dense == 1


def test_escaped_along_a_periodic_axis():
    for dtype in DTYPES:
        state = scattered(300, 2, 0.15, dtype)
        state.positions[17, 0] = 1e9
        assert_exact(state, domain=box(2, True, False))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("periodic", [(False,) * 3, (True, False, True)])
def test_millions_of_cells_an_axis(dtype, periodic):
    generator = torch.Generator().manual_seed(0)
    centres = 1e7 * torch.rand(200, 3, generator=generator, dtype=torch.float64) - 5e6
    cluster = 0.5 * torch.rand(200, 6, 3, generator=generator, dtype=torch.float64)
    state = particles((centres[:, None] + cluster).reshape(-1, 3), 1.0, dtype)
    domain = box(3, *periodic, low=-5e6, high=5e6)
    found = assert_exact(state, domain=domain)
    assert len(found.neighbors) > state.count
    assert HashGrid(state.positions, 1.0, domain).struct.dense == 0


def test_outside_a_box_that_is_not_periodic():
    assert_exact(scattered(300, 2, 0.2, low=-2.0, high=3.0), domain=box(2, False, True))


def test_queries_far_from_all_references():
    reference = scattered(200, 3, 0.2)
    query = particles(torch.cat([reference.positions[:50] + 0.1, reference.positions[:50] + 1e7]), 0.2)
    assert_exact(query, reference)
    assert_exact(query, reference, box(3, True, False, False))


@pytest.mark.parametrize(("support", "count"), [(1e-30, 20), (1e-22, 20), (1e19, 20)])
def test_lengths_whose_squares_underflow_or_overflow(support, count):
    for dtype in DTYPES:
        state = scattered(count, 2, support, dtype, high=3 * support)
        assert_exact(state)


@pytest.mark.parametrize(("queries", "references"), [(0, 5), (5, 0), (0, 0)])
def test_empty(queries, references):
    found = neighbor_list(scattered(queries, 2, 0.1), scattered(references, 2, 0.1))
    assert found.neighbors.shape == (0,) and found.counts.tolist() == found.offsets.tolist() == [0] * queries
    assert found.query_count == queries and found.reference_count == references
    assert not found.must_rebuild(scattered(queries, 2, 0.1), scattered(references, 2, 0.1))


def test_no_gradient_and_any_strides():
    state = scattered(100, 2, 0.2)
    positions = state.positions.T.contiguous().T.requires_grad_()
    strided = ParticleState(positions, state.supports.clone().requires_grad_(), state.masses, state.kinds)
    assert torch.equal(neighbor_list(strided).neighbors, neighbor_list(state).neighbors)
    assert not neighbor_list(strided).query.positions.requires_grad


def test_all_kinds_are_listed():
    state = scattered(50, 2, 0.3)
    state.kinds[:] = torch.arange(50) % 4
    assert_exact(state)


# The margin


def moved(state, displacement, growth=0.0):
    return ParticleState(state.positions + displacement, state.supports + growth, state.masses, state.kinds)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 1000),
    mode=st.sampled_from(SupportMode),
    two=st.booleans(),
    periodic=st.booleans(),
    dtype=st.sampled_from(DTYPES),
    step=st.floats(0, 0.05),
    growth=st.floats(-0.05, 0.05),
    image=st.booleans(),
)
def test_a_list_that_need_not_be_rebuilt_has_all_pairs(seed, mode, two, periodic, dtype, step, growth, image):
    generator = torch.Generator().manual_seed(seed)
    domain, margin = box(2, periodic, periodic), 0.05
    states = [scattered(count, 2, 0.2, dtype, seed + place) for place, count in enumerate((60, 50)[: 1 + two])]
    found = neighbor_list(*states, domain=domain, properties=OperationProperties(support_mode=mode), margin=margin)
    later = []
    for state in states:
        way = torch.randn(state.count, 2, generator=generator, dtype=torch.float64)
        way = step * way / way.norm(dim=1, keepdim=True)
        if image and periodic:
            way += torch.randint(-1, 2, way.shape, generator=generator)
        share = torch.rand(state.count, generator=generator, dtype=torch.float64)
        later.append(moved(state, way.to(dtype), (growth * share).to(dtype)))
    rebuild = found.must_rebuild(*later)
    if 2 * step + max(growth, 0) < 0.99 * margin:
        assert not rebuild
    if not rebuild:
        source = later[-1]
        near = (distances(later[0], source, domain) <= reach(later[0], source, mode)).nonzero()
        rows = torch.repeat_interleave(torch.arange(found.query_count), found.counts.long())
        listed = set(zip(rows.tolist(), found.neighbors.tolist(), strict=True))
        assert set(map(tuple, near.tolist())) <= listed


def test_must_rebuild():
    state, other = scattered(50, 2, 0.2), scattered(40, 2, 0.2, seed=1)
    one, two, bare = neighbor_list(state, margin=0.1), neighbor_list(state, other, margin=0.1), neighbor_list(state)
    assert isinstance(one, NeighborList) and not one.must_rebuild(state) and not bare.must_rebuild(state)
    step = torch.tensor([0.049, 0.0], dtype=torch.float64)
    single = torch.zeros(50, 2, dtype=torch.float64)
    single[3, 1] = 0.051
    assert not one.must_rebuild(moved(state, step)) and one.must_rebuild(moved(state, single))
    assert not two.must_rebuild(moved(state, 1.9 * step), other) and two.must_rebuild(moved(state, 2.1 * step), other)
    assert not two.must_rebuild(moved(state, step), moved(other, step))
    assert one.must_rebuild(moved(state, step, 0.01)) and not one.must_rebuild(moved(state, step, -0.01))
    assert bare.must_rebuild(moved(state, 1e-9)) and one.must_rebuild(moved(state, math.nan))
    assert one.must_rebuild(scattered(51, 2, 0.2)) and one.must_rebuild(scattered(50, 2, 0.2, torch.float32))


@pytest.mark.parametrize("mode", SupportMode)
def test_a_support_that_is_not_a_number_asks_for_a_search(mode):
    state, other = scattered(50, 2, 0.2), scattered(40, 2, 0.2, seed=1)
    found = neighbor_list(state, other, properties=OperationProperties(support_mode=mode), margin=0.1)
    assert found.must_rebuild(moved(state, 0.0, math.nan), other)
    assert found.must_rebuild(state, moved(other, 0.0, math.nan))


def test_the_list_keeps_its_own_positions():
    state = scattered(50, 2, 0.2)
    found = neighbor_list(state, margin=0.01)
    state.positions.add_(0.02)
    assert found.must_rebuild(state)


# Errors


GOOD = scattered(10, 2, 0.2)


def spoilt(**changes):
    positions, supports = GOOD.positions.clone(), GOOD.supports.clone()
    if "at" in changes:
        positions[4, 1] = changes["at"]
    if "support" in changes:
        supports[7] = changes["support"]
    return ParticleState(positions, supports, GOOD.masses, GOOD.kinds)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        (
            r"query\.positions: expected values that are finite, got another one at particle 4",
            {"query": spoilt(at=math.nan)},
        ),
        (r"query\.positions: expected values that are finite", {"query": spoilt(at=-math.inf)}),
        (r"reference\.positions: expected values that are finite", {"reference": spoilt(at=math.inf)}),
        (
            r"query\.supports: expected values that are finite and positive, got another one at particle 7",
            {"query": spoilt(support=0.0)},
        ),
        (r"query\.supports: expected values that are finite and positive", {"query": spoilt(support=math.nan)}),
        (r"reference\.supports: expected values that are finite and positive", {"reference": spoilt(support=-1.0)}),
        (r"reference\.supports: expected values that are finite and positive", {"reference": spoilt(support=math.inf)}),
        (r"margin: expected a finite length, not negative, got -0\.1", {"margin": -0.1}),
        (r"margin: expected a finite length, not negative, got nan", {"margin": math.nan}),
        (r"margin: expected a finite length, not negative, got inf", {"margin": math.inf}),
        (r"margin: expected a finite length, not negative, got '1'", {"margin": "1"}),
        (
            r"supports: expected a search radius, with margin, of at most half the shortest .* side, 0\.5, got 0\.6",
            {"query": spoilt(support=0.6), "domain": box(2, False, True)},
        ),
        (r"supports: expected a search radius, with margin", {"margin": 0.4, "domain": box(2, True, True)}),
        (r"reference: expected 2 dimensions, as query, got 3", {"reference": scattered(4, 3, 0.1)}),
        (r"reference: expected dtype torch\.float64, as query", {"reference": scattered(4, 2, 0.1, torch.float32)}),
        (r"reference: expected a ParticleState", {"reference": GOOD.positions}),
        (r"query: expected a ParticleState", {"query": GOOD.positions}),
        (r"domain: expected 2 axes, as the positions, got 3", {"domain": box(3, True, True, True)}),
        (r"domain: expected a DomainDescription", {"domain": [0, 1]}),
        (r"properties: expected an OperationProperties", {"properties": SupportMode.GATHER}),
    ],
)
def test_errors(message, call):
    with pytest.raises(InputError, match=f"^{message}"):
        neighbor_list(**{"query": GOOD, **call})


def test_too_many_pairs():
    with pytest.raises(InputError, match="query, reference: expected fewer than 2³¹ pairs, got 2176782336"):
        neighbor_list(particles(torch.zeros(46656, 1), 1.0, torch.float32))


def test_half_a_side_is_within_reach():
    for dtype in DTYPES:
        assert_exact(
            scattered(40, 1, 0.1, dtype, high=0.2), domain=box(1, True, high=0.2), mode=SupportMode.MEAN_KERNEL
        )
        assert_exact(particles(torch.rand(40, 1), 0.1, dtype), domain=box(1, True, high=0.2))


@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan, math.inf])
def test_grid_radius(radius):
    with pytest.raises(InputError, match="radius: expected a finite positive length"):
        HashGrid(GOOD.positions, radius)


def test_a_list_prints_as_one_line():
    state = scattered(40, 2, 0.2, torch.float32)
    found = neighbor_list(state, scattered(50, 2, 0.2, torch.float32), margin=0.05)
    pairs = len(found.neighbors)
    text = f"query_count=40, reference_count=50, pairs={pairs}"
    assert repr(found) == f"NeighborList({text}, dtype=torch.float32, margin=0.05, device=cpu)"
    assert repr(AdjacencyList.empty(3, 4, found.neighbors.device)) == (
        "AdjacencyList(query_count=3, reference_count=4, pairs=0, device=cpu)"
    )


@pytest.mark.skipif(not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="the system has no large pages")
def test_large_lists_lie_in_large_pages():
    made = fresh_indices(LARGE // 4, torch.device("cpu"))
    middle = made.data_ptr() + LARGE // 2
    mapping, flags = range(0), {}
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if addresses := re.match("([0-9a-f]+)-([0-9a-f]+) ", line):
            mapping = range(*(int(address, 16) for address in addresses.groups()))
        elif line.startswith("VmFlags:"):
            flags[mapping] = line.split()
    assert [("hg" in told) for mapping, told in flags.items() if middle in mapping] == [True]


@pytest.mark.parametrize(("nbytes", "asked"), [(LARGE, 1), (LARGE - 4, 0)])
def test_large_pages_are_asked_for_large_lists_alone(monkeypatch, nbytes, asked):
    libc = MagicMock()
    monkeypatch.setattr(runtime.ctypes, "CDLL", lambda _: libc)
    fresh_indices(nbytes // 4, torch.device("cpu"))
    assert libc.madvise.call_count == asked
