"""Populations of size zero: shapes, zeros, gradients."""

from typing import NamedTuple

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import attributed
from tapecheck.contracts.sphing import (
    FIELD,
    call_of,
    check_each_operator,
    check_operators,
    output_of,
    population,
    pulled_back,
    tangent_of,
    with_leaves,
)
from tapecheck.faults.empty import sets as faults
from tapecheck.lazy import torch
from tapecheck.subjects.sph import PRODUCT, Call, Operators

TRAILING = {
    "density": (),
    "interpolate": FIELD["interpolate"],
    "gradient": (*FIELD["gradient"], 2),
    "divergence": (),
    "curl": (),
    "laplacian": FIELD["laplacian"],
    "covariance": (2, 2),
}
"""The axes of a result after the first."""


def empty_call(operators: Operators, operator: str, queries: int, references: int) -> Call:
    """A call with so many particles."""
    return call_of(operators, operator, population([0] * queries, salt=1), population([0] * references, salt=2))


def described(result: torch.Tensor) -> str:
    """Shape, type and content of a result."""
    content = f"up to {float(result.abs().max()):.4g}" if result.any() else "zeros"
    return f"{tuple(result.shape)}, {result.dtype}" + (f", {content}" if result.numel() else "")


def output(operators: Operators, operator: str, queries: int, references: int) -> Evidence:
    """The result for so many particles, beside zeros of the right shape."""
    observed = output_of(operators.run, empty_call(operators, operator, queries, references))
    due = torch.zeros(queries, *TRAILING[operator], dtype=torch.float64)
    return Evidence({"result": described(observed)}, {"result": described(due)})


@check_each_operator(
    "empty.query",
    faults=[faults.no_row_no_axes, faults.rows_stacked],
    near_misses=[faults.launch_guarded],
)
def empty_query(operators: Operators, operator: str) -> Evidence:
    return output(operators, operator, 0, 5)


@check_each_operator(
    "empty.reference",
    faults=[faults.divided_by_number_of_references, faults.memory_left_as_it_was],
    near_misses=[faults.launch_guarded],
)
def empty_reference(operators: Operators, operator: str) -> Evidence:
    return output(operators, operator, 5, 0)


@check_each_operator(
    "empty.both",
    faults=[faults.largest_support_of_all],
    near_misses=[faults.largest_support_or_none],
)
def empty_both(operators: Operators, operator: str) -> Evidence:
    return output(operators, operator, 0, 0)


class Sizes(NamedTuple):
    """How many particles there are."""

    queries: int
    references: int


@check_each_operator(
    "empty.backward",
    cases={"query": Sizes(0, 5), "reference": Sizes(5, 0), "both": Sizes(0, 0)},
    faults=[faults.constant_where_empty, faults.flat_gradients_of_empty_tensors, faults.strides_as_they_come],
    near_misses=[faults.empty_tensors_cloned],
)
def empty_backward(operators: Operators, operator: str, sizes: Sizes) -> Evidence:
    observed, due = {}, {}
    for strides, copy in (("canonical strides", torch.clone), ("other strides", with_other_strides)):
        call, leaves = with_leaves(empty_call(operators, operator, *sizes), copy)
        result = output_of(operators.run, call)
        found = pulled_back(result, leaves, torch.ones(()).to(result).expand(result.shape))
        observed[strides] = {name: described(gradient) for name, gradient in found.items()}
        due[strides] = {name: described(torch.zeros_like(leaf)) for name, leaf in leaves.items()}
    return Evidence(observed, due)


@check_each_operator(
    "empty.tangent",
    cases={"query": Sizes(0, 5), "reference": Sizes(5, 0), "both": Sizes(0, 0)},
    faults=[faults.tangents_reduced, faults.flat_tangents_where_empty],
    near_misses=[faults.empty_tensors_cloned],
)
def empty_tangent(operators: Operators, operator: str, sizes: Sizes) -> Evidence:
    call = empty_call(operators, operator, *sizes)
    found = tangent_of(operators.run, call)
    value = output_of(operators.run, call)
    shown = "none" if found is None else described(found)
    due = described(torch.zeros(sizes.queries, *TRAILING[operator], dtype=torch.float64))
    return Evidence(
        {"value": described(value), "tangent": due if found is None else shown}, {"value": due, "tangent": due}
    )


@check_operators(
    "empty.hvp",
    cases={"query": Sizes(0, 5), "reference": Sizes(5, 0), "both": Sizes(0, 0)},
    needs=[PRODUCT],
    faults=[faults.product_of_nothing_is_flat],
    near_misses=[faults.launch_guarded],
)
def empty_hvp(operators: Operators, sizes: Sizes) -> Evidence:
    assert operators.hessian_product is not None
    call = empty_call(operators, "density", *sizes)
    v, u = (torch.ones_like(side.positions) for side in (call.query, call.reference))
    with attributed("Hessian product"):
        found = operators.hessian_product(call, v, u)
    return Evidence({"product": described(found)}, {"product": described(torch.zeros_like(v))})


def with_other_strides(tensor: torch.Tensor) -> torch.Tensor:
    """An empty tensor with strides that do not follow from its shape; any other as it is."""
    return tensor if tensor.numel() else tensor.new_empty(0).as_strided(tensor.shape, (7,) * tensor.dim())
