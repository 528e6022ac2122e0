"""Particles relaxed to uniform density by Newton's method, with Hessian products and a Krylov solver.

E = ½ Σ m_i ρ_i is smallest where the particles are spread evenly. Newton's method needs its Hessian along directions:
exactly, by differentiating the gradient once more, and without a matrix. Beside it the same by differences.
"""

import math
import time
from pathlib import Path

import matplotlib
import torch
from scipy.sparse.linalg import LinearOperator, minres
from scipy.spatial import cKDTree

import sphweft as sw

matplotlib.use("Agg")
from matplotlib import pyplot as plt

PICTURE = Path(__file__).parents[1] / "build/examples/newton_krylov.png"
n, apart = 10, 0.1
sides = [n * apart, n * apart * math.sqrt(3) / 2]
row, column = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
lattice = torch.stack([(column + 0.5 * (row % 2)) * apart, row * apart * math.sqrt(3) / 2], dim=-1).view(-1, 2).double()
generator = torch.Generator().manual_seed(0)
start = lattice + 0.15 * apart * (torch.rand(lattice.shape, generator=generator, dtype=torch.float64) - 0.5)
count, reach = len(start), 2.2 * apart
supports = torch.full((count,), reach, dtype=torch.float64)
masses = torch.full((count,), math.prod(sides) / count, dtype=torch.float64)
kinds, domain = torch.zeros(count, dtype=torch.int32), sw.DomainDescription([0, 0], sides, [True, True])

tree = cKDTree(start.numpy() % sides, boxsize=sides)
near = tree.sparse_distance_matrix(tree, 1.3 * reach, output_type="coo_matrix")  # wide enough for all that follows
adjacency = sw.AdjacencyList.from_pairs(torch.from_numpy(near.row), torch.from_numpy(near.col), count, count)


def density(x):
    return sw.density(sw.ParticleState(x, supports, masses, kinds), adjacency, domain=domain)


def gradient(x, **options):
    (slope,) = torch.autograd.grad(0.5 * (masses * density(x)).sum(), x, **options)
    return slope


def exact(x):
    leaf = x.clone().requires_grad_()
    slope = gradient(leaf, create_graph=True)
    return lambda v: torch.autograd.grad(slope, leaf, v, retain_graph=True)[0]


def by_differences(x):
    def slope(v):
        return gradient((x + v).requires_grad_())

    return lambda v: (slope(1e-5 * v) - slope(-1e-5 * v)) / 2e-5


def hessian(product):
    def times(v):
        return product(torch.from_numpy(v.copy()).view(-1, 2)).flatten().numpy()

    return LinearOperator((2 * count,) * 2, times)


def relax(product_at):
    x, history, begin = start, [], time.perf_counter()
    for _ in range(20):
        slope = gradient(x.clone().requires_grad_())
        history.append(float(slope.norm()))
        if history[-1] < 1e-9 * history[0]:
            break
        right, close = -slope.flatten().numpy(), min(0.1, history[-1] / history[0])
        update, _ = minres(hessian(product_at(x)), right, rtol=close, maxiter=500)
        x = x + torch.from_numpy(update).view(-1, 2)
    return x, history, time.perf_counter() - begin


exact(start)(torch.zeros_like(start))  # compiles
figure, panel = plt.subplots(figsize=(6, 4), layout="constrained")
for name, product_at, style in (("exact", exact, "o-"), ("by differences", by_differences, "x--")):
    x, history, seconds = relax(product_at)
    print(f"Hessian {name}, {seconds:.2f} s")
    for value in history:
        print(f"  |∇E| {value:.1e} {'#' * round(4 * (12 + math.log10(value / history[0])))}")
    order = math.log(history[-1] / history[-2]) / math.log(history[-2] / history[-3])
    spread = [float(density(each).std() / density(each).mean()) for each in (start, x)]
    print(f"  spread of the density: {spread[0]:.1e} → {spread[1]:.1e}")
    print(f"  order of the last step: {order:.2f}")
    assert history[-1] < 1e-4 * history[0]
    assert order > 1.5  # superlinear
    panel.semilogy(history, style, label=f"Hessian {name}, {seconds:.2f} s")
panel.set(title=f"{count} particles relaxed to uniform density", xlabel="Newton step", ylabel="|∇E|")
panel.legend()
PICTURE.parent.mkdir(parents=True, exist_ok=True)
figure.savefig(PICTURE, dpi=100)
print(f"picture: {PICTURE}")
