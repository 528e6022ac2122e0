"""Density: ρ_i = Σ_j m_j W_ij (Price 2012)."""

from typing import Any

import warp as wp

from sphweft.bridge.spec import Build, OperatorSpec, OutputSpec, entry_type
from sphweft.operators.pair_loop import PairTerms, pair_fields, pair_kernel
from sphweft.operators.terms import as_it_is, nothing_own


def _kernel(State: Any, build: Build) -> Any:
    scalar = build.scalar

    @wp.func
    def mass(own: scalar, state: State, j: int):
        return state.reference_masses[j]

    @wp.func
    def product(coefficient: scalar, geometry: scalar):
        return coefficient * geometry

    terms = PairTerms(nothing_own(State, build), mass, "value", product, as_it_is(State, scalar), scalar)
    return pair_kernel(State, build, terms)


DENSITY = OperatorSpec(
    name="density",
    kernel=_kernel,
    reads=lambda build: (*pair_fields(build), "reference_masses"),
    outputs=(
        OutputSpec(
            dtype=lambda context, extras: entry_type(context), shape=lambda context, extras: (context.query.count,)
        ),
    ),
)
