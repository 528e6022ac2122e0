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


@cache
def grid_functions(dimension: int, scalar: Any) -> GridFunctions:
    """The struct and the functions for one dimension and precision."""
    axes, vector = dimension, element_type(scalar, (dimension,))
    half, near = scalar(0.5), scalar(0.49)
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
        for axis in range(wp.static(axes)):
            period = grid.period[axis]
            # nearer than that the wrap is zero, and the division is saved; no period is an infinite one
            if wp.abs(x[axis]) > near * period:
                x[axis] = x[axis] - period * wp.floor(x[axis] / period + half)
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
def _bucket_kernel(dimension: int, scalar: Any, device: torch.device) -> Any:
    Grid, cell, bucket = grid_functions(dimension, scalar)[:3]  # noqa: N806
    vector = element_type(scalar, (dimension,))

    @kernel
    def buckets(grid: Grid, positions: wp.array(dtype=vector), found: wp.array(dtype=wp.int32)):
        i = wp.tid()
        found[i] = bucket(grid, cell(grid, positions[i]))

    return loaded(buckets, device)


class HashGrid:
    """Reference particles sorted by cell.

    Args:
        positions: of the references [m], finite, shape (M, d).
        radius: the largest search radius [m].
        domain: the box; None where space is unbounded.
        extent: how far positions lie apart on each axis [m], those of the queries too; left out, the references'.

    Attributes:
        struct: the Warp struct of `functions.Grid`.
        functions: what kernels do with it.
        order: the references by cell, int32, shape (M,).
    """

    def __init__(
        self,
        positions: torch.Tensor,
        radius: float,
        domain: DomainDescription | None = None,
        bounds: tuple[list[float], list[float]] | None = None,
    ) -> None:
        if not (math.isfinite(radius) and radius > 0):
            raise InputError("radius", "a finite positive length", repr(radius))
        self.device, self.dimension = positions.device, positions.shape[1]
        self._scalar = SCALARS[positions.dtype]
        with LOCK:
            self.functions = grid_functions(self.dimension, self._scalar)
            self._buckets = _bucket_kernel(self.dimension, self._scalar, self.device)
        self.struct = self.functions.Grid()
        self._keep: list[Any] = []
        size = self._set_geometry(positions, radius, domain, bounds)
        buckets, order = torch.sort(self.buckets(positions), stable=True)
        self.order = order.int()
        starts = torch.searchsorted(buckets, torch.arange(size + 1, device=self.device, dtype=torch.int32), out_int32=True)
        self.struct.positions = self.array(positions[order], (self.dimension,))
        self.struct.order = self.array(self.order)
        self.struct.starts = self.array(starts)

    def array(self, tensor: torch.Tensor, shape: tuple[int, ...] = ()) -> Any:
        """A Warp array over a tensor."""
        made = array_over(tensor, element_type(SCALARS[tensor.dtype], shape), shape)
        self._keep.append(made)
        return made

    def buckets(self, positions: torch.Tensor) -> torch.Tensor:
        """The bucket of each position, int32, shape (n,)."""
        found = torch.empty(len(positions), dtype=torch.int32, device=self.device)
        inputs = [self.struct, self.array(positions, (self.dimension,)), self.array(found)]
        launch(self._buckets, len(positions), inputs, self.device)
        return found

    def _set_geometry(
        self,
        positions: torch.Tensor,
        radius: float,
        domain: DomainDescription | None,
        bounds: tuple[list[float], list[float]] | None,
    ) -> int:
        """Fills all of the struct but its arrays; gives back the number of buckets."""
        low = positions.amin(0).tolist()
        high = positions.amax(0).tolist()
        unwrapped = bounds or (low, high)
        eps = torch.finfo(positions.dtype).eps
        # squares of what is shorter than this underflow, and a distance comes out as zero
        radius = max(radius * (1 + SLACK), math.sqrt(torch.finfo(positions.dtype).tiny))
        grid = self.struct
        origin, length, width = [0.0] * 3, [0.0] * 3, [1.0] * 3
        lowest, count, first, offsets = [0] * 3, [1] * 3, [0] * 3, [1] * 3
        period = [math.inf] * self.dimension
        sizes = [1] * 3
        for axis in range(self.dimension):
            if domain is not None and domain.periodic[axis]:
                start, end = (float(t[0, axis]) for t in domain.tensors(positions.dtype, torch.device("cpu"))[:2])
                side = float(torch.tensor(end, dtype=positions.dtype) - torch.tensor(start, dtype=positions.dtype))
                farthest = max(abs(unwrapped[0][axis] - start), abs(unwrapped[1][axis] - start))
                # how far rounding moves what lies boxes apart
                shift = 8 * eps * (unwrapped[1][axis] - unwrapped[0][axis] + side) + 2.0**-50 * farthest
                cells = int(min(max(side / (radius + shift), 1.0), FARTHEST))
                origin[axis], length[axis], width[axis], period[axis] = start, side, side / cells, side
                sizes[axis] = count[axis] = cells
                first[axis], offsets[axis] = (-1, 3) if cells >= 3 else (0, cells)
            else:
                width[axis] = radius
                ends = [min(max(math.floor(x / radius), -FARTHEST), FARTHEST) for x in (low[axis], high[axis])]
                lowest[axis] = int(ends[0])
                sizes[axis] = count[axis] = int(ends[1]) - int(ends[0]) + 1
                first[axis], offsets[axis] = -1, 3
        capacity = 1 << max(len(positions) * 2 - 1, 3).bit_length()
        dense = math.prod(sizes) <= capacity
        stride = (1, sizes[0], sizes[0] * sizes[1]) if dense else HASH
        if not dense:
            lowest = [0] * 3
        grid.period = element_type(self._scalar, (self.dimension,))(*period)
        grid.origin, grid.length, grid.width = wp.vec3d(*origin), wp.vec3d(*length), wp.vec3d(*width)
        grid.low, grid.count, grid.stride = wp.vec3l(*lowest), wp.vec3l(*count), wp.vec3l(*stride)
        grid.first, grid.offsets = wp.vec3l(*first), wp.vec3i(*offsets)
        wraps = length[0] > 0 and offsets[0] > 1
        grid.stretches = (2 if wraps else 1) if dense else offsets[0]
        grid.dense = int(dense)
        grid.mask = capacity - 1 if not dense else 2**62 - 1
        return math.prod(sizes) if dense else capacity
