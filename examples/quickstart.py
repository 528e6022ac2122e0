"""A periodic lattice: its density, a vector field's gradient, and a gradient through both."""

import math

import torch

import sphweft as sw

side, spacing = 32, 1 / 32
axis = (torch.arange(side, dtype=torch.float64) + 0.5) * spacing
positions = torch.cartesian_prod(axis, axis)
supports = torch.full((side**2,), 4 * spacing, dtype=torch.float64)
masses = torch.full((side**2,), spacing**2, dtype=torch.float64, requires_grad=True)
kinds = torch.zeros(side**2, dtype=torch.int32)
domain = sw.DomainDescription([0, 0], [1, 1], [True, True])
particles = sw.ParticleState(positions, supports, masses, kinds)
neighbors = sw.neighbor_list(particles, domain=domain)

density = sw.density(particles, neighbors, domain=domain)
print(f"density: {density.mean():.4f}, analytic 1")

x, y = (2 * math.pi * positions).T
velocity = torch.stack([torch.sin(x), torch.cos(y)], dim=1)
state = sw.ParticleState(positions, supports, masses, kinds, density)
gradient = sw.gradient(state, velocity, neighbors, domain=domain)
print(f"largest ∂v_x/∂x: {gradient[:, 0, 0].max():.3f}, analytic {2 * math.pi * math.cos(math.pi * spacing):.3f}")

density.sum().backward()
print(f"∂Σρ/∂m: {masses.grad.mean():.4f}, analytic {1 / spacing**2:.0f}")
