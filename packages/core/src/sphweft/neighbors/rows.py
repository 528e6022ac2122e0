"""The kernels of the neighbour search: one finds the pairs of each row, one lists and sorts them.

The inner loops are C, in which the compiler finds the vectors that it does not find in what Warp generates. What the
first kernel finds it notes as bits of the candidates, as far as there is room; the second tests only where there was
none.
"""

from functools import cache
from typing import Any, NamedTuple

import torch
import warp as wp

from sphweft.neighbors.grid import GridFunctions, kernel, loaded
from sphweft.runtime import element_type

LANES = 32
"""How many candidates are tested at once, and noted in one word."""

SHORT_ROW = 512
"""Rows up to this length are sorted by rank, which is quadratic; longer ones by a heap."""

NEAR = """
    const {scalar} *at = candidates.data + begin, *h = at + {axes} * pitch;
    const {scalar} own = reach[0] * h_i, least = reach[2] * h_i;
    const int many = last - begin < {lanes} ? last - begin : {lanes};
#ifdef __CUDA_ARCH__
    const int lanes = many;
#else
    const int lanes = {lanes};  // known to the compiler; there is padding behind the last candidate
#endif
    unsigned int bits = 0;
    for (int b = 0; b < lanes; ++b) {{
        {scalar} square = 0;
        for (int axis = 0; axis < {axes}; ++axis) {{
            {scalar} x = x_i[axis] - at[axis * pitch + b];
            if ({periodic}) x = period[axis] > 0 ? x - period[axis] * {floor}(x / period[axis] + ({scalar})0.5) : x;
            square += x * x;
        }}
        const {scalar} radius = own + reach[1] * h[b];
        const bool near = {root}(square) <= (radius > least ? radius : least) + reach[3];
        bits |= (unsigned int)near << b;
    }}
    bits &= 0xffffffffu >> ({lanes} - many);"""
"""Which of the next candidates are within reach, in the arithmetic of the operators and of torch, one rounding a step.

The separation is along one axis after another; a row of `candidates` is `pitch` long.
"""

TAKE = """
    for (; bits; bits &= bits - 1) {
#ifdef __CUDA_ARCH__
        const int b = __ffs(bits) - 1;
#else
        const int b = __builtin_ctz(bits);
#endif
        out.data[place++] = order.data[begin + b];
    }"""

FIND = """
    for (int begin = first; begin < last; begin += {lanes}) {{
        {near}
        // without a branch, which would often be predicted wrong: what is nothing, or beyond the room, is overwritten
        int* note = out.data + 2 * ((size_t)t * room + (found[1] + 1 < room ? found[1] + 1 : room - 1));
        note[0] = begin;
        note[1] = (int)bits;
        found[1] += bits != 0;
#ifdef __CUDA_ARCH__
        found[0] += __popc(bits);
#else
        found[0] += __builtin_popcount(bits);
#endif
    }}
    return found;
"""

LIST = """
    int place = found[0];
    for (int begin = first; begin < last; begin += {lanes}) {{
        {near}
        {take}
    }}
    found[0] = place;
    return found;
"""

RECALL = """
    const int* note = notes.data + 2 * (size_t)t * room;
    const int many = note[0];
    for (int n = 1; n <= many; ++n) {{
        const int begin = note[2 * n];
        unsigned int bits = (unsigned int)note[2 * n + 1];
        {take}
    }}
    return place;
"""

EXPECT = """
#ifndef __CUDA_ARCH__
    for (int k = 0; k < count; k += 16) __builtin_prefetch(row.data + offset + k, 1);
    __builtin_prefetch(row.data + offset + count, 1);
#endif
"""
"""Has the processor fetch the lines of a row that will soon be written: in the caller's order they are anywhere."""

SORT = """
    const int* from = unsorted.data + begin;
    int* to = sorted.data + offset;
#ifdef __CUDA_ARCH__
    enum {{ lanes = 1 }};
#else
    enum {{ lanes = {lanes} }};
#endif
    if (n <= {short}) {{  // a place is the number of those below: no branch, and vectors
        for (int k = 0; k < n; k += lanes) {{
            int value[lanes], rank[lanes];
            for (int b = 0; b < lanes; ++b) {{
                value[b] = from[k + b];
                rank[b] = 0;
            }}
            for (int m = 0; m < n; ++m) {{
                const int other = from[m];
                for (int b = 0; b < lanes; ++b) rank[b] += other < value[b];
            }}
            const int many = n - k < lanes ? n - k : lanes;
#ifndef __CUDA_ARCH__
#pragma clang loop vectorize(disable)
#endif
            for (int b = 0; b < many; ++b) to[rank[b]] = value[b];
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


class RowKernels(NamedTuple):
    """The kernels for one kind of grid, and what both take.

    Attributes:
        Search: the struct.
        find: `(search, first)` finds the pairs of a query, which are counted, and noted.
        fill: `(search, first, last, batch, apart, offsets, unsorted, neighbors)` lists the rows of `batch` queries one
            after another in `unsorted`, from the offset of the first of them, or from zero if not `apart`; then it
            sorts each into its place.
    """

    Search: Any
    find: Any
    fill: Any


@cache
def row_kernels(
    functions: GridFunctions, dimension: int, scalar: Any, periodic: bool, device: torch.device
) -> RowKernels:
    """The kernels for one kind of grid; their modules are loaded."""
    Grid, cell, part_of, belongs = functions.Grid, functions.cell, functions.part_of, functions.belongs
    vector, weights = element_type(scalar, (dimension,)), element_type(scalar, (4,))
    reals, indices = wp.array(dtype=scalar), wp.array(dtype=wp.int32)
    single, axes = scalar is wp.float32, dimension
    names = {"scalar": "float" if single else "double", "axes": axes, "periodic": int(periodic), "lanes": LANES}
    near = NEAR.format(**names, root="sqrtf" if single else "sqrt", floor="floorf" if single else "floor")

    @wp.struct
    class Search:
        grid: Grid
        order: indices
        queries: reals
        query_pitch: int
        candidates: reals
        pitch: int
        reach: weights
        room: int
        notes: indices
        counts: indices

    @wp.func
    def position(columns: reals, pitch: int, k: int):
        x = vector()
        for axis in range(wp.static(axes)):
            x[axis] = columns[axis * pitch + k]
        return x

    def walker(snippet: str) -> Any:
        """Goes through the candidates of a query with a snippet; `found` goes from one to the next."""

        @wp.func_native(snippet.format(**names, near=near, take=TAKE))
        def go_on(
            first: int,
            last: int,
            x_i: vector,
            h_i: scalar,
            candidates: reals,
            pitch: int,
            period: vector,
            reach: weights,
            order: indices,
            out: indices,
            room: int,
            t: int,
            found: wp.vec2i,
        ) -> wp.vec2i: ...

        @wp.func
        def walk(search: Search, t: int, out: indices, found: wp.vec2i):
            grid = search.grid
            candidates, pitch = search.candidates, search.pitch
            x = position(search.queries, search.query_pitch, t)
            h = search.queries[wp.static(axes) * search.query_pitch + t]
            home = cell(grid, x)
            for z in range(grid.offsets[2]):
                for y in range(grid.offsets[1]):
                    for part in range(grid.stretches):
                        first, last, visited = part_of(grid, home, part, y, z)
                        step = wp.max(last - first, 1)
                        if grid.dense == 0:
                            step = 1
                        for k in range(first, last, step):
                            if belongs(grid, position(candidates, pitch, k), visited):
                                found = go_on(
                                    k,
                                    k + step,
                                    x,
                                    h,
                                    candidates,
                                    pitch,
                                    grid.period,
                                    search.reach,
                                    grid.order,
                                    out,
                                    search.room,
                                    t,
                                    found,
                                )
            return found

        return walk

    find_row, list_row = walker(FIND), walker(LIST)

    @wp.func_native(RECALL.format(take=TAKE))
    def recall(notes: indices, room: int, t: int, order: indices, out: indices, place: int) -> int: ...

    @wp.func_native(EXPECT)
    def expect(row: indices, offset: int, count: int): ...

    @wp.func_native(SORT.format(short=SHORT_ROW, lanes=LANES))
    def sort_row(unsorted: indices, begin: int, n: int, sorted: indices, offset: int): ...

    @kernel
    def find(search: Search, first: int):
        t = first + wp.tid()
        found = find_row(search, t, search.notes, wp.vec2i(0, 0))
        search.counts[search.order[t]] = found[0]
        search.notes[2 * t * search.room] = found[1]

    @kernel
    def fill(
        search: Search,
        first: int,
        last: int,
        batch: int,
        apart: int,
        offsets: indices,
        unsorted: indices,
        neighbors: indices,
    ):
        begin = first + wp.tid() * batch
        end = wp.min(begin + batch, last)
        start = apart * offsets[search.order[begin]]
        place = int(start)
        for t in range(begin, end):
            i = search.order[t]
            expect(neighbors, offsets[i], search.counts[i])
            if search.notes[2 * t * search.room] + 1 < search.room:
                place = recall(search.notes, search.room, t, search.grid.order, unsorted, place)
            else:
                found = list_row(search, t, unsorted, wp.vec2i(place, 0))
                place = found[0]
        place = start
        for t in range(begin, end):
            i = search.order[t]
            sort_row(unsorted, place, search.counts[i], neighbors, offsets[i])
            place += search.counts[i]

    return RowKernels(Search, loaded(find, device), loaded(fill, device))
