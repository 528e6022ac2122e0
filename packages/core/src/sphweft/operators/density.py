"""Density: ρ_i = Σ_j m_j W_ij (Price 2012)."""

from functools import partial
from typing import Any

import warp as wp

from sphweft.bridge.spec import Build, OperatorSpec, OutputSpec, entry_type
from sphweft.operators.pair_loop import PairTerms, pair_fields, pair_kernels
from sphweft.operators.terms import as_it_is, nothing_own


def _terms(State: Any, build: Build) -> PairTerms:
    scalar, own = build.scalar, nothing_own(State, build)

    @wp.func
    def mass(own: scalar, state: State, j: int):
        return state.reference_masses[j]

    @wp.func
    def mass_tangent(own: scalar, own_tangent: scalar, state: State, j: int):
        return state.reference_masses_tangent[j]

    @wp.func
    def product(coefficient: scalar, geometry: scalar):
        return coefficient * geometry

    return PairTerms(own, own, mass, mass_tangent, "value", product, *as_it_is(State, scalar))


def _slope_terms(State: Any, build: Build, one_population: bool) -> PairTerms:
    """Σ_j m_j ∇_i W_ij; in one population without a particle's pair with itself, whose separation never varies."""
    scalar, vector, zero = build.scalar, build.vector, build.scalar(0.0)

    @wp.func
    def own(state: State, i: int):
        return i

    @wp.func
    def mass(own: int, state: State, j: int):
        return wp.where(own == j, zero, state.reference_masses[j]) if one_population else state.reference_masses[j]

    @wp.func
    def mass_tangent(own: int, own_tangent: int, state: State, j: int):
        tangent = state.reference_masses_tangent[j]
        return wp.where(own == j, zero, tangent) if one_population else tangent

    @wp.func
    def product(coefficient: scalar, geometry: vector):
        return coefficient * geometry

    return PairTerms(own, own, mass, mass_tangent, "gradient", product, *as_it_is(State, vector))


DENSITY = OperatorSpec(
    name="density",
    **pair_kernels(_terms),
    reads=lambda build: (*pair_fields(build), "reference_masses"),
    outputs=(
        OutputSpec(
            dtype=lambda context, extras: entry_type(context), shape=lambda context, extras: (context.query.count,)
        ),
    ),
)

SLOPES = {
    one_population: OperatorSpec(
        name="density slope",
        **pair_kernels(partial(_slope_terms, one_population=one_population)),
        reads=DENSITY.reads,
        outputs=(
            OutputSpec(
                dtype=lambda context, extras: entry_type(context, (context.query.dimension,)),
                shape=lambda context, extras: tuple(context.query.positions.shape),
            ),
        ),
    )
    for one_population in (True, False)
}
"""The gradient of ρ_i by x_i, for one population and for two; its tangent is the density's Hessian-vector product."""
