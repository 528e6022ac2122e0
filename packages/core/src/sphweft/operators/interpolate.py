"""Interpolation: ⟨f⟩_i = Σ_j V_j f_j W_ij (Price 2012)."""

from typing import Any

import warp as wp

from sphweft.bridge.spec import Build, Extras, ExtraSpec, OperatorSpec, OutputSpec, SPHContext, entry_type
from sphweft.operators.pair_loop import PairTerms, pair_fields, pair_kernel
from sphweft.operators.terms import as_it_is, nothing_own, volume, volume_fields


def _kernel(State: Any, build: Build) -> Any:
    scalar, entry = build.scalar, build.element("values")
    volume_of = volume(State, build)

    @wp.func
    def amount(own: scalar, state: State, j: int):
        return volume_of(state, j) * state.values[j]

    @wp.func
    def product(coefficient: entry, geometry: scalar):
        return coefficient * geometry

    terms = PairTerms(nothing_own(State, build), amount, "value", product, as_it_is(State, entry), entry)
    return pair_kernel(State, build, terms)


def _entry(context: SPHContext, extras: Extras) -> Any:
    trailing = extras["values"].shape[1:]
    return entry_type(context, (trailing.numel(),) if trailing else ())


INTERPOLATE = OperatorSpec(
    name="interpolate",
    kernel=_kernel,
    reads=lambda build: (*pair_fields(build), *volume_fields(build)),
    outputs=(
        OutputSpec(dtype=_entry, shape=lambda context, extras: (context.query.count, *extras["values"].shape[1:])),
    ),
    extras=(ExtraSpec("values", rows="reference"),),
)
