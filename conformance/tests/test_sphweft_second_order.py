"""Forward mode and second derivatives of the core, by every way that torch has, against the oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from operator_rows import Row, by_the_core, by_the_oracle, core_call, directions_of, made, tangent_by_the_core
from test_sphweft_gradients import IN_EVERY_DIMENSION, OPERATORS, row_of
from torch.autograd import forward_ad

import sphweft
from sphweft.bridge import SPHContext, launch_operator
from tapecheck import oracles
from tapecheck.subjects.sphweft_kernels import SPRINGS

func, functional = torch.func, torch.autograd.functional


def small(operator: str, dimension: int, populations: str) -> Row:
    return made(row_of(operator, dimension, populations).choices, 9, 8)


@pytest.mark.parametrize("populations", ["one", "two"])
@pytest.mark.parametrize(("operator", "dimension"), IN_EVERY_DIMENSION)
def test_checks_of_torch(operator: str, dimension: int, populations: str) -> None:
    row = small(operator, dimension, populations)
    leaves = tuple(tensor.clone().requires_grad_() for tensor in row.tensors)
    directions = tuple(direction.requires_grad_() for direction in directions_of(row))

    def call(*tensors: torch.Tensor) -> torch.Tensor:
        return by_the_core(row.holding(*tensors))

    def tangent(*tensors: torch.Tensor) -> torch.Tensor:
        return tangent_by_the_core(row.holding(*tensors[: len(leaves)]), *tensors[len(leaves) :])

    assert torch.autograd.gradcheck(call, leaves, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(call, leaves, check_fwd_over_rev=True, fast_mode=True)
    assert torch.autograd.gradcheck(tangent, (*leaves, *directions))


@pytest.mark.parametrize("populations", ["one", "two"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_dual_tensors_and_the_explicit_call_agree_to_the_bit(operator: str, populations: str) -> None:
    row = small(operator, 2, populations)
    directions = directions_of(row)
    explicit = tangent_by_the_core(row, *directions)
    with forward_ad.dual_level():
        duals = (forward_ad.make_dual(t, v) for t, v in zip(row.tensors, directions, strict=True))
        value, tangent = forward_ad.unpack_dual(by_the_core(row.holding(*duals)))
    assert torch.equal(value, by_the_core(row))
    assert tangent is not None
    assert torch.equal(tangent, explicit)


Ways = dict[str, Callable[[Callable[..., Any], Callable[..., Any], torch.Tensor, torch.Tensor], Any]]
"""Of a total f, a vector g, a point x, a direction v, and what makes a function one of a batch."""


def looped(function: Callable[..., Any], in_dims: int = 0) -> Callable[..., Any]:
    """A function of a batch, item by item: the oracle looks at values, which `vmap` does not allow."""
    return lambda batch: torch.stack([function(item) for item in batch.unbind(in_dims)])


RIGHT: Ways = {
    "jvp": lambda f, g, x, v, vmap=func.vmap: func.jvp(g, (x,), (v,))[1],
    "vjp": lambda f, g, x, v, vmap=func.vmap: func.vjp(g, x)[1](torch.ones_like(g(x)))[0],
    "jacrev": lambda f, g, x, v, vmap=func.vmap: func.jacrev(g)(x),
    "jacfwd": lambda f, g, x, v, vmap=func.vmap: func.jacfwd(g)(x),
    "vmap": lambda f, g, x, v, vmap=func.vmap: vmap(g)(torch.stack([x, x + 0.01 * v])),
    "vmap-of-another-axis": lambda f, g, x, v, vmap=func.vmap: vmap(g, in_dims=1)(torch.stack([x, x + 0.01 * v], 1)),
    "hessian": lambda f, g, x, v, vmap=func.vmap: func.hessian(f)(x),
    "jacrev-jacrev": lambda f, g, x, v, vmap=func.vmap: func.jacrev(func.jacrev(f))(x),
    "jacrev-jacfwd": lambda f, g, x, v, vmap=func.vmap: func.jacrev(func.jacfwd(f))(x),
    "grad-jvp": lambda f, g, x, v, vmap=func.vmap: func.grad(lambda y: func.jvp(f, (y,), (v,))[1])(x),
    "jvp-grad": lambda f, g, x, v, vmap=func.vmap: func.jvp(func.grad(f), (x,), (v,))[1],
    "grad-grad": lambda f, g, x, v, vmap=func.vmap: func.grad(lambda y: (func.grad(f)(y) * v).sum())(x),
    "vjp-vjp": lambda f, g, x, v, vmap=func.vmap: func.vjp(lambda y: func.vjp(f, y)[1](torch.ones_like(f(y)))[0], x)[1](
        v
    )[0],
    "vmap-grad": lambda f, g, x, v, vmap=func.vmap: vmap(func.grad(f))(torch.stack([x, x + 0.01 * v])),
    "grad-vmap": lambda f, g, x, v, vmap=func.vmap: func.grad(lambda y: vmap(f)(torch.stack([y, y + 0.01 * v])).sum())(
        x
    ),
    "vmap-jvp": lambda f, g, x, v, vmap=func.vmap: vmap(lambda u: func.jvp(g, (x,), (u,))[1])(torch.stack([v, -v])),
    "functional-hessian": lambda f, g, x, v, vmap=func.vmap: functional.hessian(f, x),
    "functional-hvp": lambda f, g, x, v, vmap=func.vmap: functional.hvp(f, x, v)[1],
    "functional-vhp": lambda f, g, x, v, vmap=func.vmap: functional.vhp(f, x, v)[1],
    "functional-jacobian": lambda f, g, x, v, vmap=func.vmap: functional.jacobian(g, x),
}
REFUSED: dict[str, tuple[str, Any]] = {
    "jacfwd-jacfwd": (
        "forward mode over forward mode",
        lambda f, g, x, v, vmap=func.vmap: func.jacfwd(func.jacfwd(f))(x),
    ),
    "jvp-jvp": (
        "forward mode over forward mode",
        lambda f, g, x, v, vmap=func.vmap: func.jvp(lambda y: func.jvp(f, (y,), (v,))[1], (x,), (v,))[1],
    ),
    "linearize": ("call torch.func.jvp", lambda f, g, x, v, vmap=func.vmap: func.linearize(g, x)[1](v)),
    "vectorized-hessian": (
        "use torch.func.vmap",
        lambda f, g, x, v, vmap=func.vmap: functional.hessian(f, x, vectorize=True),
    ),
    "vectorized-jacobian": (
        "use torch.func.vmap",
        lambda f, g, x, v, vmap=func.vmap: functional.jacobian(g, x, vectorize=True),
    ),
    "vectorized-forward-jacobian": (
        "use torch.func.vmap",
        lambda f, g, x, v, vmap=func.vmap: functional.jacobian(g, x, vectorize=True, strategy="forward-mode"),
    ),
    "grad-hessian": (
        "third derivatives",
        lambda f, g, x, v, vmap=func.vmap: func.grad(lambda y: func.hessian(f)(y).sum())(x),
    ),
    "jacfwd-hessian": (
        "forward mode over forward mode",
        lambda f, g, x, v, vmap=func.vmap: func.jacfwd(func.hessian(f))(x),
    ),
    "third-gradient": (
        "third derivatives",
        lambda f, g, x, v, vmap=func.vmap: func.grad(
            lambda a: func.grad(lambda b: (func.grad(f)(b) * v).sum())(a).sum()
        )(x),
    ),
}
"""What the error says, and the way."""


def functions(row: Row, at: int, run: Callable[..., Any]) -> tuple[Any, Any, torch.Tensor, torch.Tensor]:
    """Total and vector as functions of one of the row's tensors, that tensor, and a direction."""
    tensors = row.tensors

    def call(tensor: torch.Tensor) -> torch.Tensor:
        return run(row.holding(*tensors[:at], tensor, *tensors[at + 1 :]))

    return lambda t: call(t).square().sum(), lambda t: call(t)[:, ...], tensors[at], directions_of(row)[at]


@pytest.fixture(scope="module")
def listed_once() -> Any:
    """Adjacency lists made ahead: they read values, which nothing can be traced through."""
    kept: dict[Any, Any] = {}
    original = sphweft.AdjacencyList.from_pairs

    def once(query: torch.Tensor, reference: torch.Tensor, *counts: int) -> Any:
        return kept.setdefault(counts, kept.get(counts) or original(query, reference, *counts))

    patch = pytest.MonkeyPatch()
    patch.setattr(sphweft.AdjacencyList, "from_pairs", staticmethod(once))
    yield
    patch.undo()


@pytest.mark.parametrize("way", RIGHT.values(), ids=RIGHT)
@pytest.mark.parametrize("operator", OPERATORS)
def test_transforms_are_right(operator: str, way: Any) -> None:
    row = small(operator, 2, "one")
    for at in range(len(row.names)):
        found, expected = way(*functions(row, at, by_the_core)), way(*functions(row, at, by_the_oracle), looped)
        error = float((found - expected).abs().max() / expected.abs().max())
        assert error < 1e-10, f"{row.names[at]}: off by {error:.1e} of the largest value"


@pytest.mark.parametrize(("message", "way"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_had_says_so(message: str, way: Any, listed_once: None) -> None:
    row = small("gradient", 2, "one")
    by_the_core(row)
    with pytest.raises(NotImplementedError, match=message):
        way(*functions(row, 0, by_the_core))


@pytest.mark.parametrize("mode", list(sphweft.SupportMode), ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize("populations", ["one", "two"])
def test_hessian_product_of_density(populations: str, mode: sphweft.SupportMode) -> None:
    choices = row_of("density", 2, populations).choices | {"mode": mode}
    row = made(choices, 14, 11)
    generator = torch.Generator().manual_seed(5)
    v, u = (torch.rand(len(p.masses), 2, generator=generator, dtype=torch.float64) for p in (row.query, row.reference))
    (_, query, adjacency), options = core_call(row)
    found = sphweft.warp_operation_hvp(query, adjacency, v, reference_vectors=u, **options)
    rules = oracles.Rules(choices["function"].name.lower(), mode.name.lower(), choices["direction"].name.lower())
    sides = {"query": row.query, "reference": row.reference}
    expected = oracles.density_hvp(
        **sides, domain=oracles.Domain(*row.box), rules=rules, query_tangent=v, reference_tangent=u
    )
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12 * float(expected.abs().max()))

    if populations == "two":  # where they are one, a twin's leaves tell the roles apart, and the self pair counts
        x, y = (side.positions.clone().requires_grad_() for side in (row.query, row.reference))
        density = by_the_core(
            row._replace(
                query=type(row.query)(**{**vars(row.query), "positions": x}),
                reference=type(row.query)(**{**vars(row.reference), "positions": y}),
            )
        )
        first = torch.autograd.grad(density.sum(), (x, y), create_graph=True)
        product = sum((slope * along).sum() for slope, along in zip(first, (v, u), strict=True))
        (twice,) = torch.autograd.grad(product, x)
        torch.testing.assert_close(found, twice, rtol=1e-12, atol=1e-12 * float(expected.abs().max()))


def test_an_operator_without_tangent_kernel_says_so() -> None:
    row = small("density", 2, "one")
    (_, query, adjacency), _ = core_call(row)
    charges = torch.ones(len(row.query.masses), dtype=torch.float64)

    def energy(positions: torch.Tensor) -> torch.Tensor:
        state = sphweft.ParticleState(positions, query.supports, query.masses, query.kinds)
        context = SPHContext(state, adjacency=adjacency)
        return launch_operator(SPRINGS, context, charges=charges, stiffness=1.5)[1].square().sum()

    x = row.query.positions
    for attempt in (
        lambda: func.jvp(energy, (x,), (x,)),
        lambda: func.hessian(energy)(x),
        lambda: functional.hvp(energy, x, x),
        lambda: func.grad(lambda y: func.grad(energy)(y).sum())(x),
    ):
        with pytest.raises(NotImplementedError, match="springs has no tangent kernel"):
            attempt()
