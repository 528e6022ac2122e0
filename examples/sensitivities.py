"""Forward or reverse? How 32 thermometers answer to the coefficients of a stirring flow, by both modes.

    dx/dt = u = Σ_p a_p u_p(x)        dT/dt = κ ∇²T        y_m = Σ_j V_j T_j W(y_m - x_j)

u_p are the curls of Fourier modes. Forward mode costs a run with tangents for each coefficient, reverse mode one run
and a backward pass for each thermometer: forward wins where coefficients are few, reverse where they are many.
"""

import math
import time
from collections.abc import Callable
from pathlib import Path

import matplotlib
import torch
from rich.progress import track

import sphweft as sw

matplotlib.use("Agg")
from matplotlib import pyplot as plt

torch.set_default_dtype(torch.float64)
PICTURE = Path(__file__).parents[1] / "build/examples/sensitivities.png"
SIDE, STEPS, THERMOMETERS = 20, 10, 32
COUNTS = (1, 2, 4, 8, 16, 32)
SPACING = 1 / SIDE
SPREAD = 0.05 * SPACING**2  # κ Δt [m²]

axis = (torch.arange(SIDE) + 0.5) * SPACING
start = torch.cartesian_prod(axis, axis)
warm = torch.exp(-(start - 0.5).square().sum(1) / (2 * 0.15**2))
domain = sw.DomainDescription([0, 0], [1, 1], [True, True])
generator = torch.Generator().manual_seed(0)
places = torch.rand(THERMOMETERS, 2, generator=generator)
waves = 2 * math.pi * torch.cartesian_prod(torch.arange(1.0, 5), torch.arange(-4.0, 4))
waves = waves[torch.randperm(len(waves), generator=generator)]
phases = 2 * math.pi * torch.rand(len(waves), generator=generator)


def particles(positions: torch.Tensor, densities: torch.Tensor | None = None) -> sw.ParticleState:
    count = len(positions)
    supports, masses = torch.full((count,), 3.2 * SPACING), torch.full((count,), SPACING**2)
    return sw.ParticleState(positions, supports, masses, torch.zeros(count, dtype=torch.int32), densities)


def flow(positions: torch.Tensor, strengths: torch.Tensor) -> torch.Tensor:
    """Divergence-free velocities, times the step."""
    k, phase = waves[: len(strengths)], phases[: len(strengths)]
    across = torch.stack([k[:, 1], -k[:, 0]], dim=1) / k.norm(dim=1, keepdim=True)
    return 0.2 * SPACING * (strengths * torch.sin(positions @ k.T + phase)) @ across


def measured(strengths: torch.Tensor) -> torch.Tensor:
    """What the thermometers show after ten steps."""
    positions, temperatures = start, warm
    for _ in range(STEPS):
        positions = positions + flow(positions, strengths)
        now = particles(positions)
        neighbors = sw.neighbor_list(now, domain=domain)
        now = particles(positions, sw.density(now, neighbors, domain=domain))
        temperatures = temperatures + SPREAD * sw.laplacian(now, temperatures, neighbors, domain=domain)
    return sw.interpolate(particles(places), temperatures, reference=now, domain=domain)


def forward(strengths: torch.Tensor) -> torch.Tensor:
    unit = torch.eye(len(strengths))
    return torch.stack([torch.func.jvp(measured, (strengths,), (row,))[1] for row in unit], dim=1)


def reverse(strengths: torch.Tensor) -> torch.Tensor:
    leaf = strengths.clone().requires_grad_()
    shown = measured(leaf)
    return torch.stack([torch.autograd.grad(value, leaf, retain_graph=True)[0] for value in shown])


def timed(jacobian: Callable[[torch.Tensor], torch.Tensor], strengths: torch.Tensor) -> tuple[float, torch.Tensor]:
    """The better of two times, and the Jacobian."""
    spent = []
    for _ in range(2):
        begin = time.perf_counter()
        found = jacobian(strengths)
        spent.append(time.perf_counter() - begin)
    return min(spent), found


def main() -> None:
    forward(torch.ones(1)), reverse(torch.ones(1))  # compiles
    seconds, worst = {"forward": [], "reverse": []}, 0.0
    for count in track(COUNTS, description="more and more coefficients"):
        strengths = torch.ones(count) / count**0.5
        (ahead, by_forward), (back, by_reverse) = timed(forward, strengths), timed(reverse, strengths)
        seconds["forward"].append(ahead)
        seconds["reverse"].append(back)
        worst = max(worst, float((by_forward - by_reverse).abs().max() / by_reverse.abs().max()))
    print("coefficients", *COUNTS, sep="\t")
    for mode, spent in seconds.items():
        print(f"{mode:12}", *(f"{1e3 * each:.0f} ms" for each in spent), sep="\t")
    print(f"largest difference, relative: {worst:.1e}")
    assert worst < 1e-12
    assert 2 * seconds["forward"][0] < seconds["reverse"][0]
    assert 3 * seconds["reverse"][-1] < seconds["forward"][-1]

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=(1, 1.3))
    left.scatter(*start.T, s=60, c=warm, cmap="Oranges", vmax=1.3)
    left.quiver(*start.T, *flow(start, torch.ones(8)).T, color="0.3")
    left.scatter(*places.T, marker="x", color="tab:blue")
    left.set(title=f"heat, 8 coefficients, {THERMOMETERS} thermometers", aspect="equal", xlabel="x [m]", ylabel="y [m]")
    for (mode, spent), marker in zip(seconds.items(), "os", strict=True):
        right.loglog(COUNTS, spent, f"{marker}-", label=f"{mode} mode")
    right.set(title="the whole Jacobian", xlabel="coefficients", ylabel="time [s]", xticks=COUNTS, xticklabels=COUNTS)
    right.minorticks_off()
    right.legend()
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=100)
    print(f"picture: {PICTURE}")


if __name__ == "__main__":
    main()
