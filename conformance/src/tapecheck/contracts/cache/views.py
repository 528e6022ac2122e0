"""The cache of array views: when a tensor's view is found again, and when it must not be."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.coring import (
    FLOATS,
    called,
    check_core,
    compared,
    due,
    equal,
    judged,
    particles,
    pulled_back,
    views_built,
)
from tapecheck.faults.cache import views as faults
from tapecheck.lazy import torch
from tapecheck.subjects.core import Core, Particles

MODES: dict[str, tuple[str, ...]] = {"no-grad": (), "grad": FLOATS}
"""What requires a gradient."""


def holding(given: Particles, **tensors: torch.Tensor) -> Particles:
    """The particles with some of their tensors replaced."""
    return type(given)(**{**vars(given), **tensors})


@check_core(
    "cache.view-hit", cases=MODES, faults=[faults.views_of_tensors_are_used], near_misses=[faults.particles_copied]
)
def view_hit(core: Core, differentiable: tuple[str, ...]) -> Evidence:
    given = particles(*differentiable)
    called(core.density, given)
    first = {name: core.view(getattr(given, name)) for name in FLOATS}
    with views_built() as built:
        called(core.density, given)
    same = {name: view is not None and core.view(getattr(given, name)) is view for name, view in first.items()}
    return Evidence(
        {"the same view": same, "built again": len(built)},
        {"the same view": dict.fromkeys(FLOATS, True), "built again": 0},
    )


@check_core(
    "cache.no-address-reuse", faults=[faults.tensors_found_by_address], near_misses=[faults.views_of_tensors_are_used]
)
def no_address_reuse(core: Core) -> Evidence:
    memory = particles().positions
    observed = []
    for salt in (1, 2):
        memory.copy_(particles(salt=salt).positions)
        given = holding(particles(), positions=memory[:])
        known = core.view(given.positions) is not None
        with views_built() as built:
            found = judged(core.density, given)
        addresses = [tensor.data_ptr() for tensor in built]
        observed.append({"known": known, "built": memory.data_ptr() in addresses, "density": found})
        del given
    return Evidence(observed, [{"known": False, "built": True, "density": "right"}] * 2)


def turned_to_other_memory(tensor: torch.Tensor) -> None:
    tensor.data = tensor.flip(0)


def set_to_another_tensor(tensor: torch.Tensor) -> None:
    tensor.set_(tensor.flip(0).clone())


def grown_and_shrunk(tensor: torch.Tensor) -> None:
    kept = tensor.flip(0).clone()
    tensor.resize_(4096, *kept.shape[1:]).resize_(kept.shape).copy_(kept)


def turned_to_single_precision(tensor: torch.Tensor) -> None:
    tensor.data = tensor.flip(0).float()


def strided_otherwise(tensor: torch.Tensor) -> None:
    tensor.data = torch.stack([tensor.flip(0), tensor], dim=-1)[..., 0]


CHANGES: dict[str, Callable[[torch.Tensor], None]] = {
    "data": turned_to_other_memory,
    "set": set_to_another_tensor,
    "resize": grown_and_shrunk,
    "dtype": turned_to_single_precision,
    "strides": strided_otherwise,
}
"""What becomes of a tensor's memory under the same object; the values come in reversed order."""


@check_core("cache.revalidate", cases=CHANGES, faults=[faults.first_values_kept], near_misses=[faults.particles_copied])
def revalidate(core: Core, change: Callable[[torch.Tensor], None]) -> Evidence:
    given = particles()
    before = judged(core.density, given)
    for name in (*FLOATS, "densities"):
        change(getattr(given, name))
    return Evidence({"before": before, "after": judged(core.density, given)}, {"before": "right", "after": "right"})


@check_core(
    "cache.follows-requires-grad",
    cases={"on": True, "off": False},
    faults=[faults.first_flag_kept],
    near_misses=[faults.particles_copied],
)
def follows_requires_grad(core: Core, on: bool) -> Evidence:
    given = particles(*(() if on else FLOATS))
    before = judged(core.density, given)
    for name in FLOATS:
        getattr(given, name).requires_grad_(on)
    return Evidence({"before": before, "after": judged(core.density, given)}, {"before": "right", "after": "right"})


@check_core(
    "cache.noncontiguous-never",
    cases=MODES,
    faults=[faults.contiguous_copies_kept],
    near_misses=[faults.contiguous_copies_made],
)
def noncontiguous_never(core: Core, differentiable: tuple[str, ...]) -> Evidence:
    given = particles()
    wide = {name: torch.stack([getattr(given, name)] * 2, dim=-1) for name in FLOATS}
    strided = holding(given, **{name: tensor[..., 0] for name, tensor in wide.items()})
    for name in differentiable:
        getattr(strided, name).requires_grad_()
    first = judged(core.density, strided)
    with torch.no_grad():
        for tensor in wide.values():
            tensor.mul_(1.01)
    known = [name for name in FLOATS if core.view(getattr(strided, name)) is not None]
    return Evidence(
        {"first": first, "cached": known, "after a change in place": judged(core.density, strided)},
        {"first": "right", "cached": [], "after a change in place": "right"},
    )


@check_core(
    "cache.detached-never-hits", faults=[faults.tensors_found_by_address], near_misses=[faults.particles_copied]
)
def detached_never_hits(core: Core) -> Evidence:
    given = particles(*FLOATS)
    called(core.density, given)
    observed = []
    for _ in range(2):
        detached = holding(given, **{name: getattr(given, name).detach() for name in FLOATS})
        known = [name for name in FLOATS if core.view(getattr(detached, name)) is not None]
        with views_built() as built:
            found = judged(core.density, detached)
        observed.append({"known": known, "built": len(built), "density": found})
    return Evidence(observed, [{"known": [], "built": 3, "density": "right"}] * 2)


def backward_ran(core: Core, given: Particles) -> None:
    pulled_back(called(core.density, given), given)


def backward_never_ran(core: Core, given: Particles) -> None:
    called(core.density, given)


@check_core(
    "cache.zero-on-acquire",
    cases={"backward-ran": backward_ran, "backward-never-ran": backward_never_ran},
    faults=[faults.gradients_of_earlier_calls_stay],
    near_misses=[faults.gradients_copied],
)
def zero_on_acquire(core: Core, first: Callable[[Core, Particles], None]) -> Evidence:
    given = particles(*FLOATS)
    first(core, given)
    return Evidence({"next call": judged(core.density, given)}, {"next call": "right"})


@check_core(
    "cache.grad-gate",
    faults=[faults.switch_without_effect, faults.switch_of_every_call, faults.switched_call_rounds_otherwise],
    near_misses=[faults.particles_copied],
)
def grad_gate(core: Core) -> Evidence:
    def figures(given: Particles) -> tuple[int, list[torch.Tensor]]:
        with views_built() as built:
            output = called(core.density, given)
        return len(built), [output.detach(), *(pulled_back(output, given) if output.requires_grad else [])]

    observed: dict[str, Any] = {}
    for mode, differentiable in MODES.items():
        given = particles(*differentiable)
        called(core.density, given)
        on = figures(given)
        with core.without_cache():
            off = figures(given)
        observed[mode] = {"on": on[0], "off": off[0], "results": equal(on[1], off[1])}
    again = observed["grad"]["off"] > 0
    observed["grad"]["off"] = "some" if again else "none"
    return Evidence(
        observed,
        {
            "no-grad": {"on": 0, "off": 0, "results": "equal"},
            "grad": {"on": 0, "off": "some", "results": "equal"},
        },
    )


@check_core("cache.dies-with-tensor", cases=MODES, faults=[faults.tensors_held], near_misses=[faults.tensors_counted])
def dies_with_tensor(core: Core, differentiable: tuple[str, ...]) -> Evidence:
    called(core.density, particles())  # what lives as long as the core is there now
    gc.collect()
    gc.disable()
    try:
        before = core.views()
        given = particles(*differentiable, salt=3)
        output = called(core.density, given)
        found = compared(output, due(given))
        kept = [weakref.ref(getattr(given, name)) for name in FLOATS]
        kept += [weakref.ref(core.view(getattr(given, name))) for name in FLOATS]
        del given, output
        alive = sum(reference() is not None for reference in kept)
        return Evidence(
            {"value": found, "tensors and views alive": alive, "more views": core.views() - before},
            {"value": "right", "tensors and views alive": 0, "more views": 0},
        )
    finally:
        gc.enable()
