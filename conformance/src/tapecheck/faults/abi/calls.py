"""Faults and near misses of the checks of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tapecheck.faults.bridge.wrapping import passed_through
from tapecheck.faults.cache.views import FLOATS, with_core, with_density, with_tensors
from tapecheck.faults.cache.views import particles_copied as particles_copied
from tapecheck.lazy import torch
from tapecheck.subjects.core import Density, Particles


def _with_layout(subject: Any, mapping: Callable[[list[Any]], Sequence[Any]]) -> Any:
    layout = subject.core.layout
    return with_core(subject, layout=lambda *given: mapping(list(layout(*given))))


def two_places_swapped(subject: Any) -> Any:
    """Supports and masses have changed places."""
    return _with_layout(subject, lambda e: [*e[:2], *e[4:6], *e[2:4], *e[6:]])


def reference_side_copied(subject: Any) -> Any:
    """The reference side holds objects of its own."""
    return _with_layout(subject, lambda entries: [entries[0], entries[1][:], *entries[2:]])


def nothing_for_placeholders(subject: Any) -> Any:
    """Where there is nothing, nothing stands."""
    core = subject.core
    return _with_layout(subject, lambda entries: [None if core.is_placeholder(e) else e for e in entries])


def layout_as_a_tuple(subject: Any) -> Any:
    """The layout is a tuple."""
    return _with_layout(subject, tuple)


def places_filled_up(subject: Any) -> Any:
    """A short state is filled up, and of a long one the rest ignored."""
    run = subject.core.run_positional

    def filled(state: Sequence[Any], extras: Sequence[Any]) -> Any:
        return run([*state, *[None] * 10][:10], extras)

    return with_core(subject, run_positional=filled)


def state_without_places_for_what_is_absent(subject: Any) -> Any:
    """What is absent has no place."""
    state, run = subject.core.positional_state, subject.core.run_positional
    whole: list[Any] = []

    def short(given: Particles) -> Any:
        whole[:] = state(given)
        return [entry for entry in whole if entry is not None]

    return with_core(subject, positional_state=short, run_positional=lambda state, extras: run(whole, extras))


def state_as_a_tuple(subject: Any) -> Any:
    """The positional state is a tuple."""
    state = subject.core.positional_state
    return with_core(subject, positional_state=lambda given: tuple(state(given)))


def _with_positional(subject: Any, wrap: Callable[[Density], Density]) -> Any:
    return with_core(subject, positional=wrap(subject.core.positional))


def positional_call_rounds_otherwise(subject: Any) -> Any:
    """Results of the positional form differ in the last digit."""
    return _with_positional(subject, lambda density: lambda given: density(given) * (1 + 4e-16))


def positional_gradient_rounds_otherwise(subject: Any) -> Any:
    """Gradients of the positional form differ in the last digit."""

    def wrap(density: Density) -> Density:
        return lambda given: passed_through([density(given)], lambda seeds: [seeds[0] * (1 + 4e-16)])[0]

    return _with_positional(subject, wrap)


def _noting(subject: Any, name: str, mapping: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Any:
    """The core in which something else than what it is enters the autograd Function, or leaves its backward."""
    noting = getattr(subject.core, name)

    @contextmanager
    def otherwise() -> Iterator[list[tuple[Any, ...]]]:
        shown: list[tuple[Any, ...]] = []
        with noting() as found:
            yield shown
        shown += map(mapping, found)

    return with_core(subject, **{name: otherwise})


def five_leading_arguments(subject: Any) -> Any:
    """Tensors come after five other arguments."""
    return _noting(subject, "entering", lambda arguments: arguments[1:])


def structs_among_tensors(subject: Any) -> Any:
    """After the tensors comes an argument that is none."""
    return _noting(subject, "entering", lambda arguments: (*arguments, None))


def gradients_from_the_start(subject: Any) -> Any:
    """Backward gives gradients first, and nothing for the rest."""
    return _noting(subject, "leaving", lambda answer: (*answer[6:], *answer[:6]))


def everything_answered(subject: Any) -> Any:
    """Backward gives a gradient for everything, roles that were answered before and constants."""
    return _noting(
        subject, "leaving", lambda answer: (*answer[:6], *(answer[6] if a is None else a for a in answer[6:]))
    )


def tangents_without_gaps(subject: Any) -> Any:
    """Tangents come one after another, without gaps for tensors that have none."""

    def closed(launch: tuple[Any, ...]) -> tuple[Any, ...]:
        tangents = [tangent for _, _, tangent in launch if tangent is not None]
        tangents += [None] * (len(launch) - len(tangents))
        places = sorted(launch, key=lambda entry: entry[0] != "rMas")
        return tuple((place, tensor, t) for (place, tensor, _), t in zip(places, tangents, strict=True))

    return _noting(subject, "pushing", closed)


def tangents_of_everything(subject: Any) -> Any:
    """What has no tangent gets one of zeros."""
    from torch.autograd import forward_ad

    def filled(tensor: Any) -> Any:
        given = forward_ad.unpack_dual(tensor).tangent
        return tensor if given is not None else forward_ad.make_dual(tensor, torch.zeros_like(tensor))

    return with_tensors(subject, filled)


def every_mode_taken(subject: Any) -> Any:
    """Every mode is taken, and treated as the usual one."""
    in_mode = subject.core.in_mode
    return with_core(subject, in_mode=lambda name: in_mode("AUTO"))


def contexts_made_twice(subject: Any) -> Any:
    """A context is made twice."""
    in_mode = subject.core.in_mode
    return with_core(subject, in_mode=lambda name: (in_mode(name), in_mode(name)))


def kinds_guessed(subject: Any) -> Any:
    """Particles without kinds are fluid."""
    state = subject.core.state

    def guessing(*, masses: Any, kinds: Any = None, **others: Any) -> Any:
        fluid = torch.zeros(len(masses), dtype=torch.int32)
        return state(masses=masses, kinds=fluid if kinds is None else kinds, **others)

    return with_core(subject, state=guessing)


def states_made_in_another_order(subject: Any) -> Any:
    """A state's tensors are handed over in reversed order."""
    state = subject.core.state
    return with_core(subject, state=lambda **tensors: state(**dict(reversed(list(tensors.items())))))


def every_tensor_enters(subject: Any) -> Any:
    """Whatever is floating is tracked."""
    return with_tensors(subject, lambda tensor: tensor if tensor.requires_grad else tensor.detach().requires_grad_())


def no_tensor_enters(subject: Any) -> Any:
    """Nothing is tracked."""
    return with_tensors(subject, lambda tensor: tensor.detach())


def pruned_as_at_first(subject: Any) -> Any:
    """What is left out is decided at the first call, by name."""
    tracked: dict[str, bool] = {}

    def wrap(density: Density) -> Density:
        def called(given: Particles) -> Any:
            for name in FLOATS:
                tracked.setdefault(name, getattr(given, name).requires_grad)
            pruned = {name: getattr(given, name).detach() for name, kept in tracked.items() if not kept}
            return density(replace(given, **pruned))

        return called

    return with_density(subject, wrap)


def detached_under_transforms(subject: Any) -> Any:
    """What a transform has wrapped is left out: its own flag does not say what it hides."""
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor
    return with_tensors(subject, lambda tensor: tensor.detach() if wrapped(tensor) else tensor)
