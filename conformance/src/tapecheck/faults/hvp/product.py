"""Faults and near misses of the checks of the Hessian product."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tapecheck.lazy import torch
from tapecheck.subjects.sph import Call, HessianProduct, SphSubject


def with_product(subject: SphSubject, wrap: Callable[[HessianProduct], HessianProduct]) -> SphSubject:
    """The same subject with every Hessian product going through something else."""
    product = subject.operators.hessian_product
    assert product is not None
    return replace(subject, operators=replace(subject.operators, hessian_product=wrap(product)))


def product_halved(subject: SphSubject) -> SphSubject:
    """The product is half of what it should be."""
    return with_product(subject, lambda product: lambda call, v, u: product(call, v, u) / 2)


def reference_vectors_ignored(subject: SphSubject) -> SphSubject:
    """The references do not vary."""
    return with_product(subject, lambda product: lambda call, v, u: product(call, v, torch.zeros_like(u)))


def query_vectors_ignored(subject: SphSubject) -> SphSubject:
    """The queries do not vary."""
    return with_product(subject, lambda product: lambda call, v, u: product(call, torch.zeros_like(v), u))


def vectors_copied(subject: SphSubject) -> SphSubject:
    """The vectors are copied."""
    return with_product(subject, lambda product: lambda call, v, u: product(call, v.clone(), u.clone()))


def _apart(call: Call) -> Call:
    """The same particles as two populations."""
    twin = type(call.query)(**{name: tensor.clone() for name, tensor in vars(call.query).items()})
    return replace(call, reference=twin)


def self_pair_kept(subject: SphSubject) -> SphSubject:
    """A particle's pair with itself counts in one population too."""

    def wrap(product: HessianProduct) -> HessianProduct:
        return lambda call, v, u: product(_apart(call) if call.reference is call.query else call, v, u)

    return with_product(subject, wrap)


def equal_positions_left_out(subject: SphSubject) -> SphSubject:
    """Pairs at equal positions are left out, also of two populations."""

    def wrap(product: HessianProduct) -> HessianProduct:
        def without(call: Call, v: Any, u: Any) -> Any:
            assert call.pairs is not None
            i, j = call.pairs
            if bool((call.query.positions[i] == call.reference.positions[j]).all()):
                return torch.zeros_like(v)
            return product(call, v, u)

        return without

    return with_product(subject, wrap)
