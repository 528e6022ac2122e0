"""Gradient: (∇f)_i = Σ_j c_ij ⊗ ∇_i W_ij, derivative axis last; the scheme is in c_ij (Price 2012).

naive V_j f_j · difference V_j (f_j - f_i) · summation V_j (f_j + f_i) · symmetric m_j ρ_i (f_i/ρ_i² + f_j/ρ_j²)
"""

from typing import Any

import warp as wp

from sphweft.bridge.spec import Build, Extras, ExtraSpec, OperatorSpec, OutputSpec, SPHContext, entry_type
from sphweft.enums import GradientScheme
from sphweft.operators.pair_loop import PairTerms, pair_fields, pair_kernel
from sphweft.operators.terms import volume, volume_fields
from sphweft.runtime import element_type


def coefficient_fields(build: Build) -> tuple[str, ...]:
    """The fields that a gradient's coefficient reads."""
    if build.gradient_scheme == GradientScheme.SYMMETRIC:
        return ("query_densities", "reference_masses", "reference_densities")
    return volume_fields(build)


def _kernel(State: Any, build: Build) -> Any:
    scalar, vector, entry, scheme = build.scalar, build.vector, build.element("values"), build.gradient_scheme
    width = 0 if entry is scalar else entry._length_
    result = element_type(scalar, (width, build.dimension) if width else (build.dimension,))
    naive, difference = scheme == GradientScheme.NAIVE, scheme == GradientScheme.DIFFERENCE
    symmetric = scheme == GradientScheme.SYMMETRIC
    volume_of, nothing = volume(State, build), entry(scalar(0.0))

    @wp.func
    def own(state: State, i: int):
        if naive:
            value = nothing
        elif symmetric:
            value = state.query_values[i] / (state.query_densities[i] * state.query_densities[i])
        else:
            value = state.query_values[i]
        return value

    @wp.func
    def coefficient(own: entry, state: State, j: int):
        if naive:
            value = volume_of(state, j) * state.values[j]
        elif symmetric:
            density = state.reference_densities[j]
            value = state.reference_masses[j] * (own + state.values[j] / (density * density))
        elif difference:
            value = volume_of(state, j) * (state.values[j] - own)
        else:
            value = volume_of(state, j) * (state.values[j] + own)
        return value

    @wp.func
    def product(value: entry, slope: vector):
        return wp.outer(value, slope) if width else value * slope

    @wp.func
    def finish(total: result, state: State, i: int):
        return state.query_densities[i] * total if symmetric else total

    return pair_kernel(State, build, PairTerms(own, coefficient, "gradient", product, finish, result))


def _entry(context: SPHContext, extras: Extras) -> Any:
    trailing, dimension = extras["values"].shape[1:], context.query.dimension
    return entry_type(context, (trailing.numel(), dimension) if trailing else (dimension,))


def _shape(context: SPHContext, extras: Extras) -> tuple[int, ...]:
    return (context.query.count, *extras["values"].shape[1:], context.query.dimension)


GRADIENT = OperatorSpec(
    name="gradient",
    kernel=_kernel,
    reads=lambda build: (*pair_fields(build), *coefficient_fields(build)),
    outputs=(OutputSpec(dtype=_entry, shape=_shape),),
    extras=(ExtraSpec("values", rows="reference"), ExtraSpec("query_values", rows="query")),
)
