"""Where was the heat? An initial temperature recovered from what ten steps of a simulation made of it.

    dT/dt = κ ∇²T        dx/dt = w T ŷ        loss = Σ (T(10 Δt) - observed)²

Warm particles rise and heat spreads (Brookshaw's Laplacian). Only the last temperatures are observed, so that the loss
knows the first ones through ten densities and ten Laplacians of particles that move as the unknown tells them.
"""

from pathlib import Path

import matplotlib
import torch
from rich.progress import Progress

import sphweft as sw

matplotlib.use("Agg")
from matplotlib import pyplot as plt

torch.set_default_dtype(torch.float64)
SIDE, STEPS, EVALUATIONS = 26, 10, 60
PICTURE = Path(__file__).parents[1] / "build/examples/inverse.png"
SPACING = 1 / SIDE
SPREAD = 0.1 * SPACING**2  # κ Δt [m²]
RISE = 0.3 * SPACING  # w Δt T, of the warmest particle [m]

axis = (torch.arange(SIDE) + 0.5) * SPACING
start = torch.cartesian_prod(axis, axis)
supports = torch.full((SIDE**2,), 3.2 * SPACING)
masses = torch.full((SIDE**2,), SPACING**2)
kinds = torch.zeros(SIDE**2, dtype=torch.int32)
domain = sw.DomainDescription([0, 0], [1, 1], [True, True])


def simulate(temperatures: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Positions and temperatures after ten steps."""
    positions, up = start, torch.tensor([0.0, 1.0])
    for _ in range(STEPS):
        particles = sw.ParticleState(positions, supports, masses, kinds)
        neighbors = sw.neighbor_list(particles, domain=domain)
        densities = sw.density(particles, neighbors, domain=domain)
        particles = sw.ParticleState(positions, supports, masses, kinds, densities)
        spread = SPREAD * sw.laplacian(particles, temperatures, neighbors, domain=domain)
        positions = positions + RISE * temperatures[:, None] * up
        temperatures = temperatures + spread
    return positions, temperatures


def blob(x: float, y: float, width: float) -> torch.Tensor:
    away = (start - torch.tensor([x, y]) + 0.5) % 1 - 0.5
    return torch.exp(-away.square().sum(1) / (2 * width**2))


def main() -> None:
    truth = blob(0.35, 0.4, 0.12) + 0.7 * blob(0.7, 0.65, 0.08)
    risen, observed = simulate(truth)
    guess = torch.full_like(truth, float(observed.mean()), requires_grad=True)
    options = {"max_iter": EVALUATIONS, "max_eval": EVALUATIONS, "tolerance_grad": 0, "tolerance_change": 0}
    optimizer = torch.optim.LBFGS([guess], line_search_fn="strong_wolfe", **options)
    losses = []
    with Progress() as progress:
        task = progress.add_task("the heat goes back", total=EVALUATIONS)

        def loss() -> torch.Tensor:
            optimizer.zero_grad()
            error = (simulate(guess)[1] - observed).square().sum()
            error.backward()
            losses.append(error.item())
            progress.advance(task)
            return error

        optimizer.step(loss)
    recovered = guess.detach()
    error = float((recovered - truth).norm() / truth.norm())
    print(f"loss: {losses[0]:.1e} → {losses[-1]:.1e}, relative error of the recovered field: {error:.4f}")
    assert losses[-1] < 1e-6 * losses[0]
    assert error < 0.015

    figure, axes = plt.subplots(1, 4, figsize=(14, 3.4), layout="constrained", width_ratios=(1, 1, 1, 1.2))
    fields = {
        "true": (start, truth),
        "observed, ten steps later": (risen % 1, observed),
        "recovered": (start, recovered),
    }
    for panel, (name, (positions, values)) in zip(axes, fields.items(), strict=False):
        shown = panel.scatter(*positions.T, s=16, c=values, vmin=0, vmax=1, cmap="inferno")
        panel.set(title=name, aspect="equal", xlim=(0, 1), ylim=(0, 1), xticks=(0, 1), yticks=(0, 1), xlabel="x [m]")
    figure.colorbar(shown, ax=axes[:3], label="temperature", pad=0.01)
    axes[3].semilogy(losses)
    axes[3].set(
        title=f"error of the recovered field: {100 * error:.1f} %", xlabel="evaluation of L-BFGS", ylabel="loss"
    )
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=100)
    print(f"picture: {PICTURE}")


if __name__ == "__main__":
    main()
