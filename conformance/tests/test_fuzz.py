"""Search and operators beside the oracle on particles that hypothesis thinks of: none, one, all in one point, on edges,
exactly at the cutoff, far away, expanded and strided tensors, one population or two.

    nox -s fuzz           # 20,000 examples of each
"""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sphweft as sw
from tapecheck import oracles

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "150"))
FUZZ = settings(
    max_examples=EXAMPLES,
    derandomize="FUZZ_EXAMPLES" not in os.environ,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
EIGHTH = 0.125
"""What lies on such a lattice lies on edges of cells and at cutoffs exactly."""
coordinates = st.one_of(
    st.integers(-12, 20).map(lambda n: n * EIGHTH),
    st.floats(-1.5, 2.5, allow_subnormal=False),
    st.sampled_from([-1e-9, 1.0, 1.0 - 2.0**-53, 0.0, -0.0]),
)
supports = st.one_of(st.integers(1, 4).map(lambda n: n * EIGHTH), st.floats(0.01, 0.5))


@st.composite
def populations(draw: Any, dimension: int, far: bool) -> oracles.Particles:
    """Up to a dozen particles; some share a place, some are far away where space is open."""
    count = draw(st.integers(0, 12))
    points = [[draw(coordinates) for _ in range(dimension)] for _ in range(count)]
    if count > 1 and draw(st.booleans()):
        points[-1] = list(points[0])
    if count and far and draw(st.booleans()):
        points[0] = [point + draw(st.sampled_from([1e6, -(2.0**30), 1e12])) for point in points[0]]
    positions = torch.tensor(points, dtype=torch.float64).reshape(count, dimension)
    if draw(st.booleans()):  # a stride that is not the shape's
        positions = torch.stack([positions, positions], -1)[..., 0]
    if count and draw(st.booleans()):
        widths = torch.tensor(draw(supports), dtype=torch.float64).expand(count)
    else:
        widths = torch.tensor([draw(supports) for _ in range(count)], dtype=torch.float64)
    ones = torch.ones(count, dtype=torch.float64)
    kinds = torch.tensor([draw(st.integers(0, 3)) for _ in range(count)], dtype=torch.int32)
    return oracles.Particles(positions, widths, ones, kinds, ones.clone())


@st.composite
def situations(draw: Any) -> tuple[oracles.Particles, oracles.Particles, oracles.Domain, str]:
    """Queries, references, a box of side one, and a support mode."""
    dimension, periodic = draw(st.integers(1, 3)), draw(st.booleans())
    query = draw(populations(dimension, not periodic))
    reference = query if draw(st.booleans()) else draw(populations(dimension, not periodic))
    domain = oracles.Domain([0.0] * dimension, [1.0] * dimension, [periodic] * dimension)
    return query, reference, domain, draw(st.sampled_from(["gather", "mean_kernel"]))


def core_options(
    query: oracles.Particles, reference: oracles.Particles, domain: oracles.Domain, mode: str
) -> dict[str, Any]:
    return {
        "reference": None if reference is query else sw.ParticleState(**vars(reference)),
        "domain": sw.DomainDescription(**vars(domain)),
        "properties": sw.OperationProperties(support_mode=sw.SupportMode[mode.upper()]),
    }


@FUZZ
@given(situations())
def test_search_finds_the_pairs_of_brute_force(situation: Any) -> None:
    query, reference, domain, mode = situation
    due = oracles.near(query=query, reference=reference, domain=domain, support_mode=mode)
    found = sw.neighbor_list(sw.ParticleState(**vars(query)), **core_options(*situation))
    rows = torch.arange(found.query_count).repeat_interleave(found.counts)
    assert list(zip(rows.tolist(), found.neighbors.tolist(), strict=True)) == list(map(tuple, due.T.tolist()))


@FUZZ
@given(situations())
def test_density_and_its_gradient_are_the_oracles(situation: Any) -> None:
    query, reference, domain, mode = situation

    def of(run: Any) -> list[torch.Tensor]:
        x = query.positions.clone().requires_grad_()
        own = oracles.Particles(**{**vars(query), "positions": x})
        density = run(own, own if reference is query else reference)
        return [density.detach(), *torch.autograd.grad(density.square().sum(), x)]

    def by_the_core(own: oracles.Particles, others: oracles.Particles) -> torch.Tensor:
        return sw.density(sw.ParticleState(**vars(own)), **core_options(own, others, domain, mode))

    def by_the_oracle(own: oracles.Particles, others: oracles.Particles) -> torch.Tensor:
        rules = oracles.Rules("wendland4", mode, "all_to_all")
        return oracles.density(query=own, reference=others, domain=domain, rules=rules)

    narrow = min([1.0, *query.supports.tolist(), *reference.supports.tolist()])
    size, dimension = len(reference.masses), query.positions.shape[1]
    # the oracle wraps positions before it subtracts them, which moves x_ij by the rounding of the box: ρ ρ'' times that
    rounding = 1e-11 * size**2 / narrow ** (2 * dimension + 2)
    for found, expected in zip(of(by_the_core), of(by_the_oracle), strict=True):
        scale = float(expected.abs().max()) if expected.numel() else 0.0
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9 * scale + rounding)


@st.composite
def plans(draw: Any) -> list[tuple[str, int]]:
    """What happens to three tensors of masses, one after another."""
    steps = ["forward", "backward", "change", "replace", "collect", "cache off", "cache on", "reuse off", "reuse on"]
    return draw(st.lists(st.tuples(st.sampled_from(steps), st.integers(0, 2)), max_size=25))


@FUZZ
@given(plans())
def test_caches_never_give_yesterdays_value(plan: list[tuple[str, int]]) -> None:
    import gc

    generator = torch.Generator().manual_seed(0)
    x = torch.rand(5, 2, generator=generator, dtype=torch.float64)
    wide, kinds = torch.full((5,), 0.9, dtype=torch.float64), torch.zeros(5, dtype=torch.int32)
    everybody = sw.AdjacencyList.from_pairs(*torch.ones(5, 5).nonzero().T, 5, 5)
    masses = [torch.full((5,), float(n + 1), dtype=torch.float64) for n in range(3)]
    unit = sw.density(sw.ParticleState(x, wide, torch.ones_like(wide), kinds), everybody)
    per_mass = torch.autograd.functional.jacobian(
        lambda m: sw.density(sw.ParticleState(x, wide, m, kinds), everybody), torch.ones_like(wide)
    ).sum(0)
    with pytest.MonkeyPatch.context() as patch:
        for step, which in plan:
            if step == "forward":
                found = sw.density(sw.ParticleState(x, wide, masses[which], kinds), everybody)
                torch.testing.assert_close(found, unit * masses[which][0], rtol=1e-12, atol=0)
            elif step == "backward":
                leaf = masses[which].clone().requires_grad_()
                total = sum(sw.density(sw.ParticleState(x, wide, leaf, kinds), everybody).sum() for _ in range(2))
                (gradient,) = torch.autograd.grad(total, leaf)
                torch.testing.assert_close(gradient, 2 * per_mass, rtol=1e-12, atol=0)
            elif step == "change":
                masses[which].mul_(2)
            elif step == "replace":
                masses[which] = torch.full((5,), float(which + 10), dtype=torch.float64)
            elif step == "collect":
                gc.collect()
            else:
                name = "SPHWEFT_FIELD_CACHE_GRAD" if "cache" in step else "SPHWEFT_DISABLE_BUNDLE"
                patch.setenv(name, str(int(step in ("cache on", "reuse off"))))
