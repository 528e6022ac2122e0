"""A core of SPH operators, seen from inside: what it lets a judge call, see and switch.

The families cache and abi judge what a core promises about its own mechanism, so they need more than calls. All of it
is here; a fault is planted by replacing one entry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from tapecheck.lazy import oracles, torch

Particles: TypeAlias = "oracles.Particles"
Density: TypeAlias = "Callable[[Particles], torch.Tensor]"
Noting: TypeAlias = Callable[[], AbstractContextManager[list[tuple[Any, ...]]]]


class Declared(NamedTuple):
    """An operator that a judge declares.

    Attributes:
        kernel: `(state struct type, build) -> kernel`, as the core asks for it.
        reads: fields of the layout that the kernel reads.
        outputs: type and shape of each output; each may be a function of `(context, extras)`.
        tensors: names of the extra tensors, a row a particle.
        scalars: names of the extra numbers.
        threads: a function of `(context, extras)`; None for a thread a query.
    """

    kernel: Callable[[Any, Any], Any]
    reads: tuple[str, ...]
    outputs: tuple[tuple[Any, Any], ...]
    tensors: tuple[str, ...] = ()
    scalars: tuple[str, ...] = ()
    threads: Callable[[Any, Any], int] | None = None


@dataclass(frozen=True, kw_only=True)
class Core:
    """A core. Densities are of one population in open space: every pair listed, wendland4, gather, no kind left out.

    Attributes:
        density: the density by the declared form of the call.
        positional: the same by the positional form.
        state: makes a particle state from the tensors of `Particles`, by name.
        run: runs a declared operator on particles, with its extras by name.
        run_positional: the density's operator on a positional state and extras, both as given.
        positional_state: the positional state of particles, one entry a place.
        in_mode: makes a call's context in the execution mode of that name.
        entering: a context in which the arguments of every call of the autograd Function are noted.
        leaving: the same of what its backward gives.
        pushing: a context in which each forward-mode launch is noted: for each tensor that its kernel reads the name of
            the place, the tensor, and its tangent or None.
        slots: names of the flat layout's places, in order, as documented.
        layout: the entries of these places for queries, and references, if they are others.
        is_placeholder: whether an entry of the layout is one.
        placeholder: the one for a kind (`"scalar"`, `"vector"`, `"matrix"`, `"integer"`), dimension, device and type,
            and its Warp array.
        view: the Warp array that the cache holds for a tensor object, or None.
        views: how many it holds.
        fields_written: how many fields were written into structs so far.
        without_cache: a context in which a differentiated call finds no view in the cache.
        without_reuse: a context in which no struct is filled twice.
    """

    density: Density
    positional: Density
    state: Callable[..., Any]
    run: Callable[..., Any]
    run_positional: Callable[[Sequence[Any], Sequence[Any]], Any]
    positional_state: Callable[[Particles], Sequence[Any]]
    in_mode: Callable[[str], Any]
    entering: Noting
    leaving: Noting
    pushing: Noting
    slots: tuple[str, ...]
    layout: Callable[[Particles, Particles | None], Sequence[Any]]
    is_placeholder: Callable[[Any], bool]
    placeholder: Callable[[str, int, Any, Any], tuple[Any, Any]]
    view: Callable[[Any], Any]
    views: Callable[[], int]
    fields_written: Callable[[], int]
    without_cache: Callable[[], AbstractContextManager[Any]]
    without_reuse: Callable[[], AbstractContextManager[Any]]
