"""The one loop over neighbours: every operator is a sum of coefficient × geometry over the pairs that its direction
selects.

The loop is a function that returns the sum, since Warp's reverse pass does not replay what a kernel does with a value
accumulated in a loop (contract `codegen.nonlinear-after-loop`). What depends on the query particle alone is read once,
before the loop. A condition on what a kernel is compiled for is decided then; the other branch need not even fit.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import warp as wp

from sphweft.bridge.spec import Build
from sphweft.enums import SupportMode
from sphweft.geometry import pair_functions
from sphweft.neighbors.grid import grid_functions


class PairTerms(NamedTuple):
    """What an operator adds to the loop, as Warp functions.

    Attributes:
        own: `(state, i)` → what the coefficient needs of the query particle.
        own_tangent: `(state, i)` → its tangent.
        coefficient: `(own, state, j)` → coefficient of a pair.
        coefficient_tangent: `(own, own_tangent, state, j)` → its tangent.
        geometry: a form of `sphweft.geometry.FORMS`.
        product: `(coefficient, geometry)` → the pair's contribution, linear in both.
        finish: `(sum, state, i)` → the output.
        finish_tangent: `(sum, its tangent, state, i)` → the output's tangent.
        sum_in_tangent: whether that reads the sum; otherwise the sum beside its tangent is left at zero.
        result: Warp type of the sum.
        counted: whether the number of interacting pairs is a second output.
    """

    own: Any
    own_tangent: Any
    coefficient: Any
    coefficient_tangent: Any
    geometry: str
    product: Any
    finish: Any
    finish_tangent: Any
    sum_in_tangent: bool
    result: Any
    counted: bool = False


def pair_fields(build: Build) -> tuple[str, ...]:
    """The layout fields that the loop itself reads."""
    fields = ["query_positions", "reference_positions"]
    fields += [] if build.traversal else ["row_offsets", "row_counts", "neighbors"]
    mode = build.support_mode
    fields += ["query_supports"] if mode != SupportMode.SCATTER else []
    fields += ["reference_supports"] if mode != SupportMode.GATHER else []
    if build.masked:
        fields += ["query_kinds", "reference_kinds"]
    if build.periodic:
        fields += ["domain_minimum", "domain_maximum", "periodicity"]
    return tuple(fields)


def pair_kernels(terms_of: Callable[[Any, Build], PairTerms]) -> dict[str, Any]:
    """What an operator's spec says of its kernels: their makers, from the maker of its part."""
    return {
        "sliced": True,
        "kernel": lambda State, build: _pair_kernel(State, build, terms_of(State, build), False),
        "tangent_kernel": lambda State, build: _pair_kernel(State, build, terms_of(State, build), True),
    }


def _pair_kernel(State: Any, build: Build, terms: PairTerms, tangent: bool) -> Any:
    """The kernel that sums an operator's pair terms, or the one that sums their tangents by the product rule."""
    scalar, result, mode = build.scalar, terms.result, build.support_mode
    zero, one = scalar(0.0), scalar(1.0)
    nothing, unbounded = result(zero), build.vector(zero)
    separation, reach, geometry, geometry_tangent = pair_functions(
        terms.geometry, build.smoothing_function, mode, build.dimension, scalar, build.periodic
    )
    own_of, coefficient, product, finish = terms.own, terms.coefficient, terms.product, terms.finish
    own_tangent_of, coefficient_tangent, finish_tangent = (
        terms.own_tangent,
        terms.coefficient_tangent,
        terms.finish_tangent,
    )
    reads_query, reads_reference = mode != SupportMode.SCATTER, mode != SupportMode.GATHER
    masked, periodic, counted, sum_in_tangent = build.masked, build.periodic, terms.counted, terms.sum_in_tangent
    traversal, grid, vector = build.traversal, grid_functions(build.dimension, scalar), build.vector
    cells = wp.types.vector(3, wp.int64)
    nowhere = cells()

    @wp.func
    def period_of(state: State):
        sides = state.domain_maximum[0] - state.domain_minimum[0]
        return wp.cw_mul(sides, state.periodicity[0])

    @wp.func
    def receives(state: State, i: int):
        return (state.receiving >> state.query_kinds[i]) & 1 == 1 if masked else True

    @wp.func
    def contributes(state: State, j: int):
        return (state.contributing >> state.reference_kinds[j]) & 1 == 1 if masked else True

    @wp.func
    def candidate(state: State, place: int):
        return state.grid.order[place] if traversal else state.neighbors[place]

    @wp.func
    def sought(state: State, j: int, x: vector, h_i: scalar, h_j: scalar, cell: cells):
        """In a list nobody is twice, and who is out of reach adds nothing; in cells many are, in a bucket others."""
        if traversal:
            found = wp.length(x) <= reach(h_i, h_j) and grid.belongs(state.grid, state.reference_positions[j], cell)
        else:
            found = True
        return found

    @wp.func
    def stretch_sum(state: State, i: int, begin: int, end: int, cell: cells):
        total = nothing
        count = wp.int32(0)  # a variable to Warp, which 0 alone is not
        own = own_of(state, i)
        x_i = state.query_positions[i]
        h_i = state.query_supports[i] if reads_query else one
        period = period_of(state) if periodic else unbounded
        for place in range(begin, end):
            j = candidate(state, place)
            if contributes(state, j):
                x = separation(x_i, state.reference_positions[j], period)
                h_j = state.reference_supports[j] if reads_reference else one
                if sought(state, j, x, h_i, h_j, cell):
                    total += product(coefficient(own, state, j), geometry(x, h_i, h_j))
                    if counted:
                        count += wp.where(wp.length(x) <= reach(h_i, h_j), 1, 0)
        return total, count

    @wp.func
    def stretch_sum_and_tangent(state: State, i: int, begin: int, end: int, cell: cells):
        total = nothing
        total_tangent = nothing
        own = own_of(state, i)
        own_tangent = own_tangent_of(state, i)
        x_i = state.query_positions[i]
        dx_i = state.query_positions_tangent[i]
        h_i = state.query_supports[i] if reads_query else one
        dh_i = state.query_supports_tangent[i] if reads_query else zero
        period = period_of(state) if periodic else unbounded
        for place in range(begin, end):
            j = candidate(state, place)
            if contributes(state, j):
                x = separation(x_i, state.reference_positions[j], period)
                dx = dx_i - state.reference_positions_tangent[j]
                h_j = state.reference_supports[j] if reads_reference else one
                dh_j = state.reference_supports_tangent[j] if reads_reference else zero
                if sought(state, j, x, h_i, h_j, cell):
                    amount = coefficient(own, state, j)
                    shape = geometry(x, h_i, h_j)
                    if sum_in_tangent:
                        total += product(amount, shape)
                    total_tangent += product(coefficient_tangent(own, own_tangent, state, j), shape)
                    total_tangent += product(amount, geometry_tangent(x, h_i, h_j, dx, dh_i, dh_j))
        return total, total_tangent

    of_stretch, nothing_else = (stretch_sum_and_tangent, nothing) if tangent else (stretch_sum, wp.int32(0))

    @wp.func
    def walk(state: State, i: int):
        total = nothing
        second = nothing_else
        home = grid.cell(state.grid, state.query_positions[i])
        for number in range(grid.visits(state.grid)):
            begin, end, cell = grid.stretch(state.grid, home, number)
            part, other = of_stretch(state, i, begin, end, cell)
            total += part
            second += other
        return total, second

    # a list's row is one stretch, which the kernel sums itself: one level of functions more, and an adjoint would go
    # through the pairs once more

    # only what is given back is made: Warp compiles whatever it knows when a user loads all modules
    if counted and not tangent:

        @wp.kernel(module="unique")
        def pair_sum_and_count(state: State, out: wp.array(dtype=result), counts: wp.array(dtype=int)):
            i = state.first + wp.tid()
            if receives(state, i):
                if traversal:
                    total, count = walk(state, i)
                else:
                    end = state.row_offsets[i] + state.row_counts[i]
                    total, count = of_stretch(state, i, state.row_offsets[i], end, nowhere)
                out[i] = finish(total, state, i)
                counts[i] = count
            else:
                out[i] = nothing
                counts[i] = 0

        return pair_sum_and_count

    @wp.kernel(module="unique")
    def pair_sum(state: State, out: wp.array(dtype=result)):
        i = state.first + wp.tid()
        if receives(state, i):
            if traversal:
                total, second = walk(state, i)
            else:
                end = state.row_offsets[i] + state.row_counts[i]
                total, second = of_stretch(state, i, state.row_offsets[i], end, nowhere)
            if tangent:
                out[i] = finish_tangent(total, second, state, i)
            else:
                out[i] = finish(total, state, i)
        else:
            out[i] = nothing

    return pair_sum
