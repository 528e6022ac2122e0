"""What the fuzz tries on a subject: situations that hypothesis thinks of, and what must then hold.

Each check takes a subject and a way to draw: so it judges the core, and the core with a fault planted in it.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tapecheck import oracles
from tapecheck.contracts import coring, sphing
from tapecheck.subjects import sph

EIGHTH = 0.125
"""What lies on such a lattice lies on edges of cells and at cutoffs exactly."""
SHIFTS = (0.0, 2.0**-20, EIGHTH / 2, EIGHTH, 0.3)
on_lattice = st.integers(-12, 20).map(lambda n: n * EIGHTH)
exact = st.one_of(on_lattice, st.integers(-(3 << 19), 5 << 19).map(lambda n: n * 2.0**-20))
"""Differences of these, and sums of their squares, are exact: so is a distance, however the box is wrapped."""
anywhere = st.one_of(
    on_lattice, st.floats(-1.5, 2.5, allow_subnormal=False), st.sampled_from([-1e-9, 1.0, 1.0 - 2.0**-53, 0.0, -0.0])
)
widths = st.integers(1, 4).map(lambda n: n * EIGHTH)


def draw_population(
    draw: Any, dimension: int, coordinates: st.SearchStrategy[float], far: bool, most: int
) -> oracles.Particles:
    """Particles of which some share a place, and some are far away where space is open."""
    count = draw(st.integers(0, most))
    points = [[draw(coordinates) for _ in range(dimension)] for _ in range(count)]
    if count > 1 and draw(st.booleans()):
        points[-1] = list(points[0])
    if count and far and draw(st.booleans()):
        points[0] = [point + draw(st.sampled_from([2.0**20, -(2.0**30), 2.0**40])) for point in points[0]]
    positions = torch.tensor(points, dtype=torch.float64).reshape(count, dimension)
    if draw(st.booleans()):  # a stride that is not the shape's
        positions = torch.stack([positions, positions], -1)[..., 0]
    if count and draw(st.booleans()):
        supports = torch.tensor(draw(widths), dtype=torch.float64).expand(count)
    else:
        supports = torch.tensor([draw(widths) for _ in range(count)], dtype=torch.float64)
    masses = torch.arange(1, count + 1, dtype=torch.float64)
    kinds = torch.tensor([draw(st.integers(0, 3)) for _ in range(count)], dtype=torch.int32)
    return oracles.Particles(positions, supports, masses, kinds, masses.flip(0))


def draw_populations(draw: Any, dimension: int, periodic: bool, **options: Any) -> list[oracles.Particles]:
    """Queries and references, the same object where they are one population."""
    query = draw_population(draw, dimension, far=not periodic, **options)
    return [query, query if draw(st.booleans()) else draw_population(draw, dimension, far=not periodic, **options)]


def search_is_exact(subject: Any, draw: Any) -> None:
    """A search finds the pairs of brute force in their order; its list asks to be rebuilt before it misses one."""
    dimension, periodic = draw(st.integers(1, 3)), draw(st.booleans())
    query, reference = draw_populations(draw, dimension, periodic, coordinates=exact if periodic else anywhere, most=12)
    domain = oracles.Domain([0.0] * dimension, [1.0] * dimension, [periodic] * dimension)
    mode = draw(st.sampled_from(sph.SUPPORT_MODES))
    widest = max([0.0, *query.supports.tolist(), *reference.supports.tolist()])
    margin = min(draw(st.sampled_from([0.0, EIGHTH, 2 * EIGHTH])), 0.5 - widest if periodic else 1.0)

    def due(margin: float) -> list[tuple[int, ...]]:
        found = oracles.near(query=query, reference=reference, domain=domain, support_mode=mode, margin=margin)
        return list(map(tuple, found.T.tolist()))

    found = subject.operators.search(query, reference, domain, mode, margin)
    listed = list(map(tuple, found.pairs.T.tolist()))
    assert listed == due(margin)
    if query.positions.numel():
        query.positions[draw(st.integers(0, len(query.positions) - 1))] += draw(st.sampled_from(SHIFTS))
    missing = set(due(0.0)) - set(listed)
    assert not missing or found.must_rebuild(query, reference)


def operators_are_exact(subject: Any, draw: Any) -> None:
    """An operator's value and gradients are those of the oracle, for the pairs that a direction selects."""
    operator = draw(st.sampled_from(sph.OPERATORS))
    dimension = 2 if operator != "density" else draw(st.integers(1, 3))
    periodic = dimension == 2 or draw(st.booleans())
    query, reference = draw_populations(draw, dimension, periodic, coordinates=on_lattice, most=6)
    reference = oracles.Particles(**{name: tensor.clone() for name, tensor in vars(reference).items()})
    direction = draw(st.sampled_from(sph.DIRECTIONS))
    call = sphing.call_of(subject.operators, operator, query, reference, direction)
    domain = oracles.Domain([0.0] * dimension, [2.0] * dimension, [periodic] * dimension)
    call = replace(call, domain=domain, pairs=call.pairs if draw(st.booleans()) else None)
    receiving = oracles.kinds.receives(query.kinds, direction=direction)
    contributing = oracles.kinds.contributes(reference.kinds, direction=direction)
    observed = sphing.results(subject.operators.run, call)
    said = sphing.compared(observed, call, receiving, contributing)
    assert all(what.startswith("right") for what in said.values()), said


def roles_have_gradients_of_their_own(subject: Any, draw: Any) -> None:
    """Arguments that are one tensor, share memory, or come in another layout have the gradients of the reference."""
    probe = draw(st.sampled_from([probe for probe in subject.probes if probe.name.endswith("-2d")]))
    inputs = list(probe.inputs(draw(st.integers(1, 5)), torch.float64))
    places = [at for at, given in enumerate(inputs) if torch.is_tensor(given) and given.is_floating_point()]
    by_shape: dict[Any, list[int]] = {}
    for place in places:
        by_shape.setdefault(inputs[place].shape, []).append(place)
    alike = draw(st.sampled_from([places for places in by_shape.values() if len(places) > 1]))
    one, other = draw(st.permutations(alike))[:2]
    how = draw(st.sampled_from(["one tensor", "one memory", "strided", "apart"]))
    leaf = inputs[one].clone().requires_grad_()
    inputs[one] = leaf
    if how == "one tensor":
        inputs[other] = leaf
    elif how == "one memory":
        inputs[other] = leaf.view_as(leaf)
    elif how == "strided":
        inputs[other] = torch.stack([leaf, leaf], -1)[..., 1]
    with ExitStack() as switched:
        switched.enter_context(probe.within())
        if draw(st.booleans()):
            switched.enter_context(subject.without_cache())
        for _ in range(draw(st.integers(1, 2))):
            found, due = (gradient_of(run, inputs, leaf) for run in (probe.call, probe.reference))
            torch.testing.assert_close(found, due, rtol=1e-11, atol=1e-12)


def gradient_of(run: Callable[..., Any], inputs: list[Any], leaf: torch.Tensor) -> torch.Tensor:
    """That of the sum of squares of all outputs."""
    outputs = run(*inputs)
    total = sum(out.square().sum() for out in (outputs if isinstance(outputs, tuple) else (outputs,)))
    if not total.requires_grad:
        return torch.zeros_like(leaf)
    (gradient,) = torch.autograd.grad(total, leaf, allow_unused=True, materialize_grads=True)
    return gradient


class Caches(RuleBasedStateMachine):
    """Calls on particles whose tensors are changed, replaced and shared between forward and backward.

    Args:
        core: the mechanism that is judged.
    """

    def __init__(self, core: Any) -> None:
        super().__init__()
        self.core = core
        self.tensors = dict(vars(coring.particles(salt=1)))
        self.pending: list[tuple[Any, ...]] = []
        self.switched = ExitStack()
        self.salt = 1

    names = st.sampled_from(coring.FLOATS)

    def particles(self) -> Any:
        return oracles.Particles(**self.tensors)

    @rule()
    def forward(self) -> None:
        given = self.particles()
        output, due = self.core.density(given), coring.due(given)
        assert coring.compared(output, due) == "right"
        assert output.requires_grad == due.requires_grad
        if due.requires_grad:
            read = [getattr(given, name) for name in coring.FLOATS]
            leaves = [tensor for tensor in read if tensor.requires_grad]
            wanted = torch.autograd.grad(due.sum(), leaves)
            self.pending.append((output, read, [tensor._version for tensor in read], leaves, wanted))

    @precondition(lambda self: self.pending)
    @rule(data=st.data())
    def backward(self, data: Any) -> None:
        output, read, versions, leaves, wanted = self.pending.pop(data.draw(st.integers(0, len(self.pending) - 1)))
        if [tensor._version for tensor in read] != versions:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                torch.autograd.grad(output.sum(), leaves)
            return
        for gradient, due in zip(torch.autograd.grad(output.sum(), leaves), wanted, strict=True):
            assert coring.compared(gradient, due) == "right"

    @rule(name=names)
    def change(self, name: str) -> None:
        with torch.no_grad():
            self.tensors[name].mul_(1.0 + 2.0**-4)

    @rule(name=names, differentiable=st.booleans(), strided=st.booleans())
    def replace(self, name: str, differentiable: bool, strided: bool) -> None:
        self.salt += 1
        made = getattr(coring.particles(salt=self.salt), name)
        self.tensors[name] = torch.stack([made, made], -1)[..., 0] if strided else made
        self.tensors[name].requires_grad_(differentiable)

    @rule(name=names)
    def ask_for_gradients(self, name: str) -> None:
        self.tensors[name].requires_grad_()

    @rule()
    def share(self) -> None:
        self.tensors["masses"] = self.tensors["supports"]

    @rule()
    def collect(self) -> None:
        gc.collect(1)

    @rule()
    def in_another_thread(self) -> None:
        raised: list[BaseException] = []

        def run() -> None:
            try:
                self.forward()
                self.forward()
            except BaseException as error:  # noqa: BLE001  (handed on)
                raised.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if raised:
            raise raised[0]

    @rule(switch=st.sampled_from(["without_cache", "without_reuse"]))
    def switch(self, switch: str) -> None:
        self.switched.enter_context(getattr(self.core, switch)())

    @rule()
    def switch_back(self) -> None:
        self.switched.close()

    def teardown(self) -> None:
        self.switched.close()
