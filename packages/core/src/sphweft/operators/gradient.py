"""Gradient: (∇f)_i = Σ_j c_ij ⊗ ∇_i W_ij, derivative axis last; the scheme is in c_ij (Price 2012).

naive V_j f_j · difference V_j (f_j - f_i) · summation V_j (f_j + f_i) · symmetric m_j ρ_i (f_i/ρ_i² + f_j/ρ_j²)
"""

from typing import Any

import warp as wp

from sphweft.bridge.spec import Build, Extras, ExtraSpec, OperatorSpec, OutputSpec, SPHContext, entry_type
from sphweft.enums import GradientScheme
from sphweft.operators.pair_loop import PairTerms, pair_fields, pair_kernel
from sphweft.operators.terms import as_it_is, nothing_own, volume, volume_fields
from sphweft.runtime import element_type


def coefficient_fields(build: Build) -> tuple[str, ...]:
    """The fields that a gradient's coefficient reads."""
    if build.gradient_scheme == GradientScheme.SYMMETRIC:
        return ("query_densities", "reference_masses", "reference_densities")
    return volume_fields(build)


def coefficient(State: Any, build: Build) -> tuple[Any, Any, Any]:
    """`own`, `coefficient` and the factor of the whole sum, for the scheme."""
    scalar, entry, scheme = build.scalar, build.element("values"), build.gradient_scheme
    volume_of = volume(State, build)
    one = scalar(1.0)

    @wp.func
    def no_factor(state: State, i: int):
        return one

    @wp.func
    def own_value(state: State, i: int):
        return state.query_values[i]

    if scheme == GradientScheme.NAIVE:

        @wp.func
        def naive(own: scalar, state: State, j: int):
            return volume_of(state, j) * state.values[j]

        return nothing_own(State, build), naive, no_factor
    if scheme == GradientScheme.DIFFERENCE:

        @wp.func
        def difference(own: entry, state: State, j: int):
            return volume_of(state, j) * (state.values[j] - own)

        return own_value, difference, no_factor
    if scheme == GradientScheme.SUMMATION:

        @wp.func
        def summation(own: entry, state: State, j: int):
            return volume_of(state, j) * (state.values[j] + own)

        return own_value, summation, no_factor

    @wp.func
    def own_flux(state: State, i: int):
        return state.query_values[i] / (state.query_densities[i] * state.query_densities[i])

    @wp.func
    def symmetric(own: entry, state: State, j: int):
        density = state.reference_densities[j]
        return state.reference_masses[j] * (own + state.values[j] / (density * density))

    @wp.func
    def own_density(state: State, i: int):
        return state.query_densities[i]

    return own_flux, symmetric, own_density


def _kernel(State: Any, build: Build) -> Any:
    vector, entry = build.vector, build.element("values")
    width = 0 if entry is build.scalar else entry._length_
    result = element_type(build.scalar, (width, build.dimension) if width else (build.dimension,))
    own, coefficient_of, factor = coefficient(State, build)
    if width:

        @wp.func
        def product(value: entry, slope: vector):
            return wp.outer(value, slope)
    else:

        @wp.func
        def product(value: entry, slope: vector):
            return value * slope

    if build.gradient_scheme == GradientScheme.SYMMETRIC:

        @wp.func
        def finish(total: result, state: State, i: int):
            return factor(state, i) * total
    else:
        finish = as_it_is(State, result)
    return pair_kernel(State, build, PairTerms(own, coefficient_of, "gradient", product, finish, result))


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
