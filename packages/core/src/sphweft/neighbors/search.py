"""Neighbour search."""

from functools import cache
from typing import Any

import torch
import warp as wp

from sphweft.enums import SupportMode
from sphweft.neighbors.grid import HashGrid, grid_functions, kernel, launch, loaded
from sphweft.runtime import LOCK, SCALARS, element_type
import time

T = {}
def tick(name, t0):
    t = time.perf_counter(); T.setdefault(name, []).append(t - t0); return t

SHORT = 96

@cache
def _kernels(dimension: int, scalar: Any, device: torch.device):
    Grid, cell, bucket, visits, stretch, counts, separation = grid_functions(dimension, scalar)
    vector = element_type(scalar, (dimension,))
    half = scalar(0.5)
    widened = scalar(1.00001)
    gather, scatter, mean = int(SupportMode.GATHER), int(SupportMode.SCATTER), int(SupportMode.MEAN_SUPPORT)

    @wp.func
    def reach(h_i: scalar, h_j: scalar, mode: int, margin: scalar):
        h = wp.max(h_i, h_j)
        if mode == gather:
            h = h_i
        elif mode == scatter:
            h = h_j
        elif mode == mean:
            h = half * (h_i + h_j)
        return h + margin

    @wp.func
    def listed(grid: Grid, x_i: vector, h_i: scalar, supports: wp.array(dtype=scalar), mode: int, margin: scalar,
               neighbors: wp.array(dtype=wp.int32), begin: int, end: int):
        place = begin
        c = cell(grid, x_i)
        for visit in range(visits(grid)):
            start, stop, visited = stretch(grid, c, visit)
            for k in range(start, stop):
                x_j = grid.positions[k]
                x = separation(grid, x_i, x_j)
                square = wp.dot(x, x)
                h_j = h_i
                if mode != gather:
                    h_j = supports[k]
                radius = reach(h_i, h_j, mode, margin)
                if square <= radius * radius * widened:
                    if wp.sqrt(square) <= radius and counts(grid, x_j, visited):
                        if place < end:
                            neighbors[place] = grid.order[k]
                        place += 1
        return place - begin

    @kernel
    def count(grid: Grid, order: wp.array(dtype=wp.int32), positions: wp.array(dtype=vector), h: wp.array(dtype=scalar),
              supports: wp.array(dtype=scalar), mode: int, margin: scalar, found: wp.array(dtype=wp.int32)):
        i = order[wp.tid()]
        found[i] = listed(grid, positions[i], h[i], supports, mode, margin, found, 0, 0)

    @wp.func
    def insertion(a: wp.array(dtype=wp.int32), begin: int, end: int):
        for k in range(begin + 1, end):
            value = a[k]
            p = k
            while p > begin and a[wp.max(p - 1, 0)] > value:
                a[p] = a[p - 1]
                p -= 1
            a[p] = value

    @kernel
    def fill(grid: Grid, order: wp.array(dtype=wp.int32), positions: wp.array(dtype=vector), h: wp.array(dtype=scalar),
              supports: wp.array(dtype=scalar), mode: int, margin: scalar, offsets: wp.array(dtype=wp.int32),
              found: wp.array(dtype=wp.int32), neighbors: wp.array(dtype=wp.int32), do_sort: int):
        i = order[wp.tid()]
        begin = offsets[i]
        end = begin + found[i]
        listed(grid, positions[i], h[i], supports, mode, margin, neighbors, begin, end)
        if do_sort == 1:
            insertion(neighbors, begin, end)

    return loaded(count, device), loaded(fill, device)

def raw(x, h, radius, mode=0, domain=None, do_sort=1):
    t = time.perf_counter()
    g = HashGrid(x, radius, domain)
    t = tick("grid", t)
    s = SCALARS[x.dtype]
    count, fill = _kernels(x.shape[1], s, x.device)
    t = tick("kernels", t)
    n = len(x)
    found = torch.empty(n, dtype=torch.int32)
    sup = g.array(h[g.order.long()])
    order = g.array(g.order)
    inputs = [g.struct, order, g.array(x, (x.shape[1],)), g.array(h), sup, mode, 0.0]
    launch(count, n, [*inputs, g.array(found)], x.device)
    t = tick("count", t)
    ends = found.cumsum(0)
    total = int(ends[-1])
    offsets = (ends - found).int()
    nb = torch.empty(total, dtype=torch.int32)
    t = tick("scan", t)
    launch(fill, n, [*inputs, g.array(offsets), g.array(found), g.array(nb), do_sort], x.device)
    t = tick("fill", t)
    return nb, offsets, found
