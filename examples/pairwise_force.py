"""An operator of your own: a kernel, what it reads and what it gives, and torch differentiates it.

Particles with charges repel each other by E = ½ Σ_ij q_i q_j exp(-r_ij / λ). Warp computes forces and energies in one
kernel; that the forces are minus the energy's gradient, torch finds out by itself. A second kernel, linear in the
tangents, adds forward mode and second derivatives: here how stiff the particles are held along a direction.
"""

import torch
import warp as wp

import sphweft as sw
from sphweft.bridge import ExtraKind, ExtraSpec, OperatorSpec, OutputSpec, SPHContext, entry_type, launch_operator


def kernel(State, build):  # noqa: N803  # a type
    scalar, vector = build.scalar, build.vector
    half, zero = scalar(0.5), scalar(0.0)

    @wp.func
    def sums(state: State, i: int):  # the loop in a function of its own, so that its gradient is right
        force, energy = vector(), scalar(0.0)
        for place in range(state.row_offsets[i], state.row_offsets[i] + state.row_counts[i]):
            j = state.neighbors[place]
            x = state.query_positions[i] - state.reference_positions[j]
            r = wp.length(x)
            if r > zero:
                pair = state.charges[i] * state.charges[j] * wp.exp(-r / state.screening)
                force += pair / (state.screening * r) * x
                energy += half * pair
        return force, energy

    @wp.kernel(module="unique")
    def repulsion(state: State, force: wp.array(dtype=vector), energy: wp.array(dtype=scalar)):
        i = wp.tid()
        force_i, energy_i = sums(state, i)
        force[i] = force_i
        energy[i] = energy_i

    return repulsion


def tangent_kernel(State, build):  # noqa: N803  # the state holds a tangent beside each field
    scalar, vector = build.scalar, build.vector
    half, zero = scalar(0.5), scalar(0.0)

    @wp.func
    def sums(state: State, i: int):
        force, energy = vector(), scalar(0.0)
        for place in range(state.row_offsets[i], state.row_offsets[i] + state.row_counts[i]):
            j = state.neighbors[place]
            x = state.query_positions[i] - state.reference_positions[j]
            dx = state.query_positions_tangent[i] - state.reference_positions_tangent[j]
            r = wp.length(x)
            if r > zero:
                fall = wp.exp(-r / state.screening)
                dr = wp.dot(x, dx) / r
                pair = state.charges[i] * state.charges[j] * fall
                varied = state.charges_tangent[i] * state.charges[j] + state.charges[i] * state.charges_tangent[j]
                dpair = varied * fall - pair * dr / state.screening
                slope = pair / (state.screening * r)
                force += (dpair / (state.screening * r) - slope * dr / r) * x + slope * dx
                energy += half * dpair
        return force, energy

    @wp.kernel(module="unique")
    def repulsion_tangent(state: State, force: wp.array(dtype=vector), energy: wp.array(dtype=scalar)):
        i = wp.tid()
        force_i, energy_i = sums(state, i)
        force[i] = force_i
        energy[i] = energy_i

    return repulsion_tangent


REPULSION = OperatorSpec(
    name="repulsion",
    kernel=kernel,
    tangent_kernel=tangent_kernel,
    reads=("query_positions", "reference_positions", "row_offsets", "row_counts", "neighbors"),
    extras=(ExtraSpec("charges", rows="query", axes=0), ExtraSpec("screening", ExtraKind.SCALAR)),
    outputs=(
        OutputSpec(lambda c, extras: entry_type(c, (c.query.dimension,)), lambda c, extras: c.query.positions.shape),
        OutputSpec(lambda c, extras: entry_type(c), lambda c, extras: (c.query.count,)),
    ),
)

count = 200
generator = torch.Generator().manual_seed(0)
positions = torch.rand(count, 3, generator=generator, dtype=torch.float64, requires_grad=True)
charges = torch.rand(count, generator=generator, dtype=torch.float64, requires_grad=True)
ones, kinds = torch.ones(count, dtype=torch.float64), torch.zeros(count, dtype=torch.int32)
everybody = sw.AdjacencyList.from_pairs(*torch.ones(count, count).nonzero().T, count, count)


def forces_and_energies(x):
    context = SPHContext(sw.ParticleState(x, ones, ones, kinds), adjacency=everybody)
    return launch_operator(REPULSION, context, charges=charges, screening=0.2)


force, energy = forces_and_energies(positions)
slope, potential = torch.autograd.grad(energy.sum(), (positions, charges))
direction = torch.rand(count, 3, generator=generator, dtype=torch.float64)
_, (stiffness, _) = torch.func.jvp(forces_and_energies, (positions.detach(),), (direction,))
_, hessian = torch.autograd.functional.hvp(lambda x: forces_and_energies(x)[1].sum(), positions.detach(), direction)

print(f"largest force: {force.abs().max():.4f}, minus the energy's gradient: {(-slope).abs().max():.4f}")
print(f"largest difference: {(force + slope).abs().max():.1e}")
print(f"Σ q ∂E/∂q: {(charges * potential).sum():.4f}, twice the energy: {2 * energy.sum():.4f}")
print(f"largest change of a force: {stiffness.abs().max():.4f}, by the energy's Hessian: {hessian.abs().max():.4f}")
