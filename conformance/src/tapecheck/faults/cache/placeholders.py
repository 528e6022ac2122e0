"""Faults and near misses of the checks of placeholders."""

from __future__ import annotations

import copy
from typing import Any

import warp

from tapecheck.faults.cache.views import with_core, with_density
from tapecheck.subjects.core import Density, Particles


def made_at_every_call(subject: Any) -> Any:
    """A placeholder is made whenever one is needed."""
    core = subject.core

    def placeholder(*key: Any) -> Any:
        found, array = core.placeholder(*key)
        return copy.copy(found), array

    def layout(*given: Any) -> Any:
        return [copy.copy(entry) if core.is_placeholder(entry) else entry for entry in core.layout(*given)]

    return with_core(subject, placeholder=placeholder, layout=layout)


def one_for_all_dimensions(subject: Any) -> Any:
    """A placeholder of three dimensions serves every dimension."""
    placeholder = subject.core.placeholder
    return with_core(subject, placeholder=lambda kind, dimension, *rest: placeholder(kind, 3, *rest))


def _with_arrays(subject: Any, make: Any) -> Any:
    placeholder = subject.core.placeholder
    made: dict[Any, Any] = {}

    def other(*key: Any) -> Any:
        found, array = placeholder(*key)
        return found, made.setdefault(key, make(array))

    return with_core(subject, placeholder=other)


def zeros(subject: Any) -> Any:
    """Placeholders hold zeros, which nobody would see in a result."""
    return _with_arrays(subject, warp.zeros_like)


def with_gradients(subject: Any) -> Any:
    """Placeholders have a gradient buffer."""
    return _with_arrays(subject, lambda array: warp.clone(array, requires_grad=True))


def written_into(subject: Any) -> Any:
    """A call leaves something in a placeholder."""
    own = _with_arrays(subject, warp.clone)

    def wrap(density: Density) -> Density:
        def called(given: Particles) -> Any:
            own.core.placeholder("scalar", 2, given.masses.device, given.masses.dtype)[1].fill_(0.0)
            return density(given)

        return called

    return with_density(own, wrap)


def made_before(subject: Any) -> Any:
    """All placeholders are there before the first call."""
    import torch

    for kind in ("scalar", "vector", "matrix", "integer"):
        subject.core.placeholder(kind, 2, torch.device("cpu"), torch.float64)
    return subject
