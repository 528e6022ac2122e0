"""The position Hessian of the density times a vector."""

from __future__ import annotations

import torch
from torch import Tensor

from tapecheck.oracles.geometry import Domain
from tapecheck.oracles.pairs import Particles, Rules, pair_up


def density_hvp(
    *,
    query: Particles,
    reference: Particles,
    domain: Domain,
    rules: Rules,
    query_tangent: Tensor | None = None,
    reference_tangent: Tensor | None = None,
) -> Tensor:
    """Σ m_j H_ij (v_i - u_j), the derivative of the query-role gradient of the density; shape (N, d).

    Where query and reference are one population, a particle's pair with itself is left out: its distance to itself is
    constant. They are one where their positions are the same object. In two populations every pair counts.

    The tangents v, `query_tangent` [m], shape (N, d), and u, `reference_tangent` [m], shape (M, d), are zero where they
    are left out.

    Raises:
        ValueError: the smoothing function has no Hessian at the origin.
    """
    pairs = pair_up(query=query, reference=reference, domain=domain, rules=rules)
    v = torch.zeros_like(query.positions) if query_tangent is None else query_tangent
    u = torch.zeros_like(reference.positions) if reference_tangent is None else reference_tangent
    approach = pairs.of_query(v) - pairs.of_reference(u)
    if query.positions is reference.positions:
        itself = torch.eye(len(v), dtype=torch.bool, device=v.device)
        approach = torch.where(itself[..., None], 0.0, approach)
    return torch.einsum("nm,nmab,nmb->na", pairs.of_reference(reference.masses), pairs.hessian(), approach)
