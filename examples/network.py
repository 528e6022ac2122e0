"""A network learns an equation of state from motion alone: nobody tells it a pressure.

    dx/dt = v        dv/dt = -∇p/ρ        p = p(ρ), unknown: a network of one input and one output

Particles of a gas are let go at rest from uneven densities; what is known are their velocities after five steps. The
loss reaches the network through five densities and five pressure gradients (symmetric, so that momentum is kept).
"""

import math
from collections.abc import Callable
from pathlib import Path

import matplotlib
import torch
from rich.progress import track

import sphweft as sw

matplotlib.use("Agg")
from matplotlib import pyplot as plt

torch.set_default_dtype(torch.float64)
PICTURE = Path(__file__).parents[1] / "build/examples/network.png"
STEPS, EPOCHS, STEP = 5, 200, 0.002  # [s]
SYMMETRIC = sw.OperationProperties(gradient_scheme=sw.GradientScheme.SYMMETRIC)
DOMAIN = sw.DomainDescription([0, 0], [1, 1], [True, True])


def tait(densities: torch.Tensor) -> torch.Tensor:
    """The truth: p = c² (ρ⁷ - 1) / 7, with ρ in units of the density at rest and c = 10 m/s."""
    return 100 / 7 * (densities**7 - 1)


def gas(side: int, seed: int) -> torch.Tensor:
    """A lattice, pressed together here and pulled apart there by three waves."""
    generator = torch.Generator().manual_seed(seed)
    axis = (torch.arange(side) + 0.5) / side
    positions = torch.cartesian_prod(axis, axis)
    for k in 2 * math.pi * torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]):
        phase = 2 * math.pi * torch.rand(1, generator=generator)
        positions = positions + 0.012 * torch.sin(positions @ k + phase)[:, None] * k / k.norm()
    return positions


def simulate(
    positions: torch.Tensor, pressure: Callable[[torch.Tensor], torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Velocities and densities after five steps of symplectic Euler."""
    count = len(positions)
    supports, masses = torch.full((count,), 3.2 / count**0.5), torch.full((count,), 1 / count)
    kinds, velocities = torch.zeros(count, dtype=torch.int32), torch.zeros_like(positions)
    for _ in range(STEPS):
        particles = sw.ParticleState(positions, supports, masses, kinds)
        neighbors = sw.neighbor_list(particles, domain=DOMAIN)
        densities = sw.density(particles, neighbors, domain=DOMAIN)
        particles = sw.ParticleState(positions, supports, masses, kinds, densities)
        push = sw.gradient(particles, pressure(densities), neighbors, domain=DOMAIN, properties=SYMMETRIC)
        velocities = velocities - STEP * push / densities[:, None]
        positions = positions + STEP * velocities
    return velocities, densities


def main() -> None:
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(1, 32), torch.nn.Tanh(), torch.nn.Linear(32, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
    )

    def learned(densities: torch.Tensor) -> torch.Tensor:
        strain = 5 * (densities[:, None] - 1)
        return 10 * (network(strain) - network(torch.zeros_like(strain)))[:, 0]  # no pressure at rest

    def miss(positions: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            known, _ = simulate(positions, tait)
        return (simulate(positions, learned)[0] - known).square().sum() / known.square().sum()

    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    seen, losses = [gas(16, seed) for seed in range(6)], []
    for epoch in track(range(EPOCHS), description="the network watches"):
        optimizer.zero_grad()
        loss = miss(seen[epoch % len(seen)])
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    unseen = gas(24, seed=10)
    with torch.no_grad():
        (known, densities), (found, _) = simulate(unseen, tait), simulate(unseen, learned)
        error = float((found - known).norm() / known.norm())
        count = sum(each.numel() for each in network.parameters())
        print(f"{count} parameters, loss: {losses[0]:.1e} → {losses[-1]:.1e}")
        print(f"relative error of the velocities of {len(unseen)} unseen particles: {error:.4f}")
        assert losses[-1] < 1e-3 * losses[0]
        assert error < 0.08

        figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
        left.semilogy(losses)
        left.set(title="relative error of the velocities, squared", xlabel="epoch", ylabel="loss")
        shown = torch.linspace(float(densities.min()), float(densities.max()), 50)
        middle.plot(shown, tait(shown), "0.6", lw=5, label="true (Tait)")
        middle.plot(shown, learned(shown), "--", label="learned from motion")
        middle.set(title="equation of state", xlabel="density", ylabel="pressure")
        middle.legend()
        right.plot(known.flatten(), found.flatten(), ".", ms=3)
        right.axline((0, 0), slope=1, color="0.6", lw=1)
        right.set(title=f"{len(unseen)} unseen particles", xlabel="velocity [m/s]", ylabel="predicted velocity [m/s]")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=100)
    print(f"picture: {PICTURE}")


if __name__ == "__main__":
    main()
