"""Kernels that the checks declare: nothing in them but what tells whether the declaration was followed."""

from typing import Any

import warp as wp


def weighted(State: Any, build: Any) -> Any:  # noqa: N803  # a type
    """m_i times a weight and a factor; and twice the position, and a number."""
    scalar, vector = build.scalar, build.vector
    two = scalar(2.0)

    @wp.kernel(module="unique")
    def judged_outputs(
        state: State,
        product: wp.array(dtype=scalar),
        twice: wp.array(dtype=vector),
        number: wp.array(dtype=wp.int32),
    ):
        i = wp.tid()
        product[i] = state.query_masses[i] * state.weights[i] * state.factor
        twice[i] = two * state.query_positions[i]
        number[i] = i

    return judged_outputs


def numbered(State: Any, build: Any) -> Any:  # noqa: N803  # a type
    """m_i + 10."""
    ten = build.scalar(10.0)

    @wp.kernel(module="unique")
    def judged_threads(state: State, out: wp.array(dtype=build.scalar)):
        i = wp.tid()
        out[i] = state.query_masses[i] + ten

    return judged_threads
