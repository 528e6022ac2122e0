"""One tensor, or two views of one storage, in two roles of a call."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from tapecheck.contract import Evidence, check
from tapecheck.contracts.probing import (
    all_right,
    attributed,
    check_probes,
    differentiable,
    outputs_of,
    seeds_of,
    verdict,
)
from tapecheck.faults.bridge import aliasing as faults
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject, Probe, same_kind

NEEDS = ["two differentiable inputs of one shape"]


def gradient_of_base(probe: Probe, base: Any, first: Any, second: Any) -> Any:
    """The gradient of a tensor from which two inputs are made."""
    arguments = probe.example()
    for at, value in zip(same_kind(probe) or (), (first, second), strict=True):
        arguments[at] = value
    with attributed("backward"):
        outputs = differentiable(outputs_of(probe, arguments))
        return torch.autograd.grad(outputs, [base], seeds_of(outputs), allow_unused=True)[0]


def in_two_roles(probe: Probe) -> str:
    """Whether one tensor in two roles gets what its two clones get together."""
    position = (same_kind(probe) or (0, 0))[0]
    base, other = probe.example()[position], probe.example()[position]
    due = gradient_of_base(probe, other, other.clone(), other.clone())
    return verdict(gradient_of_base(probe, base, base, base), due, probe)


@check_probes(
    "bridge.aliased-once", needs=NEEDS, faults=[faults.total_at_both_roles], near_misses=[faults.roles_cloned]
)
def aliased_once(probe: Probe) -> Evidence:
    return all_right({"gradient": in_two_roles(probe)})


def same_elements(base: Any) -> tuple[Any, Any]:
    """Two views of all elements."""
    return base[:], base.view_as(base)


def overlapping(base: Any) -> tuple[Any, Any]:
    """All rows but the last, and all but the first."""
    longer = torch.cat([base, base[:1]])
    return longer[:-1], longer[1:]


def disjoint(base: Any) -> tuple[Any, Any]:
    """The two halves of a storage."""
    longer = torch.cat([base, 0.5 * base])
    return longer[: len(base)], longer[len(base) :]


@check_probes(
    "bridge.aliased-views",
    cases={make.__name__.replace("_", "-"): make for make in (same_elements, overlapping, disjoint)},
    needs=NEEDS,
    faults=[faults.arrays_keyed_to_storage],
    near_misses=[faults.roles_cloned],
)
def aliased_views(probe: Probe, make: Callable[[Any], tuple[Any, Any]]) -> Evidence:
    position = (same_kind(probe) or (0, 0))[0]
    base, other = probe.example()[position], probe.example()[position]
    due = gradient_of_base(probe, other, *(view.clone() for view in make(other)))
    return all_right({"gradient": verdict(gradient_of_base(probe, base, *make(base)), due, probe)})


@check(
    "bridge.aliased-cache-off",
    needs=["cache switch", *NEEDS],
    faults=[faults.second_role_dropped_without_cache],
    near_misses=[faults.roles_cloned],
)
def aliased_cache_off(bridge: BridgeSubject) -> Evidence:
    found: dict[str, dict[str, str]] = {}
    for probe in bridge.offering(NEEDS):
        found[probe.name] = {}
        for name, context in (("with the cache", nullcontext()), ("without", (bridge.without_cache or nullcontext)())):
            with probe.within(), context:
                found[probe.name][name] = in_two_roles(probe)
    return all_right(found)
