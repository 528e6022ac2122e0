"""The core's operators behind the adapter of SPH implementations."""

from __future__ import annotations

import torch

import sphweft
from tapecheck.subjects.sph import Call, Operators


def run(call: Call) -> torch.Tensor:
    """The result of the core."""
    query, reference = (sphweft.ParticleState(**vars(particles)) for particles in (call.query, call.reference))
    rules = call.rules
    return sphweft.warp_operation(
        sphweft.Operation[call.operator.upper()],
        query,
        sphweft.AdjacencyList.from_pairs(call.pairs[0], call.pairs[1], query.count, reference.count),
        values=call.reference_field,
        query_values=call.query_field,
        reference=None if call.reference is call.query else reference,
        domain=sphweft.DomainDescription(**vars(call.domain)),
        properties=sphweft.OperationProperties(
            sphweft.SmoothingFunction[rules.function.upper()],
            sphweft.SupportMode[rules.support_mode.upper()],
            sphweft.GradientScheme[call.scheme.upper()],
            sphweft.InteractionDirection[rules.direction.upper()],
        ),
    )


OPERATORS = Operators(run, packages=("sphweft",))
