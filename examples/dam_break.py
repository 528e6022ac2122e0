"""A dam breaks: weakly compressible water in two dimensions, a free surface, walls of particles that do not move.

    dρ/dt = -ρ ∇·v + δ h c ∇²ρ        dv/dt = -∇p/ρ + ν ∇²v + g        p = c² (ρ - ρ₀), never negative

Continuity and pressure are Monaghan's (1994), the diffusion of density Molteni & Colagrossi's (2009), and the walls'
density follows the same equation, so that they push back (Crespo et al. 2007).
"""

import argparse
from pathlib import Path

import matplotlib
import torch
from rich.progress import track

import sphweft as sw

matplotlib.use("Agg")
from matplotlib import pyplot as plt

PICTURE = Path(__file__).parents[1] / "build/examples/dam_break.png"
GRAVITY = torch.tensor([0.0, -9.81])
WATER = 1000.0  # kg/m²
TANK, COLUMN = (1.6, 0.9), (0.4, 0.6)  # m


def grid(spacing: float, low: tuple[float, float], high: tuple[float, float]) -> torch.Tensor:
    """Particles at the middles of square cells."""
    axes = [torch.arange(a + spacing / 2, b, spacing) for a, b in zip(low, high, strict=True)]
    return torch.cartesian_prod(*axes)


class Dam:
    """The water and its walls.

    Args:
        spacing: of the particles [m].
    """

    def __init__(self, spacing: float) -> None:
        thick = 3 * spacing
        around = grid(spacing, (-thick, -thick), (TANK[0] + thick, TANK[1]))
        inside = (around > 0).all(1) & (around[:, 0] < TANK[0])
        water, walls = grid(spacing, (0, 0), COLUMN), around[~inside]
        self.positions = torch.cat([water, walls])
        self.is_water = torch.arange(len(self.positions)) < len(water)
        self.kinds = torch.where(self.is_water, sw.ParticleKind.FLUID, sw.ParticleKind.BOUNDARY).int()
        self.velocities = torch.zeros_like(self.positions)
        self.speed_of_sound = 10 * (2 * 9.81 * COLUMN[1]) ** 0.5
        depth = (COLUMN[1] - self.positions[:, 1]).clamp(min=0) * (self.positions[:, 0] < COLUMN[0])
        self.densities = WATER * (1 + 9.81 * depth / self.speed_of_sound**2)
        self.masses = torch.full_like(self.densities, WATER * spacing**2)
        self.support = 2.6 * spacing
        self.supports = torch.full_like(self.densities, self.support)
        self.step = 0.2 * self.support / self.speed_of_sound
        self.neighbors = sw.neighbor_list(self.state, margin=0.2 * self.support)

    @property
    def state(self) -> sw.ParticleState:
        return sw.ParticleState(self.positions, self.supports, self.masses, self.kinds, self.densities)

    def advance(self) -> None:
        """One step of symplectic Euler."""
        state, h = self.state, self.support / 2
        if self.neighbors.must_rebuild(state):
            self.neighbors = sw.neighbor_list(state, margin=0.2 * self.support)
        pressure = (self.speed_of_sound**2 * (self.densities - WATER)).clamp(min=0)
        symmetric = sw.OperationProperties(
            gradient_scheme=sw.GradientScheme.SYMMETRIC, direction=sw.InteractionDirection.ALL_TO_FLUID
        )
        among_fluid = sw.OperationProperties(direction=sw.InteractionDirection.FLUID_TO_FLUID)
        push = -sw.gradient(state, pressure, self.neighbors, properties=symmetric) / self.densities[:, None]
        shear = sw.laplacian(state, self.velocities, self.neighbors, properties=among_fluid)  # walls are slippery
        drag = 0.01 * self.speed_of_sound * h * shear
        self.velocities = self.velocities + self.step * (push + drag + GRAVITY) * self.is_water[:, None]
        self.positions = self.positions + self.step * self.velocities
        compression = -self.densities * sw.divergence(state, self.velocities, self.neighbors)
        diffusion = 0.1 * h * self.speed_of_sound * sw.laplacian(state, self.densities, self.neighbors)
        self.densities = (self.densities + self.step * (compression + diffusion)).clamp(min=WATER)

    def energy(self) -> float:
        """Kinetic and potential energy of the water [J/m]."""
        kinetic = self.velocities.square().sum(1) / 2
        return float((self.masses * (kinetic + 9.81 * self.positions[:, 1]))[self.is_water].sum())

    def inside(self) -> int:
        """How many particles of water are in the tank, and where numbers are."""
        x, y = self.positions[self.is_water].T
        return int(((x > 0) & (x < TANK[0]) & (y > 0) & torch.isfinite(x * y)).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spacing", type=float, default=0.0125, help="of the particles [m]")
    parser.add_argument("--seconds", type=float, default=0.8, help="how long it is simulated")
    parser.add_argument("--picture", type=Path, default=PICTURE)
    given = parser.parse_args()
    dam = Dam(given.spacing)
    count, before = int(dam.is_water.sum()), dam.energy()
    print(f"{count} particles of water, {len(dam.positions) - count} of wall, steps of {1e3 * dam.step:.2f} ms")
    steps, pictures = round(given.seconds / dam.step), []
    for number in track(range(steps), description="the dam breaks"):
        if number % (steps // 4 + 1) == 0:
            pictures.append((number * dam.step, dam.positions, dam.velocities.norm(dim=1)))
        dam.advance()
    pictures.append((steps * dam.step, dam.positions, dam.velocities.norm(dim=1)))
    print(f"water in the tank: {dam.inside()} of {count}")
    print(f"energy: {dam.energy() / before:.3f} of {before:.0f} J/m")
    print(f"front: {dam.positions[dam.is_water, 0].max():.2f} m")
    figure, axes = plt.subplots(1, len(pictures), figsize=(4 * len(pictures), 3), sharey=True, layout="constrained")
    for panel, (time, positions, speeds) in zip(axes, pictures, strict=True):
        panel.scatter(*positions[~dam.is_water].T, s=1, color="0.6")
        shown = panel.scatter(*positions[dam.is_water].T, s=2, c=speeds[dam.is_water], vmin=0, vmax=3)
        panel.set(title=f"{time:.2f} s", aspect="equal", xlabel="x [m]", ylim=(-0.1, 0.9))
    figure.colorbar(shown, label="speed [m/s]")
    given.picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(given.picture, dpi=100)
    print(f"picture: {given.picture}")


if __name__ == "__main__":
    main()
