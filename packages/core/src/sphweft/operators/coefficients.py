"""The coefficient c_ij of gradient, divergence, curl and the Laplacians (Price 2012).

naive V_j f_j · difference V_j (f_j - f_i) · summation V_j (f_j + f_i) · symmetric m_j ρ_i (f_i/ρ_i² + f_j/ρ_j²)
"""

from typing import Any

import warp as wp

from sphweft.bridge.spec import Build
from sphweft.enums import GradientScheme
from sphweft.operators.pair_loop import PairTerms
from sphweft.operators.terms import volume, volume_fields


def coefficient_fields(scheme: GradientScheme, build: Build) -> tuple[str, ...]:
    """The fields that a coefficient reads."""
    if scheme == GradientScheme.SYMMETRIC:
        return ("query_densities", "reference_masses", "reference_densities")
    return volume_fields(build)


def field_terms(
    State: Any, build: Build, scheme: GradientScheme, geometry: str, product: Any, result: Any
) -> PairTerms:
    """The terms of an operator on the field `values`, `query_values` on the query side.

    Args:
        State: the state struct.
        build: what the kernel is specialised for.
        scheme: of the coefficient.
        geometry: the form it is multiplied with.
        product: `(coefficient, geometry)` → the pair's contribution.
        result: Warp type of the sum.
    """
    scalar, entry = build.scalar, build.element("values")
    naive, difference = scheme == GradientScheme.NAIVE, scheme == GradientScheme.DIFFERENCE
    symmetric = scheme == GradientScheme.SYMMETRIC
    volume_of, volume_tangent_of = volume(State, build)
    nothing, two = entry(scalar(0.0)), scalar(2.0)

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
    def own_tangent(state: State, i: int):
        if naive:
            tangent = nothing
        elif symmetric:
            density = state.query_densities[i]
            of_density = two * state.query_densities_tangent[i] / density * state.query_values[i]
            tangent = (state.query_values_tangent[i] - of_density) / (density * density)
        else:
            tangent = state.query_values_tangent[i]
        return tangent

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
    def coefficient_tangent(own: entry, own_tangent: entry, state: State, j: int):
        if symmetric:
            density = state.reference_densities[j]
            flux = own + state.values[j] / (density * density)
            of_density = two * state.reference_densities_tangent[j] / density * state.values[j]
            flux_tangent = own_tangent + (state.values_tangent[j] - of_density) / (density * density)
            tangent = state.reference_masses_tangent[j] * flux + state.reference_masses[j] * flux_tangent
        else:
            volume, volume_tangent = volume_tangent_of(state, j)
            if naive:
                tangent = volume_tangent * state.values[j] + volume * state.values_tangent[j]
            elif difference:
                step = state.values_tangent[j] - own_tangent
                tangent = volume_tangent * (state.values[j] - own) + volume * step
            else:
                step = state.values_tangent[j] + own_tangent
                tangent = volume_tangent * (state.values[j] + own) + volume * step
        return tangent

    @wp.func
    def finish(total: result, state: State, i: int):
        return state.query_densities[i] * total if symmetric else total

    @wp.func
    def finish_tangent(total: result, tangent: result, state: State, i: int):
        return state.query_densities_tangent[i] * total + state.query_densities[i] * tangent if symmetric else tangent

    last = finish, finish_tangent, symmetric, result
    return PairTerms(own, own_tangent, coefficient, coefficient_tangent, geometry, product, *last)
