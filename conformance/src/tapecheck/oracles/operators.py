"""The operators: sums over all interacting pairs of a coefficient and a form of the kernel.

Sources: Price 2012; Brookshaw 1985 and Español & Revenga 2003 for the Laplacians; Springel & Hernquist 2002 for Ω.

Arguments of the same name mean the same everywhere:
    query, reference: the two populations, N and M particles.
    domain, rules: the box, and what shapes every operator alike.
    query_field, reference_field: values of one rank, shape (N, *field) and (M, *field).
    volumes: V_j [m^d], shape (M,); left out, masses over densities of the reference.
    corrections: what corrects the kernel; one that an operator has no place for is an error.
A query that the direction masks gets zero.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tapecheck.oracles.corrected import NONE, Corrections, Crk, corrected_gradient, corrected_value
from tapecheck.oracles.geometry import Domain
from tapecheck.oracles.pairs import Pairs, Particles, Rules, pair_up

GRADIENT_SCHEMES = ("naive", "difference", "summation", "symmetric")
LAPLACIAN_SCHEMES = ("naive", "brookshaw", "dot")


def density(*, query: Particles, reference: Particles, domain: Domain, rules: Rules) -> Tensor:
    """Σ m_j W_ij [kg/m^d], shape (N,)."""
    pairs = pair_up(query=query, reference=reference, domain=domain, rules=rules)
    return (pairs.of_reference(reference.masses) * pairs.value()).sum(1)


def interpolate(
    *,
    query: Particles,
    reference: Particles,
    domain: Domain,
    rules: Rules,
    reference_field: Tensor,
    volumes: Tensor | None = None,
    crk: Crk | None = None,
) -> Tensor:
    """Σ V_j f_j W_ij, shape (N, *field)."""
    pairs = pair_up(query=query, reference=reference, domain=domain, rules=rules)
    weight = pair_volumes(pairs, reference, volumes) * corrected_value(pairs, crk)
    return torch.einsum("nm,nm...->n...", weight, pairs.of_reference(reference_field))


def gradient(
    *,
    query: Particles,
    reference: Particles,
    domain: Domain,
    rules: Rules,
    scheme: str,
    reference_field: Tensor,
    query_field: Tensor | None = None,
    volumes: Tensor | None = None,
    corrections: Corrections = NONE,
) -> Tensor:
    """Σ c_ij ⊗ ∇W_ij, shape (N, *field, d): the derivative's axis is the last, in one dimension too.

    c_ij: naive V_j f_j; difference V_j (f_j - f_i); summation V_j (f_j + f_i); symmetric
    m_j ρ_i (f_i/ρ_i² + f_j/ρ_j²). With Ω the first three sums are divided by Ω_i, and the last is
    m_j ρ_i (f_i/(Ω_i ρ_i²) + f_j/(Ω_j ρ_j²)).

    Raises:
        ValueError: an argument that the scheme reads is missing, or volumes are given to the symmetric one.
    """
    pairs = pair_up(query=query, reference=reference, domain=domain, rules=rules)
    nabla = corrected_gradient(pairs, corrections.crk, corrections.renormalization)
    if scheme == "symmetric":
        if volumes is not None:
            raise ValueError("the symmetric scheme has no volumes: leave volumes out")
        coefficient = _symmetric(pairs, query, reference, query_field, reference_field, corrections)
        return torch.einsum("nm...,nmg->n...g", coefficient, nabla)
    f_j = pairs.of_reference(reference_field)
    if scheme == "naive":
        values = f_j
    elif scheme == "difference":
        values = f_j - pairs.of_query(_given(query_field, "query_field", scheme))
    elif scheme == "summation":
        values = f_j + pairs.of_query(_given(query_field, "query_field", scheme))
    else:
        raise ValueError(f"unknown scheme {scheme!r}: {', '.join(GRADIENT_SCHEMES)}")
    total = torch.einsum("nm,nm...,nmg->n...g", pair_volumes(pairs, reference, volumes), values, nabla)
    return _over_omega(total, corrections)


def divergence(
    *,
    query: Particles,
    reference: Particles,
    domain: Domain,
    rules: Rules,
    scheme: str,
    reference_field: Tensor,
    query_field: Tensor | None = None,
    volumes: Tensor | None = None,
    corrections: Corrections = NONE,
) -> Tensor:
    """Σ c_ij · ∇W_ij over the last axis of the field, shape (N, *field[:-1]): the trace of `gradient`.

    Raises:
        ValueError: as `gradient`, or the field's last axis is not of length d.
    """
    _require_vectors(reference_field, query, "divergence")
    jacobian = gradient(
        query=query,
        reference=reference,
        domain=domain,
        rules=rules,
        scheme=scheme,
        reference_field=reference_field,
        query_field=query_field,
        volumes=volumes,
        corrections=corrections,
    )
    return jacobian.diagonal(dim1=-2, dim2=-1).sum(-1)


def curl(
    *,
    query: Particles,
    reference: Particles,
    domain: Domain,
    rules: Rules,
    scheme: str,
    reference_field: Tensor,
    query_field: Tensor | None = None,
    volumes: Tensor | None = None,
    corrections: Corrections = NONE,
) -> Tensor:
    """Σ ∇W_ij × c_ij over the last axis of the field: the antisymmetric part of `gradient`.

    Returns:
        3-D: shape (N, *field[:-1], 3). 2-D: ∂_x c_y - ∂_y c_x, shape (N, *field[:-1]).

    Raises:
        ValueError: as `divergence`, or there is only one dimension.
    """
    dimension = query.positions.shape[1]
    if dimension == 1:
        raise ValueError("the curl needs two or three dimensions, the particles have 1")
    _require_vectors(reference_field, query, "curl")
    jacobian = gradient(
        query=query,
        reference=reference,
        domain=domain,
        rules=rules,
        scheme=scheme,
        reference_field=reference_field,
        query_field=query_field,
        volumes=volumes,
        corrections=corrections,
    )

    def rotation(a: int, b: int) -> Tensor:
        return jacobian[..., b, a] - jacobian[..., a, b]  # ∂_a c_b - ∂_b c_a

    return rotation(0, 1) if dimension == 2 else torch.stack([rotation(1, 2), rotation(2, 0), rotation(0, 1)], -1)


def laplacian(
    *,
    query: Particles,
    reference: Particles,
    domain: Domain,
    rules: Rules,
    scheme: str,
    query_field: Tensor,
    reference_field: Tensor,
    volumes: Tensor | None = None,
    corrections: Corrections = NONE,
) -> Tensor:
    """Second derivatives, shape (N, *field); pairs at r = 0 are skipped. With F = ∇W_ij · x_ij / r²:

    naive: Σ V_j (f_j - f_i) times the radial Laplacian of W. It has no form with corrected gradients.
    brookshaw: Σ 2 V_j (f_i - f_j) F, which tends to ∇²f.
    dot: Σ F V_j [δ - (d + 2)(δ·n) n] on the field's last axis, δ = f_j - f_i, n = x_ij/r, which tends to ∇(∇·f).
    With Ω the sum is divided by Ω_i.

    Raises:
        ValueError: a field whose last axis is not of length d in dot, or corrected gradients in naive.
    """
    pairs = pair_up(query=query, reference=reference, domain=domain, rules=rules)
    volume = pair_volumes(pairs, reference, volumes)
    delta = pairs.of_reference(reference_field) - pairs.of_query(query_field)
    if scheme == "naive":
        if corrections.crk is not None or corrections.renormalization is not None:
            raise ValueError("the naive Laplacian has no gradient to correct: leave crk and renormalization out")
        form = torch.where(pairs.apart, pairs.radial_laplacian(), 0.0)
        return _over_omega(torch.einsum("nm,nm,nm...->n...", volume, form, delta), corrections)
    nabla = corrected_gradient(pairs, corrections.crk, corrections.renormalization)
    along = torch.where(pairs.apart, (nabla * pairs.x).sum(-1), 0.0)
    form = along / torch.where(pairs.apart, pairs.r, 1.0) ** 2
    if scheme == "brookshaw":
        total = torch.einsum("nm,nm,nm...->n...", 2 * volume, form, -delta)
    elif scheme == "dot":
        d = pairs.dimension
        _require_vectors(reference_field, query, "the dot Laplacian")
        projection = torch.einsum("nm...c,nmc,nmg->nm...g", delta, pairs.unit, pairs.unit)
        total = torch.einsum("nm,nm,nm...->n...", volume, form, delta - (d + 2) * projection)
    else:
        raise ValueError(f"unknown scheme {scheme!r}: {', '.join(LAPLACIAN_SCHEMES)}")
    return _over_omega(total, corrections)


def covariance(
    *,
    query: Particles,
    reference: Particles,
    domain: Domain,
    rules: Rules,
    volumes: Tensor | None = None,
    crk: Crk | None = None,
) -> tuple[Tensor, Tensor]:
    """C_ab = -Σ V_j (x_ij)_a ∂_b W, shape (N, d, d), and the number of interacting pairs, shape (N,)."""
    pairs = pair_up(query=query, reference=reference, domain=domain, rules=rules)
    volume = pair_volumes(pairs, reference, volumes)
    matrix = torch.einsum("nm,nma,nmb->nab", volume, -pairs.x, corrected_gradient(pairs, crk))
    return matrix, pairs.count


def grad_h(*, query: Particles, reference: Particles, domain: Domain, rules: Rules) -> Tensor:
    """Ω_i = 1 + h_i/(d ρ_i) Σ m_j ∂W_ij/∂h_i, shape (N,); ρ_i are the query's densities. 1 where ρ_i is zero."""
    pairs = pair_up(query=query, reference=reference, domain=domain, rules=rules)
    total = (pairs.of_reference(reference.masses) * pairs.support_derivative()).sum(1)
    rho = _given(query.densities, "query.densities", "grad-h")
    factor = query.supports / (pairs.dimension * torch.where(rho == 0, 1.0, rho))
    return 1 + torch.where(rho == 0, 0.0, factor * total)


def pair_volumes(pairs: Pairs, reference: Particles, volumes: Tensor | None) -> Tensor:
    """V_j [m^d] at each pair, zero where it does not interact; shape (N, M)."""
    if volumes is not None:
        return pairs.of_reference(volumes)
    rho = _given(reference.densities, "reference.densities", "an operator without volumes")
    return pairs.of_reference(reference.masses) / pairs.of_reference(rho, otherwise=1.0)


def _symmetric(
    pairs: Pairs,
    query: Particles,
    reference: Particles,
    query_field: Tensor | None,
    reference_field: Tensor,
    corrections: Corrections,
) -> Tensor:
    """m_j ρ_i (f_i/(Ω_i ρ_i²) + f_j/(Ω_j ρ_j²)), shape (N, M, *field), Ω one where it is left out."""
    if (corrections.omega is None) != (corrections.reference_omega is None):
        raise ValueError("the symmetric scheme reads Ω on both sides: give omega and reference_omega, or neither")
    rho_i = pairs.of_query(_given(query.densities, "query.densities", "symmetric"), otherwise=1.0)
    rho_j = pairs.of_reference(_given(reference.densities, "reference.densities", "symmetric"), otherwise=1.0)
    f_i = pairs.of_query(_given(query_field, "query_field", "symmetric"))
    f_j = pairs.of_reference(reference_field)
    over_i, over_j = 1 / rho_i**2, 1 / rho_j**2
    if corrections.omega is not None and corrections.reference_omega is not None:
        over_i = over_i / pairs.of_query(corrections.omega, otherwise=1.0)
        over_j = over_j / pairs.of_reference(corrections.reference_omega, otherwise=1.0)
    bracket = torch.einsum("nm,nm...->nm...", over_i, f_i) + torch.einsum("nm,nm...->nm...", over_j, f_j)
    return torch.einsum("nm,nm...->nm...", pairs.of_reference(reference.masses) * rho_i, bracket)


def _over_omega(total: Tensor, corrections: Corrections) -> Tensor:
    if corrections.omega is None:
        return total
    return total / corrections.omega.reshape(-1, *[1] * (total.ndim - 1))


def _require_vectors(field: Tensor, query: Particles, operator: str) -> None:
    dimension = query.positions.shape[1]
    if field.ndim < 2 or field.shape[-1] != dimension:
        raise ValueError(
            f"{operator} needs a field whose last axis has length {dimension}; this one's shape is {tuple(field.shape)}"
        )


def _given(value: Tensor | None, name: str, reader: str) -> Tensor:
    if value is None:
        raise ValueError(f"{reader} reads {name}, which is missing")
    return value
