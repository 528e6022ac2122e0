"""The oracle as a subject: it must keep every contract of SPH, and their faults are planted in it."""

from __future__ import annotations

from inspect import signature
from typing import Any

import torch

from tapecheck import oracles
from tapecheck.subjects.sph import Call, Listed, Operators, SphSubject


class _Watched(torch.autograd.Function):
    """A result whose backward sees to it that nobody has changed some tensors since: the oracle does not save kinds."""

    generate_vmap_rule = True

    @staticmethod
    def forward(result: torch.Tensor, *watched: torch.Tensor) -> torch.Tensor:
        return result.view_as(result)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *seeds: Any) -> Any:
        return *seeds, *(None for _ in ctx.saved_tensors)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return tangents[0].view_as(tangents[0])


def run(call: Call) -> torch.Tensor:
    """The result of the oracle; what an operator has no parameter for does not reach it."""
    operator = getattr(oracles, call.operator)
    given = {**vars(call), "volumes": call.reference_volumes}
    result = operator(**{name: given[name] for name in signature(operator).parameters if given.get(name) is not None})
    result = result[0] if isinstance(result, tuple) else result
    watched: torch.Tensor = _Watched.apply(result, call.query.kinds, call.reference.kinds)
    return watched


def hessian_product(call: Call, v: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """That of the oracle."""
    state = {name: getattr(call, name) for name in ("query", "reference", "domain", "rules")}
    return oracles.density_hvp(**state, query_tangent=v, reference_tangent=u)


def search(
    query: oracles.Particles, reference: oracles.Particles, domain: oracles.Domain, support_mode: str, margin: float
) -> Listed:
    """All pairs, looked at one by one."""
    pairs = oracles.near(query=query, reference=reference, domain=domain, support_mode=support_mode, margin=margin)

    def must_rebuild(query: oracles.Particles, reference: oracles.Particles) -> bool:
        now = oracles.near(query=query, reference=reference, domain=domain, support_mode=support_mode)
        listed = set(map(tuple, pairs.T.tolist()))
        return any(tuple(pair) not in listed for pair in now.T.tolist())

    return Listed(pairs, must_rebuild)


def subject() -> SphSubject:
    """The oracle."""
    return SphSubject(Operators(run, hessian_product=hessian_product, search=search, walks=True))
