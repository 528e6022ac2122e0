"""Faults and near misses of the checks of structs that are filled again."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import warp

from tapecheck.contracts.probing import replaced
from tapecheck.faults.cache import views
from tapecheck.faults.cache.views import particles_copied as particles_copied
from tapecheck.subjects.core import Density, Particles


def one_struct_for_all(subject: Any) -> Any:
    """Every call fills the struct of the first one, whether or not something requires a gradient."""
    structs: dict[Any, Any] = {}

    def wrap(density: Density) -> Density:
        def called(given: Particles) -> Any:
            launch = warp.Launch.launch

            def in_the_first(command: Any, *arguments: Any) -> None:
                struct = command.params[1]
                first = structs.setdefault(type(struct), struct)
                for name, _ in struct._fields_:
                    setattr(first, name, getattr(struct, name))
                command.params[1] = first
                launch(command, *arguments)

            with replaced(warp.Launch, {"launch": in_the_first}):
                return density(given)

        return called

    return views.with_density(subject, wrap)


def no_struct_used_again(subject: Any) -> Any:
    """Every call makes a struct of its own."""
    without = subject.core.without_reuse

    def wrap(density: Density) -> Density:
        def called(given: Particles) -> Any:
            with without():
                return density(given)

        return called

    return views.with_density(subject, wrap)


def switch_without_effect(subject: Any) -> Any:
    """The switch of struct reuse does nothing."""
    return views.with_core(subject, without_reuse=nullcontext)


def switched_call_rounds_otherwise(subject: Any) -> Any:
    """Without struct reuse, results differ in the last digit."""
    return views.rounds_otherwise(subject, "without_reuse")


def masses_of_the_first_call_stay(subject: Any) -> Any:
    """The masses are written into a struct once."""
    kept: list[Any] = []

    def wrap(density: Density) -> Density:
        def called(given: Particles) -> Any:
            kept.append(given.masses)
            return density(replace(given, masses=kept[0]))

        return called

    return views.with_density(subject, wrap)


def every_field_written_again(subject: Any) -> Any:
    """Every call writes every field."""
    calls, written = [0], subject.core.fields_written

    def wrap(density: Density) -> Density:
        def called(given: Particles) -> Any:
            calls[0] += 1
            return density(given)

        return called

    return views.with_core(views.with_density(subject, wrap), fields_written=lambda: written() + 9 * calls[0])
