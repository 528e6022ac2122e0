"""Faults and near misses of the checks of particles without neighbours."""

from collections.abc import Callable
from typing import Any

from tapecheck.lazy import oracles, torch
from tapecheck.subjects.sph import Call, Run, SphSubject


def _counts(call: Call, side: str) -> Any:
    """How many particles of the other population each particle of one interacts with."""
    pairs = oracles.pair_up(query=call.query, reference=call.reference, domain=call.domain, rules=call.rules)
    return pairs.selected.sum(1 if side == "query" else 0).double()


def _with_rows(subject: SphSubject, mapping: Callable[[Any, Any], Any]) -> SphSubject:
    def wrap(run: Run) -> Run:
        def mapped(call: Call) -> Any:
            result = run(call)
            return mapping(result, _counts(call, "query").reshape(-1, *[1] * (result.dim() - 1)))

        return mapped

    return subject.running(wrap)


def divided_by_count(subject: SphSubject) -> SphSubject:
    """A sum is made from the mean over the neighbours."""
    return _with_rows(subject, lambda result, count: result * (count / count))


def divided_by_count_beside_a_branch(subject: SphSubject) -> SphSubject:
    """A sum is made from the mean over the neighbours; where there is none, `where` takes zero instead."""
    return _with_rows(subject, lambda result, count: torch.where(count > 0, result / count * count, 0.0))


def divided_by_count_of_one_at_least(subject: SphSubject) -> SphSubject:
    """A sum is made from the mean over the neighbours, of which there counts one at least."""
    return _with_rows(subject, lambda result, count: result * (count / count.clamp(min=1.0)))


def rows_closed_up(subject: SphSubject) -> SphSubject:
    """Rows with neighbours come first, those without any last."""

    def closed(result: Any, count: Any) -> Any:
        return result[torch.argsort((count == 0).flatten().int(), stable=True)]

    return _with_rows(subject, closed)


def _with_masses(subject: SphSubject, mapping: Callable[[Any, Any], Any]) -> SphSubject:
    def wrap(run: Run) -> Run:
        def mapped(call: Call) -> Any:
            masses = mapping(call.reference.masses, _counts(call, "reference"))
            return run(call.replacing({"reference.masses": masses}))

        return mapped

    return subject.running(wrap)


def masses_shared_out(subject: SphSubject) -> SphSubject:
    """Each mass is divided by the number of queries that see it, and multiplied again."""
    return _with_masses(subject, lambda masses, count: masses / count * count)


def masses_shared_out_to_one_at_least(subject: SphSubject) -> SphSubject:
    """Each mass is divided by the number of queries that see it, of which there counts one at least."""
    return _with_masses(subject, lambda masses, count: masses * (count.clamp(min=1.0) / count.clamp(min=1.0)))
