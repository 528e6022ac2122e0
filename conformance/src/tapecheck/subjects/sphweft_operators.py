"""The core's operators behind the adapter of SPH implementations."""

from __future__ import annotations

from typing import Any

import torch

import sphweft
from tapecheck import oracles
from tapecheck.subjects.sph import Call, Listed, Operators


def state_of(call: Call) -> dict[str, Any]:
    """What every call of the core takes."""
    query, reference = (sphweft.ParticleState(**vars(particles)) for particles in (call.query, call.reference))
    rules, laplacian = call.rules, call.operator == "laplacian"
    return {
        "query": query,
        "adjacency": None
        if call.pairs is None
        else sphweft.AdjacencyList.from_pairs(call.pairs[0], call.pairs[1], query.count, reference.count),
        "reference": None if call.reference is call.query else reference,
        "domain": sphweft.DomainDescription(**vars(call.domain)),
        "properties": sphweft.OperationProperties(
            sphweft.SmoothingFunction[rules.function.upper()],
            sphweft.SupportMode[rules.support_mode.upper()],
            sphweft.GradientScheme["DIFFERENCE" if laplacian else (call.scheme or "difference").upper()],
            sphweft.InteractionDirection[rules.direction.upper()],
            sphweft.LaplacianScheme[call.scheme.upper() if laplacian else "BROOKSHAW"],
        ),
        "corrections": sphweft.Corrections(reference_volumes=call.reference_volumes),
    }


def run(call: Call) -> torch.Tensor:
    """The result of the core; of the covariance the matrix."""
    operation = sphweft.Operation[call.operator.upper()]
    found = sphweft.warp_operation(
        operation, **state_of(call), values=call.reference_field, query_values=call.query_field
    )
    matrix: torch.Tensor = found[0] if operation is sphweft.Operation.COVARIANCE else found
    return matrix


def hessian_product(call: Call, v: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """That of the core."""
    return sphweft.warp_operation_hvp(**state_of(call), query_vectors=v, reference_vectors=u)


def search(
    query: oracles.Particles, reference: oracles.Particles, domain: oracles.Domain, support_mode: str, margin: float
) -> Listed:
    """That of the core."""

    def sides(query: oracles.Particles, reference: oracles.Particles) -> tuple[Any, Any]:
        return sphweft.ParticleState(**vars(query)), (
            None if reference is query else sphweft.ParticleState(**vars(reference))
        )

    found = sphweft.neighbor_list(
        *sides(query, reference),
        domain=sphweft.DomainDescription(**vars(domain)),
        properties=sphweft.OperationProperties(support_mode=sphweft.SupportMode[support_mode.upper()]),
        margin=margin,
    )
    rows = torch.arange(found.query_count, device=found.counts.device).repeat_interleave(found.counts)
    pairs = torch.stack([rows, found.neighbors.long()])
    return Listed(pairs, lambda query, reference: found.must_rebuild(*sides(query, reference)))


OPERATORS = Operators(run, packages=("sphweft",), hessian_product=hessian_product, search=search, walks=True)
