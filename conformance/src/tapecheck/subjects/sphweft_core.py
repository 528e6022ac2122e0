"""The core's mechanism behind the adapter of cores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any
from unittest import mock

import torch

import sphweft
from sphweft import inspect
from sphweft.bridge import (
    STATE_PLACES,
    ExtraKind,
    ExtraSpec,
    OperatorSpec,
    OutputSpec,
    SPHContext,
    ThreadSpec,
    launch_operator,
    launch_positional,
)
from tapecheck import oracles
from tapecheck.subjects.core import Core, Declared

PROPERTIES = sphweft.OperationProperties(direction=sphweft.InteractionDirection.UNMASKED)


def state(particles: oracles.Particles) -> sphweft.ParticleState:
    """The particles as the core knows them."""
    return sphweft.ParticleState(**vars(particles))


@cache
def everybody(queries: int, references: int, device: torch.device) -> sphweft.AdjacencyList:
    """Every pair."""
    query, reference = torch.ones(queries, references, device=device).nonzero().T
    return sphweft.AdjacencyList.from_pairs(query, reference, queries, references)


def context(query: oracles.Particles, reference: oracles.Particles | None = None, **options: Any) -> SPHContext:
    """What a call is made of."""
    counts = len(query.masses), len((reference or query).masses)
    return SPHContext(
        state(query),
        PROPERTIES,
        adjacency=everybody(*counts, query.masses.device),
        reference=None if reference is None else state(reference),
        **options,
    )


def density(particles: oracles.Particles) -> torch.Tensor:
    """By the declared form."""
    found: torch.Tensor = launch_operator(inspect.DENSITY, context(particles))
    return found


def positional_state(particles: oracles.Particles) -> list[Any]:
    """The ten places."""
    made = context(particles)
    given = {"query": made.query, "properties": made.properties, "adjacency": made.adjacency}
    return [given.get(place) for place in STATE_PLACES]


def positional(particles: oracles.Particles) -> torch.Tensor:
    """By the positional form."""
    found: torch.Tensor = launch_positional(inspect.DENSITY, positional_state(particles))
    return found


def run(declared: Declared, particles: oracles.Particles, **extras: Any) -> Any:
    """A declared operator."""
    return launch_operator(specification(declared), context(particles), **extras)


@cache
def specification(declared: Declared) -> OperatorSpec:
    """The operator as the core knows it."""
    return OperatorSpec(
        name="judged",
        kernel=declared.kernel,
        reads=declared.reads,
        outputs=tuple(OutputSpec(dtype, shape) for dtype, shape in declared.outputs),
        extras=(
            *(ExtraSpec(name, rows="query") for name in declared.tensors),
            *(ExtraSpec(name, ExtraKind.SCALAR) for name in declared.scalars),
        ),
        threads=declared.threads or ThreadSpec.QUERY_COUNT,
    )


def in_mode(name: str) -> SPHContext:
    """A context in an execution mode."""
    one = torch.ones(1, dtype=torch.float64)
    particles = oracles.Particles(one[:, None], one, one, torch.zeros(1, dtype=torch.int32))
    return context(particles, mode=sphweft.ExecutionMode[name])


def entries(query: oracles.Particles, reference: oracles.Particles | None) -> Sequence[Any]:
    """The flat layout of a call."""
    return inspect.extract_state(context(query, reference))


def placeholder(kind: str, dimension: int, device: torch.device, dtype: torch.dtype) -> tuple[Any, Any]:
    """A placeholder and its array."""
    found = inspect.null_field(kind, dimension, device, dtype)
    return found, found.array


@contextmanager
def entering() -> Iterator[list[tuple[Any, ...]]]:
    """The arguments of each call of the autograd Function meanwhile."""
    found: list[tuple[Any, ...]] = []
    original = inspect.StateAwareWarpFunction.apply

    def noted(*arguments: Any) -> Any:
        found.append(arguments)
        return original(*arguments)

    with mock.patch.object(inspect.StateAwareWarpFunction, "apply", noted):
        yield found


@contextmanager
def leaving() -> Iterator[list[tuple[Any, ...]]]:
    """What each backward of the autograd Function gives meanwhile."""
    found: list[tuple[Any, ...]] = []
    original = inspect.StateAwareWarpFunction.backward

    def noted(*arguments: Any) -> Any:
        found.append(original(*arguments))
        return found[-1]

    with mock.patch.object(inspect.StateAwareWarpFunction, "backward", staticmethod(noted)):
        yield found


DOCUMENTED = {slot.name: slot.documented for slot in inspect.LAYOUT}


@contextmanager
def pushing() -> Iterator[list[tuple[Any, ...]]]:
    """What each launch of a tangent kernel reads meanwhile."""
    found: list[tuple[Any, ...]] = []
    original = inspect.Launcher.run

    def noted(launcher: Any, tensors: Sequence[Any]) -> Any:
        named = dict(zip((entry.name for entry in launcher.plan.fields), tensors, strict=True))
        if any(name.endswith("_tangent") for name in named):
            places = (name for name in named if name in DOCUMENTED)
            found.append(tuple((DOCUMENTED[name], named[name], named.get(f"{name}_tangent")) for name in places))
        return original(launcher, tensors)

    with mock.patch.object(inspect.Launcher, "run", noted):
        yield found


@contextmanager
def switched(name: str, value: str) -> Iterator[None]:
    """An environment switch set meanwhile."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


without_cache = partial(switched, "SPHWEFT_FIELD_CACHE_GRAD", "0")
taped = partial(switched, "SPHWEFT_TAPE_BACKWARD", "1")


@contextmanager
def sliced() -> Iterator[None]:
    """On the CPU every launch of four threads or more is cut meanwhile, and two threads run the slices."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with mock.patch.object(inspect.slices, "SMALLEST", 2):
            yield
    finally:
        torch.set_num_threads(before)


CORE = Core(
    density=density,
    positional=positional,
    state=sphweft.ParticleState,
    run=run,
    run_positional=partial(launch_positional, inspect.DENSITY),
    positional_state=positional_state,
    in_mode=in_mode,
    entering=entering,
    leaving=leaving,
    pushing=pushing,
    slots=tuple(slot.documented for slot in inspect.LAYOUT),
    layout=entries,
    is_placeholder=lambda entry: isinstance(entry, inspect.NullField),
    placeholder=placeholder,
    view=inspect.cached_view,
    views=inspect.cached_view_count,
    fields_written=lambda: inspect.counters().get("fields_written", 0),
    without_cache=without_cache,
    without_reuse=partial(switched, "SPHWEFT_DISABLE_BUNDLE", "1"),
)
