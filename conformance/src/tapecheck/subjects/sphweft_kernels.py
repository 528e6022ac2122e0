"""An operator that a third party declares, without a tangent kernel and with one: pairwise forces and energies."""

from dataclasses import replace
from typing import Any

import warp as wp

from sphweft.bridge import Build, ExtraKind, ExtraSpec, OperatorSpec, OutputSpec, entry_type


def _kernel(State: Any, build: Build) -> Any:  # noqa: N803  (a type)
    scalar, vector = build.scalar, build.vector
    half = scalar(0.5)

    @wp.func
    def force_and_energy(state: State, i: int):
        force = vector()
        energy = scalar(0.0)
        start = state.row_offsets[i]
        for place in range(start, start + state.row_counts[i]):
            j = state.neighbors[place]
            x = state.query_positions[i] - state.reference_positions[j]
            product = state.stiffness * state.charges[i] * state.charges[j]
            force += product * x
            energy += half * product * wp.dot(x, x)
        return force, energy

    @wp.kernel(module="unique")
    def springs(state: State, force: wp.array(dtype=vector), energy: wp.array(dtype=scalar)):
        i = wp.tid()
        force_i, energy_i = force_and_energy(state, i)
        force[i] = force_i
        energy[i] = energy_i

    return springs


def _tangent_kernel(State: Any, build: Build) -> Any:  # noqa: N803  (a type)
    scalar, vector = build.scalar, build.vector
    half = scalar(0.5)

    @wp.func
    def tangents(state: State, i: int):
        force = vector()
        energy = scalar(0.0)
        start = state.row_offsets[i]
        for place in range(start, start + state.row_counts[i]):
            j = state.neighbors[place]
            x = state.query_positions[i] - state.reference_positions[j]
            dx = state.query_positions_tangent[i] - state.reference_positions_tangent[j]
            product = state.stiffness * state.charges[i] * state.charges[j]
            varied = state.charges_tangent[i] * state.charges[j] + state.charges[i] * state.charges_tangent[j]
            force += state.stiffness * varied * x + product * dx
            energy += half * state.stiffness * varied * wp.dot(x, x) + product * wp.dot(x, dx)
        return force, energy

    @wp.kernel(module="unique")
    def springs_tangent(state: State, force: wp.array(dtype=vector), energy: wp.array(dtype=scalar)):
        i = wp.tid()
        force_i, energy_i = tangents(state, i)
        force[i] = force_i
        energy[i] = energy_i

    return springs_tangent


SPRINGS = OperatorSpec(
    name="springs",
    kernel=_kernel,
    reads=("query_positions", "reference_positions", "row_offsets", "row_counts", "neighbors"),
    outputs=(
        OutputSpec(
            dtype=lambda context, extras: entry_type(context, (context.query.dimension,)),
            shape=lambda context, extras: tuple(context.query.positions.shape),
        ),
        OutputSpec(
            dtype=lambda context, extras: entry_type(context), shape=lambda context, extras: (context.query.count,)
        ),
    ),
    extras=(ExtraSpec("charges", rows="query", axes=0), ExtraSpec("stiffness", ExtraKind.SCALAR)),
)

SPRINGS_WITH_TANGENT = replace(SPRINGS, name="springs with tangent", tangent_kernel=_tangent_kernel)
