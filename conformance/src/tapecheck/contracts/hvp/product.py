"""The Hessian product of the density, held against nothing but the density itself."""

from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import all_right, attributed, how_wrong
from tapecheck.contracts.sphing import call_of, check_operators, population
from tapecheck.faults.hvp import product as faults
from tapecheck.lazy import torch
from tapecheck.subjects.sph import PRODUCT, Call, Operators


def vectors(call: Call) -> tuple[torch.Tensor, torch.Tensor]:
    """One of the queries and one of the references, always the same ones."""
    generator = torch.Generator().manual_seed(21)
    shapes = call.query.positions.shape, call.reference.positions.shape
    v, u = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    return v.to(call.query.positions), u.to(call.query.positions)


def two_populations(operators: Operators) -> Call:
    """Queries and references that are others."""
    query = population([0, 1, 2, 3, 0, 1], salt=31, spread=1.0)
    return call_of(operators, "density", query, population([0, 1, 3, 2, 0], salt=32, spread=1.0))


def product_of(operators: Operators, call: Call, v: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """The Hessian product."""
    assert operators.hessian_product is not None
    with attributed("Hessian product"):
        return operators.hessian_product(call, v, u)


def slopes(operators: Operators, call: Call, x: torch.Tensor, y: torch.Tensor, **options: Any) -> Any:
    """The gradients of Σ ρ by the positions of the queries and of the references."""
    leaves = [tensor.clone().requires_grad_() for tensor in (x, y)] if not options else [x, y]
    moved = call.replacing({"query.positions": leaves[0], "reference.positions": leaves[1]})
    with attributed("gradient of density"):
        return torch.autograd.grad(operators.run(moved).sum(), leaves, **options)


def compared(observed: torch.Tensor, due: torch.Tensor, tolerance: float) -> str:
    """`right to …`, or in what way it is wrong."""
    error = float((observed - due).abs().max() / due.abs().max())
    return f"right to {error:.0e}" if error <= tolerance else how_wrong(observed.cpu(), due.cpu())


@check_operators(
    "hvp.density",
    needs=[PRODUCT],
    faults=[faults.product_halved, faults.reference_vectors_ignored, faults.query_vectors_ignored],
    near_misses=[faults.vectors_copied],
)
def density(operators: Operators) -> Evidence:
    call = two_populations(operators)
    v, u = vectors(call)
    x, y = call.query.positions, call.reference.positions

    def central(h: float) -> torch.Tensor:
        above, below = (slopes(operators, call, x + s * v, y + s * u)[0] for s in (h, -h))
        difference: torch.Tensor = (above - below) / (2 * h)
        return difference

    due = (4 * central(5e-5) - central(1e-4)) / 3
    return all_right({"H (v, u)": compared(product_of(operators, call, v, u), due, 1e-7)})


@check_operators(
    "hvp.self-pair",
    needs=[PRODUCT],
    faults=[faults.self_pair_kept, faults.equal_positions_left_out],
    near_misses=[faults.vectors_copied],
)
def self_pair(operators: Operators) -> Evidence:
    alone = population([0], salt=33)
    one = call_of(operators, "density", alone, alone)
    twin = type(alone)(**{name: tensor.clone() for name, tensor in vars(alone).items()})
    two = call_of(operators, "density", alone, twin)
    v, u = vectors(two)
    return Evidence(
        {
            "one population, one particle": product_of(operators, one, v, u).tolist(),
            "two populations, equal positions": bool(product_of(operators, two, v, u).any()),
        },
        {"one population, one particle": [[0.0, 0.0]], "two populations, equal positions": True},
    )


@check_operators(
    "hvp.matches-double-backward",
    needs=[PRODUCT],
    faults=[faults.product_halved, faults.reference_vectors_ignored],
    near_misses=[faults.vectors_copied],
)
def matches_double_backward(operators: Operators) -> Evidence:
    call = two_populations(operators)
    v, u = vectors(call)
    x, y = (side.positions.clone().requires_grad_() for side in (call.query, call.reference))
    first = slopes(operators, call, x, y, create_graph=True)
    with attributed("second derivative"):
        (due,) = torch.autograd.grad(sum((g * t).sum() for g, t in zip(first, (v, u), strict=True)), x)
    return all_right({"H (v, u)": compared(product_of(operators, call, v, u), due, 1e-11)})
