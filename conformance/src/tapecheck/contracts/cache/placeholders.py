"""Placeholders of inputs that a call does not use."""

import itertools
from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.coring import FLOATS, check_core, judged, particles
from tapecheck.faults.cache import placeholders as faults
from tapecheck.lazy import torch
from tapecheck.subjects.core import Core

SHAPES = {"scalar": lambda d: (), "vector": lambda d: (d,), "matrix": lambda d: (d, d), "integer": lambda d: ()}
"""Of an entry, by kind and dimension."""


def keys() -> list[tuple[str, int, Any, Any]]:
    """What placeholders differ by."""
    device = particles().masses.device
    return list(itertools.product(SHAPES, (1, 2, 3), (device,), (torch.float32, torch.float64)))


def described(array: Any, kind: str, dtype: Any) -> str:
    """Shape, type and content of a placeholder's array, and whether it may be differentiated."""
    values = array.numpy()
    content = "NaN" if kind != "integer" and (values != values).all() else values.flatten()[0]
    differentiated = array.requires_grad or array.grad is not None
    return f"{values.shape}, {values.dtype}, {content}" + (", with a gradient" if differentiated else "")


def due(kind: str, dimension: int, dtype: Any) -> str:
    """What it should be."""
    number = "int32, -1" if kind == "integer" else f"{str(dtype).rpartition('.')[2]}, NaN"
    return f"{(1, *SHAPES[kind](dimension))}, {number}"


@check_core(
    "cache.null-fields",
    faults=[faults.made_at_every_call, faults.one_for_all_dimensions, faults.zeros, faults.with_gradients],
    near_misses=[faults.made_before],
)
def null_fields(core: Core) -> Evidence:
    observed: dict[str, Any] = {"kept": {}, "array": {}, "density": judged(core.density, particles(*FLOATS))}
    expected: dict[str, Any] = {"kept": {}, "array": {}, "density": "right"}
    for kind, dimension, device, dtype in keys():
        name = f"{kind}, {dimension}-D, {dtype}"
        first, array = core.placeholder(kind, dimension, device, dtype)
        observed["kept"][name] = core.placeholder(kind, dimension, device, dtype)[0] is first
        observed["array"][name] = described(array, kind, dtype)
        expected["kept"][name], expected["array"][name] = True, due(kind, dimension, dtype)
    return Evidence(observed, expected)


@check_core(
    "cache.dummies-shared",
    faults=[faults.made_at_every_call, faults.written_into],
    near_misses=[faults.made_before],
)
def dummies_shared(core: Core) -> Evidence:
    given, other = particles(*FLOATS), particles(salt=2)
    before = [entry for entry in core.layout(given, None) if core.is_placeholder(entry)]
    found = judged(core.density, given)
    after = [entry for entry in core.layout(other, None) if core.is_placeholder(entry)]
    device, dtype = given.masses.device, given.masses.dtype
    arrays = {kind: core.placeholder(kind, 2, device, dtype)[1] for kind in SHAPES}
    return Evidence(
        {
            "some": bool(before),
            "the same": len(before) == len(after) and all(a is b for a, b in zip(before, after, strict=True)),
            "density": found,
            "values": {kind: described(array, kind, dtype) for kind, array in arrays.items()},
        },
        {
            "some": True,
            "the same": True,
            "density": "right",
            "values": {kind: due(kind, 2, dtype) for kind in arrays},
        },
    )
