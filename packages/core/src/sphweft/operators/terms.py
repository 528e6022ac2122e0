"""Warp functions that several operators share: volumes, and parts that do nothing."""

from typing import Any

import warp as wp

from sphweft.bridge.spec import Build


def volume_fields(build: Build) -> tuple[str, ...]:
    """The fields that a reference volume is read from."""
    return ("reference_volumes",) if build.supplied_volumes else ("reference_masses", "reference_densities")


def volume(State: Any, build: Build) -> tuple[Any, Any]:
    """`(state, j)` → V_j, the supplied volume or m_j/ρ_j; `(state, j)` → V_j and its tangent."""
    supplied, one = build.supplied_volumes, build.scalar(1.0)

    @wp.func
    def volume_of(state: State, j: int):
        return state.reference_volumes[j] if supplied else state.reference_masses[j] / state.reference_densities[j]

    @wp.func
    def tangent_of(state: State, j: int):
        if supplied:
            value = state.reference_volumes[j]
            tangent = state.reference_volumes_tangent[j]
        else:
            inverse = one / state.reference_densities[j]
            value = state.reference_masses[j] * inverse
            tangent = (state.reference_masses_tangent[j] - value * state.reference_densities_tangent[j]) * inverse
        return value, tangent

    return volume_of, tangent_of


def nothing_own(State: Any, build: Build) -> Any:
    """`(state, i)` → a zero: nothing of the query particle enters the coefficient."""
    zero = build.scalar(0.0)

    @wp.func
    def nothing(state: State, i: int):
        return zero

    return nothing


def as_it_is(State: Any, result: Any) -> tuple[Any, Any, bool, Any]:
    """The last of an operator's terms, where its output is the sum."""

    @wp.func
    def unchanged(total: result, state: State, i: int):
        return total

    @wp.func
    def tangent_unchanged(total: result, tangent: result, state: State, i: int):
        return tangent

    return unchanged, tangent_unchanged, False, result
