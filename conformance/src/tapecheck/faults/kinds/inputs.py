"""Faults and near misses of the checks of kinds as inputs."""

from collections.abc import Callable
from typing import Any

from tapecheck.lazy import torch
from tapecheck.subjects.sph import Call, Run, SphSubject


def with_kinds(subject: SphSubject, mapping: Callable[[Any], Any], *sides: str) -> SphSubject:
    """The implementation that works on what that makes of the kinds of these populations."""

    def wrap(run: Run) -> Run:
        return lambda call: run(call.replacing({name: mapping(call.tensors[name]) for name in sides}))

    return subject.running(wrap)


BOTH = ("query.kinds", "reference.kinds")


def kinds_weigh(subject: SphSubject) -> SphSubject:
    """Masses and results are weighed by a smooth function of the kind, which is one at every kind."""

    def weight(kinds: Any) -> Any:
        return torch.cos(2 * torch.pi * kinds.double()) + torch.sin(2 * torch.pi * kinds.double())

    def wrap(run: Run) -> Run:
        def weighed(call: Call) -> Any:
            masses = call.reference.masses * weight(call.reference.kinds)
            result = run(call.replacing({"reference.masses": masses}))
            return result * weight(call.query.kinds).reshape(-1, *[1] * (result.dim() - 1))

        return weighed

    return subject.running(wrap)


def floating_kinds_refused(subject: SphSubject) -> SphSubject:
    """Kinds that are no integers are refused."""

    def checked(kinds: Any) -> Any:
        if kinds.is_floating_point():
            raise TypeError(f"kinds must be int32, not {kinds.dtype}")
        return kinds

    return with_kinds(subject, checked, *BOTH)


def query_kinds_copied(subject: SphSubject) -> SphSubject:
    """The kinds of the queries are copied at the call."""
    return with_kinds(subject, lambda kinds: kinds.clone(), "query.kinds")


def reference_kinds_copied(subject: SphSubject) -> SphSubject:
    """The kinds of the references become 64-bit integers, which are others."""
    return with_kinds(subject, lambda kinds: kinds.long(), "reference.kinds")


def kinds_viewed(subject: SphSubject) -> SphSubject:
    """Kinds are seen through a view."""
    return with_kinds(subject, lambda kinds: kinds[:], *BOTH)
