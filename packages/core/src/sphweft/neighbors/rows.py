"""The kernels of the neighbour search: one counts the pairs of each row, one fills and sorts the rows.

The inner loops are C, in which the compiler finds the vectors that it does not find in what Warp generates.
"""

from functools import cache
from typing import Any

import torch
import warp as wp

from sphweft.neighbors.grid import GridFunctions, kernel, loaded
from sphweft.runtime import element_type

NEAR = """{{
        {scalar} square = 0;
        for (int axis = 0; axis < {axes}; ++axis) {{
            {scalar} x = x_i[axis] - at[{axes} * k + axis];
            if ({periodic}) x = period[axis] > 0 ? x - period[axis] * {floor}(x / period[axis] + ({scalar})0.5) : x;
            square += x * x;
        }}
        const {scalar} radius = own + reach[1] * h[k];
        near = {root}(square) <= (radius > least ? radius : least) + reach[3];
    }}"""
"""Whether candidate k is within reach, in the arithmetic of the operators and of torch, one rounding a step."""

COUNT = """
    const {scalar} *at = (const {scalar}*)positions.data, *h = supports.data;
    const {scalar} own = reach[0] * h_i, least = reach[2] * h_i;
    for (int k = first; k < last; ++k) {{
        bool near;
        {test}
        place += near;
    }}
    return place;
"""

LIST = """
    const {scalar} *at = (const {scalar}*)positions.data, *h = supports.data;
    const {scalar} own = reach[0] * h_i, least = reach[2] * h_i;
    for (int begin = first; begin < last; begin += 32) {{
        const int many = last - begin < 32 ? last - begin : 32;
        unsigned int bits = 0;
        for (int b = 0; b < many; ++b) {{
            const int k = begin + b;
            bool near;
            {test}
            bits |= (unsigned int)near << b;
        }}
        for (; bits; bits &= bits - 1) {{
#ifdef __CUDA_ARCH__
            const int b = __ffs(bits) - 1;
#else
            const int b = __builtin_ctz(bits);
#endif
            found.data[place++] = order.data[begin + b];
        }}
    }}
    return place;
"""

SORT = """
    const int n = end - begin, *from = unsorted.data + begin;
    int* to = sorted.data + begin;
    if (n <= {short}) {{  // a place is the number of those below: no branch, and vectors
        for (int k = 0; k < n; ++k) {{
            const int value = from[k];
            int rank = 0;
            for (int m = 0; m < n; ++m) rank += from[m] < value;
            to[rank] = value;
        }}
        return;
    }}
    for (int k = 0; k < n; ++k) to[k] = from[k];
    int root = n / 2;
    for (int size = n; size > 1;) {{  // a heap
        int value;
        if (root > 0) {{
            value = to[--root];
        }} else {{
            value = to[--size];
            to[size] = to[0];
        }}
        int hole = root;
        for (int child = 2 * hole + 1; child < size; child = 2 * hole + 1) {{
            if (child + 1 < size && to[child + 1] > to[child]) ++child;
            if (to[child] <= value) break;
            to[hole] = to[child];
            hole = child;
        }}
        to[hole] = value;
    }}
"""

SHORT_ROW = 512
"""Rows up to this length are sorted by rank, which is quadratic; longer ones by a heap."""


@cache
def row_kernels(
    functions: GridFunctions, dimension: int, scalar: Any, periodic: bool, device: torch.device
) -> tuple[Any, Any]:
    """The kernel that counts, and the one that fills, for one kind of grid; their modules are loaded."""
    Grid, cell, _, visits, stretch, belongs = functions
    vector, weights = element_type(scalar, (dimension,)), element_type(scalar, (4,))
    points, reals, indices = wp.array(dtype=vector), wp.array(dtype=scalar), wp.array(dtype=wp.int32)
    single = scalar is wp.float32
    names = {"scalar": "float" if single else "double", "axes": dimension, "periodic": int(periodic)}
    test = NEAR.format(**names, root="sqrtf" if single else "sqrt", floor="floorf" if single else "floor")

    def walker(snippet: str) -> Any:
        """Goes through the candidates of a query with a snippet; gives back where the row ends."""

        @wp.func_native(snippet.format(**names, test=test))
        def go_on(
            first: int,
            last: int,
            x_i: vector,
            h_i: scalar,
            positions: points,
            supports: reals,
            period: vector,
            reach: weights,
            order: indices,
            found: indices,
            place: int,
        ) -> int: ...

        @wp.func
        def walk(grid: Grid, x_i: vector, h_i: scalar, supports: reals, reach: weights, found: indices, begin: int):
            place = int(begin)
            home = cell(grid, x_i)
            for visit in range(visits(grid)):
                first, last, visited = stretch(grid, home, visit)
                step = wp.max(last - first, 1)
                if grid.dense == 0:
                    step = 1
                for k in range(first, last, step):
                    if belongs(grid, grid.positions[k], visited):
                        end = k + step
                        place = go_on(
                            k, end, x_i, h_i, grid.positions, supports, grid.period, reach, grid.order, found, place
                        )
            return place

        return walk

    count_row, list_row = walker(COUNT), walker(LIST)

    @wp.func_native(SORT.format(short=SHORT_ROW))
    def sort_row(unsorted: indices, sorted: indices, begin: int, end: int): ...

    @kernel
    def count(
        grid: Grid,
        queries: indices,
        positions: points,
        own_supports: reals,
        supports: reals,
        reach: weights,
        counts: indices,
    ):
        i = queries[wp.tid()]
        counts[i] = count_row(grid, positions[i], own_supports[i], supports, reach, counts, 0)

    @kernel
    def fill(
        grid: Grid,
        queries: indices,
        positions: points,
        own_supports: reals,
        supports: reals,
        reach: weights,
        offsets: indices,
        unsorted: indices,
        neighbors: indices,
    ):
        i = queries[wp.tid()]
        end = list_row(grid, positions[i], own_supports[i], supports, reach, unsorted, offsets[i])
        sort_row(unsorted, neighbors, offsets[i], end)

    return loaded(count, device), loaded(fill, device)
