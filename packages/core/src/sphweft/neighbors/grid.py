"""The compact hash grid: reference particles sorted by cell, and the candidates near a point.

Cells are counted in float64 and int64 from the origin, so that any span works. Where the box of occupied cells fits into
the table, every cell has a bucket of its own and the cells along x lie one after the other; where it does not, buckets
are hashes, several cells may share one, and a candidate counts only in the cell that it lies in.
"""

import math
from functools import cache
from typing import Any, NamedTuple

import torch
import warp as wp

from sphweft.cache.views import array_over
from sphweft.errors import InputError
from sphweft.runtime import LOCK, SCALARS, element_type, silence, warp_device
from sphweft.state import DomainDescription

SLACK = 2.0**-10
"""By how much cells are wider than the search radius: more than rounding shifts a particle in units of cells."""

FARTHEST = 2.0**40
"""Coordinates of cells end here, where rounding is still below the slack; what lies beyond is in the last cell."""

HASH = (1, 73856093, 19349663)
"""Strides of the hash (Teschner et al. 2003); along x neighbours stay neighbours."""


class GridFunctions(NamedTuple):
    """Warp struct and functions of a grid.

    Attributes:
        Grid: the struct.
        cell: `(grid, x)` → the cell of a position.
        bucket: `(grid, cell)` → its bucket.
        visits: `(grid)` → how many stretches of candidates there are near a cell.
        stretch: `(grid, cell, visit)` → begin and end in the grid's order, and the cell that is visited.
        counts: `(grid, x_j, visited)` → whether a candidate belongs to the visit.
        separation: `(grid, x_i, x_j)` → x_ij, to the bit that of the operators.
    """

    Grid: Any
    cell: Any
    bucket: Any
    visits: Any
    stretch: Any
    counts: Any
    separation: Any


class _Axis(NamedTuple):
    """The cells along an axis: `count` of a width from `low` on; what is visited are `offsets` of them, from `first`.

    The length is that of the period, 0 where there is none; cells are then counted from zero.
    """

    origin: float
    length: float
    width: float
    low: int
    count: int
    first: int
    offsets: int


@cache
def grid_functions(dimension: int, scalar: Any, periodic: bool) -> GridFunctions:
    """The struct and the functions for one dimension, precision, and kind of domain."""
    axes, vector = dimension, element_type(scalar, (dimension,))
    half, none = scalar(0.5), scalar(0.0)
    zero, farthest = wp.float64(0.0), wp.float64(FARTHEST)
    nil, unit = wp.int64(0), wp.int64(1)

    @wp.struct
    class Grid:
        positions: wp.array(dtype=vector)
        order: wp.array(dtype=wp.int32)
        starts: wp.array(dtype=wp.int32)
        period: vector
        origin: wp.vec3d
        length: wp.vec3d
        width: wp.vec3d
        low: wp.vec3l
        count: wp.vec3l
        stride: wp.vec3l
        first: wp.vec3l
        offsets: wp.vec3i
        stretches: int
        dense: int
        mask: wp.int64

    @wp.func
    def cell(grid: Grid, x: vector):
        found = wp.vec3l(nil, nil, nil)
        for axis in range(wp.static(axes)):
            place = wp.float64(x[axis]) - grid.origin[axis]
            length = grid.length[axis]
            if length > zero:
                place = place - length * wp.floor(place / length)
                # the wrap may round to the far end, or below zero
                found[axis] = wp.clamp(wp.int64(place / grid.width[axis]), nil, grid.count[axis] - unit)
            else:
                place = wp.clamp(wp.floor(place / grid.width[axis]), -farthest, farthest)
                found[axis] = wp.int64(place) - grid.low[axis]
        return found

    @wp.func
    def bucket(grid: Grid, c: wp.vec3l):
        key = c[0] * grid.stride[0] + c[1] * grid.stride[1] + c[2] * grid.stride[2]
        return wp.int32(key & grid.mask)

    @wp.func
    def visits(grid: Grid):
        return grid.stretches * grid.offsets[1] * grid.offsets[2]

    @wp.func
    def shifted(grid: Grid, c: wp.int64, axis: int):
        if grid.length[axis] > zero:
            if c < nil:
                c = c + grid.count[axis]
            if c >= grid.count[axis]:
                c = c - grid.count[axis]
        return c

    @wp.func
    def stretch(grid: Grid, c: wp.vec3l, visit: int):
        part = visit % grid.stretches
        rest = visit // grid.stretches
        x = c[0] + grid.first[0]
        y = shifted(grid, c[1] + grid.first[1] + wp.int64(rest % grid.offsets[1]), 1)
        z = shifted(grid, c[2] + grid.first[2] + wp.int64(rest // grid.offsets[1]), 2)
        begin = wp.int32(0)
        end = wp.int32(0)
        if grid.dense == 0:
            x = shifted(grid, x + wp.int64(part), 0)
            b = bucket(grid, wp.vec3l(x, y, z))
            begin = grid.starts[b]
            end = grid.starts[b + 1]
        elif y >= nil and y < grid.count[1] and z >= nil and z < grid.count[2]:
            last = x + wp.int64(grid.offsets[0]) - unit
            edge = grid.count[0] - unit
            if part == 1:  # what the stretch along x has beyond a periodic face
                if x < nil:
                    x = edge
                    last = edge
                elif last > edge:
                    x = nil
                    last = nil
                else:
                    last = x - unit
            x = wp.max(x, nil)
            last = wp.min(last, edge)
            if x <= last:
                b = bucket(grid, wp.vec3l(x, y, z))
                begin = grid.starts[b]
                end = grid.starts[b + wp.int32(last - x) + 1]
        return begin, end, wp.vec3l(x, y, z)

    @wp.func
    def counts(grid: Grid, x: vector, visited: wp.vec3l):
        if grid.dense == 1:
            return True
        c = cell(grid, x)
        return c[0] == visited[0] and c[1] == visited[1] and c[2] == visited[2]

    @wp.func
    def separation(grid: Grid, a: vector, b: vector):
        x = a - b
        if periodic:
            for axis in range(wp.static(axes)):
                period = grid.period[axis]
                # chosen, not branched upon, which costs more than the division
                x[axis] = wp.where(period > none, x[axis] - period * wp.floor(x[axis] / period + half), x[axis])
        return x

    return GridFunctions(Grid, cell, bucket, visits, stretch, counts, separation)


def kernel(function: Any) -> Any:
    """Makes a kernel of a function: no adjoint, and no fused multiply and add, so that it decides as torch does."""
    made = wp.kernel(enable_backward=False, module="unique")(function)
    made.module.options["fuse_fp"] = False
    return made


def launch(made: Any, threads: int, inputs: list[Any], device: torch.device) -> None:
    """Launches a kernel on torch's stream."""
    stream = None if device.type == "cpu" else wp.stream_from_torch(torch.cuda.current_stream(device))
    wp.launch(made, threads, inputs=inputs, device=warp_device(device), stream=stream, record_tape=False)


def loaded(made: Any, device: torch.device) -> Any:
    """The kernel, its module loaded without a word."""
    with silence():
        wp.load_module(made.module, device=warp_device(device), block_dim=1 if device.type == "cpu" else 256)
    return made


@cache
def _bucket_kernel(functions: GridFunctions, vector: Any, device: torch.device) -> Any:
    Grid, cell, bucket = functions[:3]

    @kernel
    def buckets(grid: Grid, positions: wp.array(dtype=vector), found: wp.array(dtype=wp.int32)):
        i = wp.tid()
        found[i] = bucket(grid, cell(grid, positions[i]))

    return loaded(buckets, device)


class HashGrid:
    """Reference particles sorted by cell.

    Args:
        positions: of the references, one or more of them, finite [m], shape (M, d).
        radius: the largest search radius [m].
        domain: the box; None where space is unbounded.
        queries: positions of whoever will search [m], finite, shape (N, d); left out, the references.

    Attributes:
        functions: what kernels do with the grid.
        struct: the grid as kernels take it.
        order: the references by cell, int32, shape (M,).

    Raises:
        InputError: the radius is not finite or not positive.
    """

    def __init__(
        self,
        positions: torch.Tensor,
        radius: float,
        domain: DomainDescription | None = None,
        queries: torch.Tensor | None = None,
    ) -> None:
        if not (math.isfinite(radius) and radius > 0):
            raise InputError("radius", "a finite positive length", repr(radius))
        self.device, self.dimension = positions.device, positions.shape[1]
        scalar = SCALARS[positions.dtype]
        self._vector = element_type(scalar, (self.dimension,))
        with LOCK:
            self.functions = grid_functions(self.dimension, scalar, domain is not None and any(domain.periodic))
            self._buckets = _bucket_kernel(self.functions, self._vector, self.device)
        self.struct = self.functions.Grid()
        size = self._lay_out(_axes(positions, radius, domain, positions if queries is None else queries), len(positions))
        buckets, order = torch.sort(self.buckets(positions), stable=True)
        self.order = order.int()
        places = torch.arange(size + 1, dtype=torch.int32, device=self.device)
        self.struct.positions = array_over(positions[order], self._vector, (self.dimension,))
        self.struct.order = array_over(self.order, wp.int32, ())
        self.struct.starts = array_over(torch.searchsorted(buckets, places, out_int32=True), wp.int32, ())

    def buckets(self, positions: torch.Tensor) -> torch.Tensor:
        """The bucket of each position, int32, shape (n,): who has one in common is near."""
        found = torch.empty(len(positions), dtype=torch.int32, device=self.device)
        arrays = array_over(positions, self._vector, (self.dimension,)), array_over(found, wp.int32, ())
        launch(self._buckets, len(positions), [self.struct, *arrays], self.device)
        return found

    def _lay_out(self, axes: list[_Axis], references: int) -> int:
        """Fills all of the struct but its arrays; gives back the number of buckets."""
        grid, sizes = self.struct, [axis.count for axis in axes]
        table = 1 << max(2 * references - 1, 3).bit_length()
        dense = math.prod(sizes) <= table
        grid.dense, grid.mask = int(dense), 2**62 - 1 if dense else table - 1
        grid.stride = wp.vec3l(*((1, sizes[0], sizes[0] * sizes[1]) if dense else HASH))
        grid.period = self._vector(*(axis.length for axis in axes[: self.dimension]))
        grid.origin, grid.length = wp.vec3d(*(a.origin for a in axes)), wp.vec3d(*(a.length for a in axes))
        grid.width, grid.count = wp.vec3d(*(a.width for a in axes)), wp.vec3l(*sizes)
        grid.low = wp.vec3l(*(a.low if dense else 0 for a in axes))
        grid.first, grid.offsets = wp.vec3l(*(a.first for a in axes)), wp.vec3i(*(a.offsets for a in axes))
        along_x = 1 + int(axes[0].length > 0 and sizes[0] > 1)
        grid.stretches = along_x if dense else axes[0].offsets
        return math.prod(sizes) if dense else table


def _axes(
    positions: torch.Tensor, radius: float, domain: DomainDescription | None, queries: torch.Tensor
) -> list[_Axis]:
    """The cells of each axis; those that the dimension does not have are one cell."""
    eps, tiny = torch.finfo(positions.dtype).eps, torch.finfo(positions.dtype).tiny
    # below, squares underflow and distances come out as zero
    radius = max(radius * (1 + SLACK), math.sqrt(tiny))
    lowest, highest = positions.amin(0).tolist(), positions.amax(0).tolist()
    least, most = lowest, highest
    if queries is not positions and len(queries):
        least = [min(pair) for pair in zip(least, queries.amin(0).tolist(), strict=True)]
        most = [max(pair) for pair in zip(most, queries.amax(0).tolist(), strict=True)]
    axes = []
    for axis in range(positions.shape[1]):
        if domain is not None and domain.periodic[axis]:
            start, end = (row[0, axis] for row in domain.tensors(positions.dtype, positions.device)[:2])
            origin, side = float(start), float(end - start)
            # rounding shifts the nearest image of what lies boxes apart, in the precision of the particles
            shift = 8 * eps * (most[axis] - least[axis] + side)
            shift += 2.0**-50 * max(abs(least[axis] - origin), abs(most[axis] - origin))
            count = int(min(max(side / (radius + shift), 1), FARTHEST))
            axes.append(_Axis(origin, side, side / count, 0, count, *((-1, 3) if count > 2 else (0, count))))
        else:
            low, high = (
                int(min(max(x / radius // 1, -FARTHEST), FARTHEST)) for x in (lowest[axis], highest[axis])
            )
            axes.append(_Axis(0.0, 0.0, radius, low, high - low + 1, -1, 3))
    return axes + [_Axis(0.0, 0.0, 1.0, 0, 1, 0, 1)] * (3 - len(axes))
