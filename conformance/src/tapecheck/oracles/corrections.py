"""How corrections are made: renormalization, reproducing kernels, lattice calibration; all differentiable.

A row that a limiter rejects has a constant identity: its inputs are replaced by constants before the algebra, so that
nothing singular is computed, and no derivative comes out of it. What is meant by `query`, `reference`, `domain`,
`rules` and `volumes` stands at the top of `operators`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import torch
from torch import Tensor

from tapecheck.oracles import smoothing
from tapecheck.oracles.corrected import Crk, corrected_value
from tapecheck.oracles.geometry import Domain
from tapecheck.oracles.operators import covariance, pair_volumes
from tapecheck.oracles.pairs import Particles, Rules, pair_up, require_factor

RELATIVE_THRESHOLD = 1e-6
"""Of the largest singular value: what is below counts as zero."""


def renormalization(
    *,
    query: Particles,
    reference: Particles,
    domain: Domain,
    rules: Rules,
    volumes: Tensor | None = None,
    crk: Crk | None = None,
    threshold: float = RELATIVE_THRESHOLD,
) -> Tensor:
    """L = C⁻ᵀ of the covariance C, a pseudo-inverse (Bonet & Lok 1999); shape (N, d, d).

    A difference gradient with L is exact for linear fields. The identity, as a constant, where fewer than d + 2 pairs
    interact or C is zero. `crk` is given where it corrects the gradient before L does. Singular values below the
    threshold, relative to the largest, count as zero.
    """
    matrix, count = covariance(query=query, reference=reference, domain=domain, rules=rules, volumes=volumes, crk=crk)
    d = matrix.shape[-1]
    accepted = ((count >= d + 2) & (matrix != 0).any(-1).any(-1))[:, None, None]
    identity = torch.eye(d, dtype=matrix.dtype, device=matrix.device)
    safe = torch.where(accepted, matrix, identity)
    inverse: Tensor = torch.linalg.pinv(safe, rtol=threshold)
    return inverse.transpose(-2, -1)


def crk_volume(*, query: Particles, reference: Particles, domain: Domain, rules: Rules) -> Tensor:
    """V_i = 1/Σ W_ij with the query's own support, whatever the mode [m^d], shape (N,); zero where the sum is zero."""
    pairs = pair_up(query=query, reference=reference, domain=domain, rules=replace(rules, support_mode="gather"))
    return _quotient(torch.ones_like(query.supports), pairs.value().sum(1))


def crk_correction(
    *,
    query: Particles,
    reference: Particles,
    domain: Domain,
    rules: Rules,
    volumes: Tensor | None = None,
    threshold: float = RELATIVE_THRESHOLD,
) -> Crk:
    """A, B and their derivatives (Frontiere, Raskin & Owen 2017), in the support mode of the rules.

    A = 1, B = ∂A = ∂B = 0, as constants, where fewer than d + 1 pairs interact, where m2 is ill-conditioned, or where
    m0 - m1ᵀ M m1, which A divides by, is as good as nothing of m0. The threshold is the least ratio of m2's smallest
    and largest eigenvalue, and of m0 - m1ᵀ M m1 and m0; neither depends on the unit of length.
    """
    pairs = pair_up(query=query, reference=reference, domain=domain, rules=rules)
    d, x = pairs.dimension, pairs.x
    identity = torch.eye(d, dtype=x.dtype, device=x.device)
    volume = pair_volumes(pairs, reference, volumes)
    weight = volume * pairs.value()
    slope = volume[..., None] * pairs.gradient()

    m0 = weight.sum(1)
    m1 = torch.einsum("nm,nma->na", weight, x)
    m2 = torch.einsum("nm,nma,nmb->nab", weight, x, x)
    d_m0 = slope.sum(1)  # the derivative's index g first, here and below
    d_m1 = torch.einsum("nma,nmg->nga", x, slope) + identity * m0[:, None, None]
    d_m2 = torch.einsum("nma,nmb,nmg->ngab", x, x, slope)
    d_m2 = d_m2 + torch.einsum("bg,na->ngab", identity, m1) + torch.einsum("ag,nb->ngab", identity, m1)

    accepted = (pairs.count >= d + 1) & _well_conditioned(m0, m1, m2, threshold)
    m0 = torch.where(accepted, m0, 1.0)
    m1 = torch.where(accepted[:, None], m1, 0.0)
    m2 = torch.where(accepted[:, None, None], m2, identity)
    d_m0 = torch.where(accepted[:, None], d_m0, 0.0)
    d_m1 = torch.where(accepted[:, None, None], d_m1, 0.0)
    d_m2 = torch.where(accepted[:, None, None, None], d_m2, 0.0)

    m = torch.linalg.inv(m2)
    b = -torch.einsum("nab,nb->na", m, m1)
    a = 1 / (m0 + torch.einsum("na,na->n", m1, b))
    # With M m1 = -B and M symmetric:
    # ∂_g B = -M ∂_g m1 + M (∂_g m2) M m1,  ∂_g A = -A² [∂_g m0 - 2 m1ᵀ M ∂_g m1 + m1ᵀ M (∂_g m2) M m1].
    grad_b = -torch.einsum("nab,ngb->nga", m, d_m1 + torch.einsum("ngab,nb->nga", d_m2, b))
    bracket = d_m0 + 2 * torch.einsum("na,nga->ng", b, d_m1) + torch.einsum("na,ngab,nb->ng", b, d_m2, b)
    return Crk(a, b, -(a**2)[:, None] * bracket, grad_b)


def crk_density(
    *,
    query: Particles,
    reference: Particles,
    domain: Domain,
    rules: Rules,
    volumes: Tensor | None = None,
    crk: Crk,
) -> Tensor:
    """The diagnostic density Σ m_j V_j W^R / Σ V_j² W^R [kg/m^d], shape (N,); zero where the lower sum is zero."""
    pairs = pair_up(query=query, reference=reference, domain=domain, rules=rules)
    volume = pair_volumes(pairs, reference, volumes)
    weight = volume * corrected_value(pairs, crk)
    return _quotient((pairs.of_reference(reference.masses) * weight).sum(1), (volume * weight).sum(1))


def lattice_calibration(n_h: float, *, function: str, dimension: int) -> float:
    """L = C_d/n_h^d Σ k(|n|/n_h) over the integer lattice: the density of a unit lattice, which should be one.

    Args:
        n_h: support radius in units of the particle spacing.
        function: the smoothing function.
        dimension: 1, 2 or 3.

    Raises:
        ValueError: n_h or L is not finite and positive.
    """
    if not (math.isfinite(n_h) and n_h > 0):
        raise ValueError(f"n_h, supports per spacing, must be finite and positive, it is {n_h}")
    reach = range(-math.floor(n_h), math.floor(n_h) + 1)
    distances = [math.hypot(*node) for node in itertools.product(reach, repeat=dimension)]
    support = torch.tensor(n_h, dtype=torch.float64)
    k = smoothing.profile(
        torch.tensor(distances, dtype=torch.float64) / support, function=function, dimension=dimension
    )
    factor = float(smoothing.constant(function=function, dimension=dimension) * k.sum() / support**dimension)
    require_factor(factor)
    return factor


def _well_conditioned(m0: Tensor, m1: Tensor, m2: Tensor, threshold: float) -> Tensor:
    """Which rows can be inverted; truth values of shape (N,), without derivative."""
    m0, m1, m2 = m0.detach(), m1.detach(), m2.detach()
    eigenvalues = torch.linalg.eigvalsh(m2)  # in ascending order
    sound: Tensor = eigenvalues[:, 0] > threshold * eigenvalues[:, -1]
    identity = torch.eye(m2.shape[-1], dtype=m2.dtype, device=m2.device)
    solved: Tensor = torch.linalg.solve(torch.where(sound[:, None, None], m2, identity), m1[..., None])[..., 0]
    left: Tensor = m0 - (m1 * solved).sum(-1)
    return sound & (left > threshold * m0)


def _quotient(above: Tensor, below: Tensor) -> Tensor:
    """above / below, zero with zero derivative where below is zero."""
    return torch.where(below == 0, 0.0, above / torch.where(below == 0, 1.0, below))
