"""How the checks of cores see them: particles of which something requires a gradient, and whether results are right."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import warp

from tapecheck.contract import Evidence, check
from tapecheck.contracts.probing import attributed, evidence_of, how_wrong, replaced
from tapecheck.contracts.sphing import population
from tapecheck.lazy import oracles, torch
from tapecheck.subjects.core import Density, Particles

FLOATS = ("positions", "supports", "masses")
"""What a density reads and can be differentiated by."""


def check_core(identifier: str, **options: Any) -> Callable[[Callable[..., Evidence]], Callable[..., Evidence]]:
    """Registers `(core, …) -> Evidence` as a check of a core; options as for `check`."""

    def register(function: Callable[..., Evidence]) -> Callable[..., Evidence]:
        @functools.wraps(function)
        def judged(subject: Any, *arguments: Any) -> Evidence:
            return evidence_of(function, subject.core, *arguments)

        check(identifier, **options)(judged)
        return function

    return register


def particles(*differentiable: str, salt: int = 1, count: int = 6) -> Particles:
    """A small population within reach of each other; the named tensors require a gradient."""
    made = population([0, 1, 2, 3, 0, 1][:count], salt=salt, spread=1.0)
    for name in differentiable:
        getattr(made, name).requires_grad_()
    return made


def called(density: Density, given: Particles) -> torch.Tensor:
    """A density."""
    with attributed("density"):
        return density(given)


def pulled_back(output: torch.Tensor, given: Particles, seed: torch.Tensor | None = None) -> list[torch.Tensor]:
    """The gradients of a density with respect to everything that requires one."""
    leaves = [tensor for name in FLOATS if (tensor := getattr(given, name)).requires_grad]
    with attributed("backward"):
        return list(torch.autograd.grad(output, leaves, torch.ones_like(output) if seed is None else seed))


def due(given: Particles) -> torch.Tensor:
    """The density by plain torch, which works in double precision."""
    dtype = given.positions.dtype
    given = type(given)(**{n: t.double() if t.is_floating_point() else t for n, t in vars(given).items()})
    rules, size = oracles.Rules("wendland4", "gather", "unmasked"), given.positions.shape[1]
    domain = oracles.Domain([0.0] * size, [1.0] * size, [False] * size)
    return oracles.density(query=given, reference=given, domain=domain, rules=rules).to(dtype)


ALONG = {"positions": 0.5, "supports": -0.25, "masses": 2.0}
"""What each tensor's tangent is filled with; several are never alike."""


def duals_of(given: Particles, *varying: str) -> tuple[Particles, dict[str, torch.Tensor]]:
    """The particles with dual tensors for some, and their tangents; inside a dual level."""
    from torch.autograd import forward_ad

    named = vars(given)
    along = {name: torch.full_like(named[name], ALONG[name]).cumsum(0) for name in varying}
    duals = {name: forward_ad.make_dual(named[name], tangent) for name, tangent in along.items()}
    return type(given)(**{**named, **duals}), along


def judged(density: Density, given: Particles) -> str:
    """What is to be said of a density, and of its gradients where something requires one."""
    output, wanted = called(density, given), due(given)
    found = [("value", output, wanted)]
    if wanted.requires_grad:
        if not output.requires_grad:
            return "without gradient"
        gradients = pulled_back(output, given), pulled_back(wanted, given)
        found += [("gradient", *pair) for pair in zip(*gradients, strict=True)]
    elif output.requires_grad:
        return "with a gradient, where none is due"
    return next((f"{what}: {text}" for what, *pair in found if (text := compared(*pair)) != "right"), "right")


def compared(observed: torch.Tensor, wanted: torch.Tensor) -> str:
    """`right`, or in what way a tensor is wrong."""
    if observed.shape != wanted.shape or observed.dtype != wanted.dtype:
        shown = [f"{tuple(tensor.shape)}, {tensor.dtype}" for tensor in (observed, wanted)]
        return f"of shape {shown[0]}, where {shown[1]} is due"
    observed, wanted = observed.detach().cpu(), wanted.detach().cpu()
    tolerance = 1e-11 if wanted.dtype == torch.float64 else 1e-4
    if bool((observed - wanted).abs().max() <= tolerance * wanted.abs().max()):
        return "right"
    return how_wrong(observed, wanted) if observed.isfinite().all() else "not finite"


def equal(first: Sequence[torch.Tensor], second: Sequence[torch.Tensor]) -> str:
    """Whether tensors are equal to the bit."""
    return "equal" if all(torch.equal(a, b) for a, b in zip(first, second, strict=True)) else "not equal"


@contextmanager
def views_built() -> Iterator[list[torch.Tensor]]:
    """The tensors of which Warp makes an array meanwhile."""
    tensors: list[torch.Tensor] = []
    original = warp.from_torch

    def noted(tensor: torch.Tensor, *arguments: Any, **options: Any) -> Any:
        tensors.append(tensor)
        return original(tensor, *arguments, **options)

    with replaced(warp, {"from_torch": noted}):
        yield tensors


@contextmanager
def launches() -> Iterator[list[tuple[Any, Any]]]:
    """First input and number of threads of each launch meanwhile, of recorded ones whenever they are replayed.

    A struct or array is what the kernel is given of it, of ctypes; holding it keeps its identity its own.
    """
    found: list[tuple[Any, Any]] = []
    once, again = warp.launch, warp.Launch.launch

    def noted(kernel: Any, dim: Any, inputs: Sequence[Any] = (), *arguments: Any, **options: Any) -> Any:
        if not options.get("record_cmd"):
            found.append((getattr(inputs[0], "__ctype__", lambda: inputs[0])(), dim))
        return once(kernel, dim, inputs, *arguments, **options)

    def replayed(command: Any, *arguments: Any, **options: Any) -> None:
        found.append((command.params[1], command.bounds.size))
        again(command, *arguments, **options)

    with replaced(warp, {"launch": noted}), replaced(warp.Launch, {"launch": replayed}):
        yield found
