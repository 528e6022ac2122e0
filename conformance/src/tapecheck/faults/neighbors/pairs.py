"""Faults and near misses of the checks of neighbour searches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tapecheck.lazy import oracles, torch
from tapecheck.subjects.sph import Call, Listed, Run, Search, SphSubject


def _searching(subject: SphSubject, wrap: Callable[[Search], Search]) -> SphSubject:
    search = subject.operators.search
    assert search is not None
    return replace(subject, operators=replace(subject.operators, search=wrap(search)))


def _with_pairs(subject: SphSubject, mapping: Callable[[Any], Any]) -> SphSubject:
    """The search whose pairs are what that makes of them."""

    def wrap(search: Search) -> Search:
        def mapped(*given: Any) -> Listed:
            found = search(*given)
            return found._replace(pairs=mapping(found.pairs))

        return mapped

    return _searching(subject, wrap)


def _on_particles(subject: SphSubject, mapping: Callable[[Any, Any], Any]) -> SphSubject:
    """The search on what that makes of particles in a box."""

    def wrap(search: Search) -> Search:
        def mapped(query: Any, reference: Any, domain: Any, *rest: Any) -> Listed:
            own = mapping(query, domain)
            return search(own, own if reference is query else mapping(reference, domain), domain, *rest)

        return mapped

    return _searching(subject, wrap)


def last_pair_missing(subject: SphSubject) -> SphSubject:
    """The last pair is not found."""
    return _with_pairs(subject, lambda pairs: pairs[:, :-1])


def first_pair_twice(subject: SphSubject) -> SphSubject:
    """The first pair is found twice."""
    return _with_pairs(subject, lambda pairs: torch.cat([pairs[:, :1], pairs], 1))


def all_pairs_listed(subject: SphSubject) -> SphSubject:
    """A pair more is listed, which is out of reach."""

    def wrap(search: Search) -> Search:
        def wider(query: Any, reference: Any, domain: Any, mode: str, margin: float) -> Listed:
            found = search(query, reference, domain, mode, margin)
            listed = set(map(tuple, found.pairs.T.tolist()))
            every = ((i, j) for i in range(len(query.masses)) for j in range(len(reference.masses)))
            more = next((pair for pair in every if pair not in listed), (0, 0))
            return found._replace(pairs=torch.cat([found.pairs, torch.tensor(more).to(found.pairs)[:, None]], 1))

        return wider

    return _searching(subject, wrap)


def particles_copied(subject: SphSubject) -> SphSubject:
    """The particles are put into objects of their own."""
    return _on_particles(subject, lambda particles, domain: replace(particles)).running(
        lambda run: lambda call: run(replace(call))
    )


def positions_clamped_into_the_box(subject: SphSubject) -> SphSubject:
    """What lies outside the box counts as on its edge."""

    def clamped(particles: Any, domain: Any) -> Any:
        low, high, _ = (torch.tensor(bound).to(particles.positions) for bound in vars(domain).values())
        return replace(particles, positions=particles.positions.clamp(low, high))

    return _on_particles(subject, clamped)


def positions_wrapped_once(subject: SphSubject) -> SphSubject:
    """What lies outside a periodic box is moved by one side, and held against the others as it then lies."""

    def wrap(search: Search) -> Search:
        def wrapped(query: Any, reference: Any, domain: Any, mode: str, margin: float) -> Listed:
            if not any(domain.periodic):
                return search(query, reference, domain, mode, margin)

            def once(particles: Any) -> Any:
                x, side = particles.positions, domain.maximum[0]
                return replace(particles, positions=x + side * (x < 0) - side * (x >= side))

            apart = oracles.Domain(domain.minimum, domain.maximum, [False] * len(domain.minimum))
            return search(once(query), once(reference), apart, mode, margin)

        return wrapped

    return _searching(subject, wrap)


def rows_cut_off(subject: SphSubject) -> SphSubject:
    """A row has room for 64 neighbours."""

    def cut(pairs: Any) -> Any:
        place = torch.arange(pairs.shape[1]).to(pairs) - torch.searchsorted(
            pairs[0].contiguous(), pairs[0].contiguous()
        )
        return pairs[:, place < 64]

    return _with_pairs(subject, cut)


def cells_of_32_bits(subject: SphSubject) -> SphSubject:
    """Cells are numbered with 32 bits, so that far ones fall together."""
    return _on_particles(
        subject, lambda particles, domain: replace(particles, positions=particles.positions.remainder(2.0**22))
    )


def rows_reversed(subject: SphSubject) -> SphSubject:
    """Neighbours come in descending order."""
    return _with_pairs(subject, lambda pairs: pairs[:, torch.argsort(pairs[0] * 10**6 - pairs[1])])


def pairs_by_reference(subject: SphSubject) -> SphSubject:
    """Pairs are sorted by reference, and not by query."""
    return _with_pairs(subject, lambda pairs: pairs[:, torch.argsort(pairs[1], stable=True)])


def nobody_near_the_last_query_without_a_list(subject: SphSubject) -> SphSubject:
    """Without a list the last query has no neighbour."""

    def wrap(run: Run) -> Run:
        def short(call: Call) -> Any:
            result = run(call)
            return result if call.pairs is not None else torch.cat([result[:-1], 0 * result[-1:]])

        return short

    return subject.running(wrap)


def largest_support_of_nobody(subject: SphSubject) -> SphSubject:
    """The largest support is looked up, of which there must be one."""

    def looked_up(particles: Any, domain: Any) -> Any:
        particles.supports.max()
        return particles

    return _on_particles(subject, looked_up)


def never_rebuilt(subject: SphSubject) -> SphSubject:
    """A list never asks to be rebuilt."""

    def wrap(search: Search) -> Search:
        return lambda *given: search(*given)._replace(must_rebuild=lambda query, reference: False)

    return _searching(subject, wrap)


def positions_not_copied(subject: SphSubject) -> SphSubject:
    """A list keeps the caller's tensors, and compares them with themselves."""

    def wrap(search: Search) -> Search:
        def kept(query: Any, reference: Any, domain: Any, mode: str, margin: float) -> Listed:
            def moved(now: Any, _: Any) -> bool:
                return bool((now.positions - query.positions).norm(dim=1).max() > margin / 2)

            return search(query, reference, domain, mode, margin)._replace(must_rebuild=moved)

        return kept

    return _searching(subject, wrap)
