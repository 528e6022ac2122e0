"""Faults and near misses of the checks of one tensor or storage in two roles."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tapecheck.faults.bridge.wrapping import with_gradients, with_inputs
from tapecheck.subjects.probe import BridgeSubject


def total_at_both_roles(subject: BridgeSubject) -> BridgeSubject:
    """A tensor in two roles gets the total of both at each of them."""

    def make(argument: Any, arguments: list[Any]) -> Callable[[Any], Any]:
        roles = sum(other is argument for other in arguments)
        return lambda gradient: gradient * float(roles)

    return with_gradients(subject, make)


def arrays_keyed_to_storage(subject: BridgeSubject) -> BridgeSubject:
    """Of two views of one storage only the first gets a gradient."""

    def make(argument: Any, arguments: list[Any]) -> Callable[[Any], Any]:
        mine = argument.untyped_storage().data_ptr()
        views = [a for a in arguments if hasattr(a, "untyped_storage") and a.untyped_storage().data_ptr() == mine]
        return lambda gradient: gradient if argument is views[0] else gradient * 0.0

    return with_gradients(subject, make)


def roles_cloned(subject: BridgeSubject) -> BridgeSubject:
    """Every input is cloned first."""
    return with_inputs(subject, lambda tensor: tensor.clone())


def second_role_dropped_without_cache(subject: BridgeSubject) -> BridgeSubject:
    """With the cache off, the gradient of a tensor's second role is dropped as if it were in the first one's array."""
    off = []

    @contextmanager
    def without_cache() -> Iterator[None]:
        off.append(True)
        yield
        off.clear()

    def make(argument: Any, arguments: list[Any]) -> Callable[[Any], Any]:
        lost = off and sum(other is argument for other in arguments) > 1
        return lambda gradient: gradient * (0.5 if lost else 1.0)

    return replace(with_gradients(subject, make), without_cache=without_cache)
