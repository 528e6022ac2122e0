"""Neighbour search: every pair within reach, none missing, none twice, sorted by reference within a row."""

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
import warp as wp

from sphweft.cache.views import array_over
from sphweft.enums import SupportMode
from sphweft.errors import InputError, of_type
from sphweft.neighbors.adjacency import AdjacencyList
from sphweft.neighbors.grid import HashGrid, launch
from sphweft.neighbors.rows import LANES, row_kernels
from sphweft.runtime import LOCK, SCALARS, element_type, fresh_indices
from sphweft.slices import Slice, side_by_side, slices_of
from sphweft.state import DomainDescription, OperationProperties, ParticleState, check_together
from sphweft.transforms import outside_transforms, plain

WEIGHTS: dict[SupportMode, tuple[float, float, float]] = {
    SupportMode.GATHER: (1.0, 0.0, 0.0),
    SupportMode.SCATTER: (0.0, 1.0, 0.0),
    SupportMode.MEAN_SUPPORT: (0.5, 0.5, 0.0),
    SupportMode.MEAN_KERNEL: (0.0, 1.0, 1.0),
}
"""(a, b, c) of a mode's search radius max(c h_i, a h_i + b h_j)."""

BATCH = 8
"""How many rows are listed before they are sorted: meanwhile the memory that they go to is fetched."""

MOST_NOTES = 256
"""Of a query, whose neighbours are then thousands."""

_DEFAULT = OperationProperties()


class Snapshot(NamedTuple):
    """What a search reads of a population.

    Attributes:
        positions: [m], shape (n, d).
        supports: [m], shape (n,).
    """

    positions: torch.Tensor
    supports: torch.Tensor


@dataclass(frozen=True, eq=False, repr=False)
class NeighborList(AdjacencyList):
    """An adjacency list that a search made, and what it was made for.

    Attributes:
        margin: by how much the search radius was enlarged [m].
        support_mode: whose support radius it was.
        domain: the box.
        query: copies of the query particles' positions and supports.
        reference: the same of the references; the same object where the populations are one.
    """

    margin: float
    support_mode: SupportMode
    domain: DomainDescription | None
    query: Snapshot
    reference: Snapshot

    def __post_init__(self) -> None:
        """Right by construction."""

    def _further(self) -> str:
        return f"dtype={self.query.positions.dtype}, margin={self.margin:g}, "

    def check_made_for(self, mode: SupportMode, domain: DomainDescription | None) -> None:
        """Refuses a use for which pairs may be missing.

        Raises:
            InputError: the list was made by another search radius, but for the largest one, or with other periods.
        """
        if mode is not self.support_mode is not SupportMode.MEAN_KERNEL:
            remedy = "give the search the operator's properties"
            raise InputError("adjacency", f"a list made by {mode!r}", f"one made by {self.support_mode!r}", remedy)
        if domain is not self.domain and _periods(domain) != _periods(self.domain):
            remedy = "give the search the operator's domain"
            expected, actual = (f"periods {_periods(each) or 'none'}" for each in (domain, self.domain))
            raise InputError("adjacency", f"a list made for {expected}", f"one made for {actual}", remedy)

    def must_rebuild(self, query: ParticleState, reference: ParticleState | None = None) -> bool:
        """Whether a pair that is not listed may have come within reach since the list was made.

        False promises that the list has every pair in reach; it reads the particles' values to say so.

        Args:
            query: the query particles now.
            reference: the references now; None where they are the query's.
        """
        source = query if reference is None else reference
        sides = ((_read("query", query), self.query), (_read("reference", source), self.reference))
        for (now, _), (then, _) in sides:
            if now.shape != then.shape or now.dtype != then.dtype or now.device != then.device:
                return True
        if not self.query_count or not self.reference_count:
            return False
        with outside_transforms():
            if all(torch.equal(*each) for now, then in sides for each in zip(now, then, strict=True)):
                return False
            moved = [_largest_displacement(now.positions, then.positions, self.domain) for now, then in sides]
            grown = [float((now.supports.double() - then.supports.double()).max()) for now, then in sides]
            radius = _radius(self.support_mode, float(self.query.supports.max()), float(self.reference.supports.max()))
            lengths = (
                radius + self.margin + _periodic_extent(self.domain, [s.positions for side in sides for s in side])
            )
        rounding = 16 * torch.finfo(query.positions.dtype).eps * lengths
        # so that a position or support that is not a number asks for a search, which says so
        return not sum(moved) + max(_radius(self.support_mode, *grown), 0.0) + rounding <= self.margin


def neighbor_list(
    query: ParticleState,
    reference: ParticleState | None = None,
    *,
    domain: DomainDescription | None = None,
    properties: OperationProperties = _DEFAULT,
    margin: float = 0.0,
) -> NeighborList:
    """Lists all pairs with r ≤ search radius + margin, whatever their kinds.

    r is the length of the separation as operators compute it, the radius h_i (gather), h_j (scatter), (h_i + h_j)/2
    (mean support) or max(h_i, h_j) (mean kernel). Where the populations are one, a particle is its own neighbour. No
    gradient flows. On a periodic axis positions may lie outside the box; if so far that their precision no longer
    resolves the search radius, the result is still exact and the search slow.

    Args:
        query: the particles that receive.
        reference: the particles that contribute; None where they are the query's.
        domain: the box; None where space is unbounded.
        properties: the discretisation, of which the support mode is read.
        margin: a length by which the radius is enlarged [m], so that the list lasts; see `NeighborList.must_rebuild`.

    Returns:
        The list, rows in the order of the queries, each sorted by reference.

    Raises:
        InputError: parts that do not fit together, values that are not finite, supports that are not positive, a radius
            with margin beyond half a periodic side, or 2³¹ pairs or more.
    """
    source = query if reference is None else reference
    of_type("properties", properties, OperationProperties)
    check_together(query, source, domain)
    if not isinstance(margin, (int, float)) or not (math.isfinite(margin) and margin >= 0):
        raise InputError("margin", "a finite length, not negative", repr(margin))
    mode = properties.support_mode
    with outside_transforms():
        own = _snapshot("query", query)
        other = own if source is query else _snapshot("reference", source)
        if query.count and source.count:
            radius = _radius(mode, float(own.supports.max()), float(other.supports.max())) + margin
            _check_periods(radius, domain, query.positions.dtype)
            neighbors, offsets, counts = _search(own, other, radius, mode, domain, float(margin))
        else:
            neighbors, offsets, counts = torch.zeros(
                3, query.count, dtype=torch.int32, device=query.positions.device
            ).unbind()
            neighbors = neighbors[:0]
    return NeighborList(neighbors, offsets, counts, source.count, float(margin), mode, domain, own, other)


def hash_grid(
    query: ParticleState,
    reference: ParticleState,
    domain: DomainDescription | None,
    properties: OperationProperties,
) -> HashGrid:
    """The references by cell, for a walk that finds exactly what `neighbor_list` would list.

    Raises:
        InputError: as `neighbor_list`; both populations must have particles.
    """
    check_together(query, reference, domain)
    with outside_transforms():
        own = _snapshot("query", query)
        other = own if reference is query else _snapshot("reference", reference)
        radius = _radius(properties.support_mode, float(own.supports.max()), float(other.supports.max()))
        _check_periods(radius, domain, query.positions.dtype)
        return HashGrid(other.positions, radius, domain, own.positions)


def _search(
    query: Snapshot,
    reference: Snapshot,
    radius: float,
    mode: SupportMode,
    domain: DomainDescription | None,
    margin: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Neighbors, offsets and counts."""
    (count, dimension), device = query.positions.shape, query.positions.device
    scalar = SCALARS[query.positions.dtype]
    grid = HashGrid(reference.positions, radius, domain, query.positions)
    with LOCK:
        kernels = row_kernels(grid.functions, dimension, scalar, bool(_periods(domain)), device)
    search = kernels.Search()
    search.grid, search.reach = grid.struct, element_type(scalar, (4,))(*WEIGHTS[mode], margin)
    # one after another near each other, for the sake of the processor's cache
    candidates = _columns(reference, grid.order)
    search.candidates, search.pitch = array_over(candidates.view(-1), scalar, ()), candidates.shape[1]
    if query is reference:
        search.order, search.queries, search.query_pitch = grid.struct.order, search.candidates, search.pitch
    else:
        order = grid.buckets(query.positions).argsort(stable=True)
        queries = _columns(query, order)
        search.order, search.queries = array_over(order.int(), wp.int32, ()), array_over(queries.view(-1), scalar, ())
        search.query_pitch = queries.shape[1]
    search.room = room = _room(grid, count)
    counts = torch.empty(count, dtype=torch.int32, device=device)
    notes = fresh_indices(2 * room * count, device)
    search.notes, search.counts = array_over(notes, wp.int32, ()), array_over(counts, wp.int32, ())
    several = device.type == "cpu" and torch.get_num_threads() > 1
    parts = slices_of(count) if several else [Slice(0, count)]
    side_by_side([partial(launch, kernels.find, part.threads, [search, part.first], device) for part in parts])
    ends = counts.cumsum(0)
    pairs = int(ends[-1])
    if pairs >= 2**31:
        raise InputError("query, reference", "fewer than 2³¹ pairs", str(pairs), "the supports or the margin are large")
    offsets = (ends - counts).int()
    neighbors = fresh_indices(pairs, device)
    # on the CPU a few rows at a time are unsorted, in memory that stays in the processor's cache
    apart, batch, length = (0, BATCH, BATCH * int(counts.max())) if device.type == "cpu" else (1, 1, pairs)
    rows = [array_over(each, wp.int32, ()) for each in (offsets, neighbors)]
    tasks = []
    for first, threads in parts:
        unsorted = array_over(torch.empty(length + LANES, dtype=torch.int32, device=device), wp.int32, ())
        inputs = [search, first, first + threads, batch, apart, rows[0], unsorted, rows[1]]
        tasks.append(partial(launch, kernels.fill, -(-threads // batch), inputs, device))
    side_by_side(tasks)
    return neighbors, offsets, counts


def _room(grid: HashGrid, queries: int) -> int:
    """For how many notes of a query there is room, half as many again as candidates need, with a place for how many
    there are and one to be overwritten.

    Crowded cells make room for all; beside a thin cloud that can be a few times the list's memory. A query that needs
    more is tested again.
    """
    sizes = grid.starts.diff().double()
    crowd = 3 * float(sizes.dot(sizes)) / len(grid.order)
    visits = int(grid.struct.stretches * grid.struct.offsets[1] * grid.struct.offsets[2])
    wanted = visits * math.ceil(1.5 * crowd / LANES) + 2
    return min(wanted, MOST_NOTES, (2**31 - 1) // (2 * queries))


def _columns(particles: Snapshot, order: torch.Tensor) -> torch.Tensor:
    """Positions and supports in an order, one axis after another, padded, shape (d + 1, n + LANES)."""
    positions, supports = particles
    columns = positions.new_zeros(positions.shape[1] + 1, len(positions) + LANES)
    for column, values in zip(columns, (*positions.unbind(1), supports), strict=True):
        torch.index_select(values, 0, order, out=column[:-LANES])
    return columns


def _radius(mode: SupportMode, h_i: float, h_j: float) -> float:
    """The search radius of two support radii, or how much it grows by when they do; what is not a number stays so."""
    own, other, least = WEIGHTS[mode]
    radius = own * h_i + other * h_j
    return least * h_i if least and radius < least * h_i else radius


def _read(side: str, state: ParticleState) -> Snapshot:
    """Positions and supports below all transforms."""
    return Snapshot(plain(f"{side}.positions", state.positions), plain(f"{side}.supports", state.supports))


def _snapshot(side: str, state: ParticleState) -> Snapshot:
    """Copies of positions and supports.

    Raises:
        InputError: values that no search can use.
    """
    positions, supports = (tensor.clone(memory_format=torch.contiguous_format) for tensor in _read(side, state))
    for name, good, expected in (
        ("positions", torch.isfinite(positions).all(1), "finite"),
        ("supports", torch.isfinite(supports) & (supports > 0), "finite and positive"),
    ):
        if not bool(good.all()):
            first = int((~good).nonzero()[0, 0])
            raise InputError(f"{side}.{name}", f"values that are {expected}", f"another one at particle {first}")
    return Snapshot(positions, supports)


def _periods(domain: DomainDescription | None) -> tuple[float, ...]:
    """Those of the box; empty where none of its axes is periodic, as where there is no box."""
    return domain.periods if domain is not None and any(domain.periodic) else ()


def _check_periods(radius: float, domain: DomainDescription | None, dtype: torch.dtype) -> None:
    """Refuses a search radius beyond half a periodic side, in the precision of the particles.

    Raises:
        InputError: it is.
    """
    half = min((side / 2 for side in _periods(domain) if side), default=math.inf)
    if bool(torch.tensor(radius, dtype=dtype) > torch.tensor(half, dtype=dtype)):
        expected = f"a search radius, with margin, of at most half the shortest periodic side, {half:g}"
        raise InputError("supports", expected, f"{radius:g}")


def _largest_displacement(now: torch.Tensor, then: torch.Tensor, domain: DomainDescription | None) -> float:
    """The length of the longest, each to the nearest image [m]."""
    x = now.double() - then.double()
    if domain is not None:
        minimum, maximum, periodicity = domain.tensors(now.dtype, now.device)
        period = (maximum - minimum).double()
        x = torch.where(periodicity > 0, x - period * torch.round(x / period), x)
    return float(torch.linalg.vector_norm(x, dim=1).max())


def _periodic_extent(domain: DomainDescription | None, positions: list[torch.Tensor]) -> float:
    """How far particles lie apart along periodic axes before they are wrapped, box included [m]."""
    if domain is None or not any(domain.periodic):
        return 0.0
    axes = [axis for axis, wraps in enumerate(domain.periodic) if wraps]
    highest = torch.stack([each.double().amax(0) for each in positions]).amax(0)
    lowest = torch.stack([each.double().amin(0) for each in positions]).amin(0)
    return sum(float(highest[axis] - lowest[axis]) + domain.maximum[axis] - domain.minimum[axis] for axis in axes)
