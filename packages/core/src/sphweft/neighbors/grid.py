"""The compact hash grid: reference particles sorted by cell, and the candidates near a point.

Cells are counted in float64 and int64, so that any span works. Where a box of cells around the particles fits into the
table, every cell has a bucket of its own and the cells along x lie one after the other. A few escaped particles may be
outside of the box: they count to the cells at its faces, which keeps neighbours neighbours. Where no such box fits,
buckets are hashes, several cells may share one, and a candidate counts only in the cell that it lies in.
"""

import math
from collections.abc import Sequence
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

ESCAPED = 64
"""How many particles may lie beyond each face of the box."""

HASH = (73856093, 19349663)
"""Strides of the hash along y and z (Teschner et al. 2003)."""


class GridFunctions(NamedTuple):
    """Warp struct and functions of a grid.

    Attributes:
        Grid: the struct.
        cell: `(grid, x)` → the cell of a position.
        bucket: `(grid, cell)` → its bucket.
        visits: `(grid)` → how many stretches of candidates there are near a cell.
        stretch: `(grid, cell, visit)` → begin and end in the grid's order, and the cell that is visited.
        belongs: `(grid, x_j, visited)` → whether a candidate lies in the visited cell.
    """

    Grid: Any
    cell: Any
    bucket: Any
    visits: Any
    stretch: Any
    part_of: Any
    belongs: Any


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
def grid_functions(dimension: int, scalar: Any) -> GridFunctions:
    """The struct and the functions for one dimension and precision."""
    axes, vector = dimension, element_type(scalar, (dimension,))
    # negative constants by name: Warp 1.12 drops the sign of `-unit` that is assigned as it is
    zero, nearest, farthest = wp.float64(0.0), wp.float64(-FARTHEST), wp.float64(FARTHEST)
    nil, unit, outside = wp.int64(0), wp.int64(1), wp.int64(-1)
    integers, pair = element_type(wp.int64, (3,)), element_type(wp.int64, (2,))

    @wp.struct
    class Grid:
        order: wp.array(dtype=wp.int32)
        starts: wp.array(dtype=wp.int32)
        period: vector
        origin: wp.vec3d
        length: wp.vec3d
        width: wp.vec3d
        low: integers
        count: integers
        stride: pair
        first: integers
        offsets: wp.vec3i
        stretches: int
        dense: int
        mask: wp.int64

    @wp.func
    def cell(grid: Grid, x: vector):
        found = integers(nil, nil, nil)
        for axis in range(wp.static(axes)):
            place = wp.float64(x[axis]) - grid.origin[axis]
            length = grid.length[axis]
            if length > zero:
                place = place - length * wp.floor(place / length)
                # the wrap may round to the far end, or below zero
                found[axis] = wp.clamp(wp.int64(place / grid.width[axis]), nil, grid.count[axis] - unit)
            else:
                place = wp.clamp(wp.floor(place / grid.width[axis]), nearest, farthest)
                found[axis] = wp.clamp(wp.int64(place) - grid.low[axis], nil, grid.count[axis] - unit)
        return found

    @wp.func
    def bucket(grid: Grid, c: integers):
        mask = grid.mask
        key = c[0] + (c[1] & mask) * grid.stride[0] + (c[2] & mask) * grid.stride[1]
        return wp.int32(key & mask)

    @wp.func
    def visits(grid: Grid):
        return grid.stretches * grid.offsets[1] * grid.offsets[2]

    @wp.func
    def shifted(grid: Grid, c: wp.int64, axis: int):
        """The coordinate in the box, -1 where there is none."""
        many = grid.count[axis]
        if grid.length[axis] > zero:
            if c < nil:
                c = c + many
            elif c >= many:
                c = c - many
        elif c >= many:
            c = outside
        return c

    @wp.func
    def part_of(grid: Grid, c: integers, part: int, along_y: int, along_z: int):
        x = c[0] + grid.first[0]
        y = shifted(grid, c[1] + grid.first[1] + wp.int64(along_y), 1)
        z = shifted(grid, c[2] + grid.first[2] + wp.int64(along_z), 2)
        last = x
        if grid.dense == 0:
            x = shifted(grid, x + wp.int64(part), 0)
            last = x
        else:
            edge = grid.count[0] - unit
            last = x + wp.int64(grid.offsets[0]) - unit
            if part == 1:  # of the cells along x those beyond a periodic face
                beyond = last
                last = nil
                if x < nil:
                    last = edge
                elif beyond <= edge:
                    last = outside
                x = last
            else:
                x = wp.max(x, nil)
                last = wp.min(last, edge)
        begin = wp.int32(0)
        end = wp.int32(0)
        if x >= nil and y >= nil and z >= nil:
            b = bucket(grid, integers(x, y, z))
            begin = grid.starts[b]
            end = grid.starts[b + wp.int32(last - x) + 1]
        return begin, end, integers(x, y, z)

    @wp.func
    def stretch(grid: Grid, c: integers, visit: int):
        rest = visit // grid.stretches
        return part_of(grid, c, visit % grid.stretches, rest % grid.offsets[1], rest // grid.offsets[1])

    @wp.func
    def belongs(grid: Grid, x: vector, visited: integers):
        if grid.dense == 1:
            return True
        c = cell(grid, x)
        return c[0] == visited[0] and c[1] == visited[1] and c[2] == visited[2]

    return GridFunctions(Grid, cell, bucket, visits, stretch, part_of, belongs)


def kernel(function: Any) -> Any:
    """Makes a kernel of a function: no adjoint, and no fused multiply and add: the cutoff is the same everywhere."""
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
        device: of the particles.
        dimension: the number of dimensions d.
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
            self.functions = grid_functions(self.dimension, scalar)
            self._buckets = _bucket_kernel(self.functions, self._vector, self.device)
        self.struct = self.functions.Grid()
        size = self._lay_out(positions, radius, domain, positions if queries is None else queries)
        buckets, order = torch.sort(self.buckets(positions), stable=True)
        self.order = order.int()
        places = torch.arange(size + 1, dtype=torch.int32, device=self.device)
        self.starts = torch.searchsorted(buckets, places, out_int32=True)
        self.struct.order = array_over(self.order, wp.int32, ())
        self.struct.starts = array_over(self.starts, wp.int32, ())

    def buckets(self, positions: torch.Tensor) -> torch.Tensor:
        """The bucket of each position, int32, shape (n,): who has one in common is near."""
        found = torch.empty(len(positions), dtype=torch.int32, device=self.device)
        arrays = array_over(positions, self._vector, (self.dimension,)), array_over(found, wp.int32, ())
        launch(self._buckets, len(positions), [self.struct, *arrays], self.device)
        return found

    def _lay_out(
        self, positions: torch.Tensor, radius: float, domain: DomainDescription | None, queries: torch.Tensor
    ) -> int:
        """Fills all of the struct but its arrays; gives back the number of buckets."""
        table = 1 << (2 * len(positions) + 2).bit_length()
        ends = positions.amin(0), positions.amax(0)
        extent = ends
        if queries is not positions and len(queries):
            extent = torch.minimum(ends[0], queries.amin(0)), torch.maximum(ends[1], queries.amax(0))
        axes = whole = _axes(ends, extent, radius, domain)
        if math.prod(axis.count for axis in axes) > table:
            few = min(ESCAPED, (len(positions) - 1) // 2)
            inner = tuple(positions.topk(few + 1, 0, largest).values[few] for largest in (False, True))
            axes = _axes(inner, extent, radius, domain)
        size = math.prod(axis.count for axis in axes)
        dense = size <= table
        axes = axes if dense else whole
        counts, integers = [axis.count for axis in axes], element_type(wp.int64, (3,))
        grid = self.struct
        grid.dense, grid.mask = int(dense), 2**62 - 1 if dense else table - 1
        grid.stride = element_type(wp.int64, (2,))(*((counts[0], counts[0] * counts[1]) if dense else HASH))
        grid.period = self._vector(*(axis.length for axis in axes[: self.dimension]))
        grid.origin, grid.length = wp.vec3d(*(a.origin for a in axes)), wp.vec3d(*(a.length for a in axes))
        grid.width, grid.count = wp.vec3d(*(a.width for a in axes)), integers(*counts)
        grid.low, grid.first = integers(*(a.low for a in axes)), integers(*(a.first for a in axes))
        grid.offsets = wp.vec3i(*(a.offsets for a in axes))
        grid.stretches = (2 if axes[0].length > 0 and counts[0] > 1 else 1) if dense else axes[0].offsets
        return size if dense else table


def _axes(
    box: Sequence[torch.Tensor], extent: Sequence[torch.Tensor], radius: float, domain: DomainDescription | None
) -> list[_Axis]:
    """The cells of each axis, one for an axis that the dimension does not have.

    Args:
        box: lower and upper corner of where the references are, shapes (d,).
        extent: the same of all particles.
        radius: the largest search radius.
        domain: the box that may be periodic.
    """
    precision, device = torch.finfo(box[0].dtype), box[0].device
    # below, squares underflow and distances come out as zero
    radius = max(radius * (1 + SLACK), math.sqrt(precision.tiny))
    corners = zip(*(corner.tolist() for corner in (*box, *extent)), strict=True)
    axes = []
    for axis, (low, high, least, most) in enumerate(corners):
        if domain is not None and domain.periodic[axis]:
            start, end = (row[0, axis] for row in domain.tensors(box[0].dtype, device)[:2])
            origin, side = float(start), float(end - start)
            # rounding shifts the nearest image of what lies boxes apart, in the precision of the particles
            shift = 8 * precision.eps * (most - least + side) + 2.0**-50 * max(abs(least - origin), abs(most - origin))
            count = int(min(max(side / (radius + shift), 1), FARTHEST))
            first, offsets = (-1, 3) if count > 2 else (0, count)
            axes.append(_Axis(origin, side, side / count, 0, count, first, offsets))
        else:
            ends = [math.floor(min(max(x / radius, -FARTHEST), FARTHEST)) for x in (low, high)]
            axes.append(_Axis(0.0, 0.0, radius, ends[0], ends[1] - ends[0] + 1, -1, 3))
    return axes + [_Axis(0.0, 0.0, 1.0, 0, 1, 0, 1)] * (3 - len(axes))
