"""Wrong input is refused with the argument's name, before anything is launched."""

import pytest
import torch
import warp as wp

import sphweft
from sphweft import InputError, inspect
from sphweft.bridge import ExtraKind, ExtraSpec, OperatorSpec, OutputSpec, SPHContext, launch_operator


def state(case, **changes):
    positions, supports, masses, densities, _ = case.tensors
    given = {
        "positions": positions,
        "supports": supports,
        "masses": masses,
        "kinds": case.kinds,
        "densities": densities,
    }
    return sphweft.ParticleState(**{**given, **changes})


DOT = sphweft.OperationProperties(laplacian_scheme=sphweft.LaplacianScheme.DOT)
COVARIANCE = sphweft.Operation.COVARIANCE


def varied(particles, values, adjacency, **tangents):
    operation = sphweft.Operation.INTERPOLATE
    return sphweft.warp_operation_jvp(operation, particles, adjacency, values=values, **tangents)


def along(positions):
    return sphweft.ParticleTangents(positions=positions)


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("positions", lambda t: t[:, 0]),
        ("positions", lambda t: t.half()),
        ("positions", lambda t: t.numpy()),
        ("supports", lambda t: t[:-1]),
        ("masses", lambda t: t.float()),
        ("kinds", lambda t: t.long()),
        ("kinds", lambda t: None),
        ("densities", lambda t: t[:, None]),
    ],
)
def test_particles(case, name, spoil):
    good = dict(zip(("positions", "supports", "masses", "densities"), case.tensors, strict=False), kinds=case.kinds)
    with pytest.raises(InputError, match=f"^{name}: expected"):
        state(case, **{name: spoil(good[name])})


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("values: expected", lambda s, v, a: sphweft.gradient(s, v[:-1], a)),
        ("values: expected", lambda s, v, a: sphweft.interpolate(s, v.float(), a)),
        ("query_values: expected", lambda s, v, a: sphweft.gradient(s, v, a, query_values=v[:, :2])),
        ("query_values: expected", lambda s, v, a: sphweft.gradient(s, v, a, reference=s)),
        ("adjacency: expected", lambda s, v, a: sphweft.gradient(s, v, [a])),
        ("domain: expected", lambda s, v, a: sphweft.density(s, a, domain=sphweft.DomainDescription([0], [1], [True]))),
        ("validate: expected", lambda s, v, a: sphweft.density(s, a, validate="some")),
        ("values: expected trailing axes", lambda s, v, a: sphweft.interpolate(s, v[:, :0], a)),
        ("values: expected nothing", lambda s, v, a: sphweft.warp_operation(sphweft.Operation.DENSITY, s, a, values=v)),
        ("operation: expected", lambda s, v, a: sphweft.warp_operation("curl", s, a, values=v)),
        ("values: expected vectors of 2 components", lambda s, v, a: sphweft.curl(s, v, a)),
        ("values: expected vectors of 2 components", lambda s, v, a: sphweft.divergence(s, v[:, 0].contiguous(), a)),
        ("values: expected vectors of 2 components", lambda s, v, a: sphweft.laplacian(s, v, a, properties=DOT)),
        ("values: expected nothing", lambda s, v, a: sphweft.warp_operation(COVARIANCE, s, a, values=v)),
        ("values_tangent: expected", lambda s, v, a: varied(s, v, a, values_tangent=v.float())),
        ("query_positions_tangent: expected", lambda s, v, a: varied(s, v, a, query_tangents=along(s.masses))),
        ("reference_tangents: expected", lambda s, v, a: varied(s, v, a, reference_tangents=along(s.positions))),
        ("query_vectors: expected", lambda s, v, a: sphweft.warp_operation_hvp(s, a, s.masses)),
        (
            "reference_vectors: expected",
            lambda s, v, a: sphweft.warp_operation_hvp(s, a, s.positions, reference_vectors=v),
        ),
        (
            "reference_volumes: expected",
            lambda s, v, a: sphweft.gradient(
                s,
                v,
                a,
                corrections=sphweft.Corrections(reference_volumes=s.masses),
                properties=sphweft.OperationProperties(gradient_scheme=sphweft.GradientScheme.SYMMETRIC),
            ),
        ),
    ],
)
def test_calls(case, message, call):
    before = inspect.counters().get("launches", 0)
    with pytest.raises(InputError, match=message):
        call(state(case), case.tensors[4], case.adjacency)
    assert inspect.counters().get("launches", 0) == before


def test_curl_in_one_dimension(make_case):
    case = make_case(dimension=1)
    with pytest.raises(InputError, match="query.positions: expected two or three dimensions"):
        sphweft.curl(state(case), case.tensors[4][:, :1], case.adjacency)


def test_missing_densities(case):
    with pytest.raises(InputError, match="reference_densities: .* which interpolate reads.* ParticleState's fifth"):
        sphweft.interpolate(state(case, densities=None), case.tensors[4], case.adjacency)


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("query.positions", {"positions": torch.full((12, 2), torch.nan, dtype=torch.float64)}),
        ("query.supports", {"supports": torch.zeros(12, dtype=torch.float64)}),
        ("query.kinds", {"kinds": torch.full((12,), 7, dtype=torch.int32)}),
    ],
)
def test_values_are_read_on_request(case, message, changes):
    with pytest.raises(InputError, match=message):
        sphweft.density(state(case, **changes), case.adjacency, validate="full")


def test_support_beyond_half_a_periodic_side(case):
    domain = sphweft.DomainDescription([0, 0], [1, 1], [True, False])
    with pytest.raises(InputError, match="half the shortest periodic side"):
        sphweft.density(state(case), case.adjacency, domain=domain, validate="full")


def test_adjacency_values():
    index = torch.tensor([0, 5])
    with pytest.raises(InputError, match="neighbors: expected indices from 0 to 2"):
        sphweft.AdjacencyList.from_pairs(torch.tensor([0, 1]), index, 3, 3)


@pytest.mark.parametrize("bounds", [([0], [0]), ([1], [0]), ([0], [float("nan")]), ([0], [float("inf")])])
def test_boxes_without_a_length(bounds):
    with pytest.raises(InputError, match="maximum: expected"):
        sphweft.DomainDescription(*bounds, [True])


def modes(mode):
    return sphweft.OperationProperties(support_mode=mode)


def test_lists_of_another_search_radius(case):
    particles = state(case)
    scatter, largest = sphweft.SupportMode.SCATTER, sphweft.SupportMode.MEAN_KERNEL
    listed = sphweft.neighbor_list(particles)
    with pytest.raises(InputError, match="adjacency: expected a list made by .*SCATTER.*, got one made by .*GATHER"):
        sphweft.density(particles, listed, properties=modes(scatter))
    longest = sphweft.neighbor_list(particles, properties=modes(largest))
    expected = sphweft.density(particles, properties=modes(scatter))
    torch.testing.assert_close(sphweft.density(particles, longest, properties=modes(scatter)), expected)


def test_lists_of_another_box(case):
    particles, infinite = state(case), sphweft.DomainDescription([0, 0], [4, 4], [False, False])
    periodic = sphweft.DomainDescription([0, 0], [4, 4], [True, False])
    listed = sphweft.neighbor_list(particles, domain=infinite)
    sphweft.density(particles, listed)
    with pytest.raises(InputError, match=r"adjacency: .*periods \(4\.0, 0\.0\), got one made for periods none"):
        sphweft.density(particles, listed, domain=periodic)


def test_lists_that_must_be_rebuilt(case):
    particles = state(case)
    listed = sphweft.neighbor_list(particles, margin=0.1)
    sphweft.density(state(case, positions=particles.positions + 0.01), listed, validate="full")
    moved = state(case, positions=particles.positions.roll(1, 0))
    with pytest.raises(InputError, match="adjacency: expected a list of every pair within reach"):
        sphweft.density(moved, listed, validate="full")
    with pytest.raises(InputError, match="adjacency: .* by more than its margin"):
        sphweft.density(state(case, supports=particles.supports + 0.2), listed, validate="full")


@pytest.mark.parametrize(
    ("kind", "rows"),
    [(ExtraKind.TENSOR, ""), (ExtraKind.TENSOR, "referenc"), (ExtraKind.SCALAR, "query")],
)
def test_an_extra_says_what_its_rows_are(kind, rows):
    with pytest.raises(InputError, match=f"rows of charges: expected one of .*, got '{rows}'"):
        ExtraSpec("charges", kind, rows)


def twice(struct, build):
    @wp.kernel(module="unique")
    def kernel(state: struct, doubled: wp.array(dtype=build.scalar)):
        i = wp.tid()
        doubled[i] = build.scalar(2.0) * state.query_masses[i]

    return kernel


@pytest.mark.parametrize(
    ("dtype", "shape", "problem"),
    [
        (wp.float64, (2,), "12 rows or more, one a thread, got shape"),
        (wp.float32, (12,), "entries of float64, as the kernel has, got float32"),
        (wp.vec3d, (12, 3), "entries of float64"),
        (wp.float64, (12, 3), "of 1 numbers a row"),
        (wp.float64, (), "of 1 numbers a row"),
    ],
)
def test_an_output_fits_the_kernel_and_its_threads(case, dtype, shape, problem):
    particles = state(case)
    assert particles.count == 12
    spec = OperatorSpec("twice", twice, ("query_masses",), (OutputSpec(dtype, shape),))
    with pytest.raises(InputError, match=f"output doubled of twice: expected .*{problem}"):
        launch_operator(spec, SPHContext(particles, adjacency=case.adjacency))


@pytest.mark.parametrize(
    ("dtype", "shape", "problem"), [(torch.float64, (12,), "dtype: .* torch.float64"), (wp.float64, 12, "shape: .* 12")]
)
def test_an_output_has_a_type_and_a_shape(dtype, shape, problem):
    with pytest.raises(InputError, match=problem):
        OutputSpec(dtype, shape)


def test_a_kernel_that_writes_elsewhere_says_so(case):
    spec = OperatorSpec("twice", twice, ("query_masses",), (OutputSpec(wp.float64, (12,), rows="any"),))
    launch_operator(spec, SPHContext(state(case), adjacency=case.adjacency))
    with pytest.raises(InputError, match="rows: expected 'threads' or 'any', got 'all'"):
        OutputSpec(wp.float64, (12,), rows="all")


def test_extras_have_names_of_their_own(case):
    masses, weights = ExtraSpec("query_masses", rows="query"), ExtraSpec("weights", rows="query")
    spec = OperatorSpec("twice", twice, ("query_masses",), (OutputSpec(wp.float64, (12,)),), (masses,))
    with pytest.raises(InputError, match="query_masses: expected an extra of twice whose name is no field"):
        launch_operator(spec, SPHContext(state(case), adjacency=case.adjacency), query_masses=state(case).masses)
    with pytest.raises(InputError, match="extras: expected a name for each, got weights, weights"):
        OperatorSpec("twice", twice, (), (), (weights, weights))
    with pytest.raises(InputError, match="kind of weights: expected an ExtraKind, got str"):
        ExtraSpec("weights", "tensor", "query")
