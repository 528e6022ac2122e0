"""Covariance: C_i = Σ_j V_j (-x_ij) ⊗ ∇_i W_ij, the moment that renormalization inverts (Bonet & Lok 1999).

The second output counts the selected pairs in support, a particle's pair with itself among them.
"""

from typing import Any

import warp as wp

from sphweft.bridge.spec import Build, OperatorSpec, OutputSpec, entry_type
from sphweft.operators.pair_loop import PairTerms, pair_fields, pair_kernels
from sphweft.operators.terms import as_it_is, nothing_own, volume, volume_fields


def _terms(State: Any, build: Build) -> PairTerms:
    scalar, own = build.scalar, nothing_own(State, build)
    matrix = wp.types.matrix((build.dimension,) * 2, scalar)
    volume_of, volume_tangent_of = volume(State, build)

    @wp.func
    def amount(own: scalar, state: State, j: int):
        return volume_of(state, j)

    @wp.func
    def amount_tangent(own: scalar, own_tangent: scalar, state: State, j: int):
        _volume, tangent = volume_tangent_of(state, j)
        return tangent

    @wp.func
    def product(coefficient: scalar, geometry: matrix):
        return coefficient * geometry

    last = as_it_is(State, matrix)
    return PairTerms(own, own, amount, amount_tangent, "moment", product, *last, counted=True)


COVARIANCE = OperatorSpec(
    name="covariance",
    **pair_kernels(_terms),
    reads=lambda build: (*pair_fields(build), *volume_fields(build)),
    outputs=(
        OutputSpec(
            dtype=lambda context, extras: entry_type(context, (context.query.dimension,) * 2),
            shape=lambda context, extras: (context.query.count, *(context.query.dimension,) * 2),
        ),
        OutputSpec(dtype=wp.int32, shape=lambda context, extras: (context.query.count,)),
    ),
)
