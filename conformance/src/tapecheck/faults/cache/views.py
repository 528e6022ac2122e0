"""Faults and near misses of the checks of array views."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from tapecheck.faults.bridge.wrapping import passed_through
from tapecheck.subjects.core import Density, Particles

FLOATS = ("positions", "supports", "masses")


def with_core(subject: Any, **changes: Any) -> Any:
    """The subject with some entries of its core replaced."""
    return replace(subject, core=replace(subject.core, **changes))


def with_density(subject: Any, wrap: Callable[[Density], Density]) -> Any:
    """The subject with both forms of the density wrapped."""
    return with_core(subject, density=wrap(subject.core.density), positional=wrap(subject.core.positional))


def with_tensors(subject: Any, mapping: Callable[[Any], Any]) -> Any:
    """The core that works on what that makes of each floating tensor that a density reads."""

    def wrap(density: Density) -> Density:
        def mapped(given: Particles) -> Any:
            return density(replace(given, **{name: mapping(getattr(given, name)) for name in FLOATS}))

        return mapped

    return with_density(subject, wrap)


def particles_copied(subject: Any) -> Any:
    """The particles are put into an object of their own; the tensors are the same."""
    return with_density(subject, lambda density: lambda given: density(replace(given)))


def views_of_tensors_are_used(subject: Any) -> Any:
    """Each call works on views of the tensors, which are new objects."""
    return with_tensors(subject, lambda tensor: tensor[:])


def tensors_found_by_address(subject: Any) -> Any:
    """A tensor is known by its address and shape, and the first one that had them is used."""
    known: dict[Any, Any] = {}
    return with_tensors(subject, lambda tensor: known.setdefault((tensor.data_ptr(), tensor.shape), tensor.detach()))


def _by_object(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What is made once for a tensor object."""
    known: dict[int, Any] = {}

    def found(tensor: Any) -> Any:
        if id(tensor) not in known:
            weakref.finalize(tensor, known.pop, id(tensor), None)
            known[id(tensor)] = make(tensor)
        return known[id(tensor)]

    return found


def first_values_kept(subject: Any) -> Any:
    """A tensor object is converted once, whatever becomes of it."""
    return with_tensors(subject, _by_object(lambda tensor: tensor.clone()))


def first_flag_kept(subject: Any) -> Any:
    """Whether a tensor object requires a gradient is asked once."""
    flag = _by_object(lambda tensor: tensor.requires_grad)

    def as_at_first(tensor: Any) -> Any:
        if flag(tensor) == tensor.requires_grad:
            return tensor
        return tensor.detach().requires_grad_(flag(tensor))

    return with_tensors(subject, as_at_first)


def contiguous_copies_kept(subject: Any) -> Any:
    """A tensor that is not contiguous is copied once."""
    copy = _by_object(lambda tensor: tensor.contiguous())
    return with_tensors(subject, lambda tensor: tensor if tensor.is_contiguous() else copy(tensor))


def contiguous_copies_made(subject: Any) -> Any:
    """A tensor that is not contiguous is copied at every call."""
    return with_tensors(subject, lambda tensor: tensor.contiguous())


def gradients_of_earlier_calls_stay(subject: Any) -> Any:
    """A tensor's gradient is added to a buffer that no call clears, and that a call without backward fills as well."""
    calls: dict[int, int] = {}

    def counted(tensor: Any) -> Any:
        if not tensor.requires_grad:
            return tensor
        times = calls[id(tensor)] = calls.get(id(tensor), 0) + 1
        return passed_through([tensor], lambda seeds: [seed if seed is None else times * seed for seed in seeds])[0]

    return with_tensors(subject, counted)


def gradients_copied(subject: Any) -> Any:
    """Each gradient is copied before it is handed out."""

    def copied(tensor: Any) -> Any:
        if not tensor.requires_grad:
            return tensor
        return passed_through([tensor], lambda seeds: [seed if seed is None else seed.clone() for seed in seeds])[0]

    return with_tensors(subject, copied)


def switch_without_effect(subject: Any) -> Any:
    """The switch of the view cache does nothing."""
    return with_core(subject, without_cache=nullcontext)


def noticed(subject: Any, name: str, wrap: Callable[[Density, list[bool]], Density]) -> Any:
    """The subject whose density knows whether a switch is on."""
    switch, on = getattr(subject.core, name), [False]

    @contextmanager
    def switched() -> Iterator[None]:
        with switch():
            on[0] = True
            try:
                yield
            finally:
                on[0] = False

    return with_core(with_density(subject, lambda density: wrap(density, on)), **{name: switched})


def switch_of_every_call(subject: Any) -> Any:
    """The switch turns the view cache off for calls without gradient too."""

    def wrap(density: Density, on: list[bool]) -> Density:
        def called(given: Particles) -> Any:
            viewed = {name: getattr(given, name)[:] for name in FLOATS} if on[0] else {}
            return density(replace(given, **viewed))

        return called

    return noticed(subject, "without_cache", wrap)


def rounds_otherwise(subject: Any, switch: str) -> Any:
    """With that switch, results differ in the last digit."""

    def wrap(density: Density, on: list[bool]) -> Density:
        return lambda given: density(given) * (1 + 4e-16) if on[0] else density(given)

    return noticed(subject, switch, wrap)


def switched_call_rounds_otherwise(subject: Any) -> Any:
    """Without the view cache, results differ in the last digit."""
    return rounds_otherwise(subject, "without_cache")


def tensors_held(subject: Any) -> Any:
    """Every tensor that a call has seen is held."""
    held: list[Any] = []

    def holding(tensor: Any) -> Any:
        held.append(tensor)
        return tensor

    return with_tensors(subject, holding)


def tensors_counted(subject: Any) -> Any:
    """Every tensor that a call has seen is known by a weak reference."""
    known: list[Any] = []

    def knowing(tensor: Any) -> Any:
        known.append(weakref.ref(tensor))
        return tensor

    return with_tensors(subject, knowing)
