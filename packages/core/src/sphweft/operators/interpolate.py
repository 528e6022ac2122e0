"""Interpolation: ⟨f⟩_i = Σ_j V_j f_j W_ij (Price 2012)."""

from typing import Any

import warp as wp

from sphweft.bridge.spec import Build, Extras, ExtraSpec, OperatorSpec, OutputSpec, SPHContext, entry_type
from sphweft.operators.pair_loop import PairTerms, pair_fields, pair_kernels
from sphweft.operators.terms import as_it_is, nothing_own, volume, volume_fields


def _terms(State: Any, build: Build) -> PairTerms:
    scalar, entry, own = build.scalar, build.element("values"), nothing_own(State, build)
    volume_of, volume_tangent_of = volume(State, build)

    @wp.func
    def amount(own: scalar, state: State, j: int):
        return volume_of(state, j) * state.values[j]

    @wp.func
    def amount_tangent(own: scalar, own_tangent: scalar, state: State, j: int):
        volume, volume_tangent = volume_tangent_of(state, j)
        return volume_tangent * state.values[j] + volume * state.values_tangent[j]

    @wp.func
    def product(coefficient: entry, geometry: scalar):
        return coefficient * geometry

    return PairTerms(own, own, amount, amount_tangent, "value", product, *as_it_is(State, entry))


def _entry(context: SPHContext, extras: Extras) -> Any:
    trailing = extras["values"].shape[1:]
    return entry_type(context, (trailing.numel(),) if trailing else ())


INTERPOLATE = OperatorSpec(
    name="interpolate",
    **pair_kernels(_terms),
    reads=lambda build: (*pair_fields(build), *volume_fields(build)),
    outputs=(
        OutputSpec(dtype=_entry, shape=lambda context, extras: (context.query.count, *extras["values"].shape[1:])),
    ),
    extras=(ExtraSpec("values", rows="reference"),),
)
