"""How the checks of bridges see them: call by call, and each gradient as a text that says whether it is right."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tapecheck.contract import Evidence, check
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject, Probe

RIGHT = re.compile("^right")
RIGHT_OR_REFUSED = re.compile("^(right|refused)")


class Raised(Exception):
    """What a bridge raised where it should not: a violation, and no defect of the check."""


@contextmanager
def attributed(what: str) -> Iterator[None]:
    """Whatever is raised inside was raised by the bridge."""
    try:
        yield
    except Raised:
        raise
    except Exception as problem:
        raise Raised(what, described(problem)) from problem


def described(problem: BaseException) -> str:
    """An exception as one line."""
    return f"{type(problem).__name__}: {' '.join(str(problem).split())[:300]}"


def check_probes(
    identifier: str, *, needs: Sequence[str] = (), **options: Any
) -> Callable[[Callable[..., Evidence]], Callable[..., Evidence]]:
    """Registers `(probe) -> Evidence` as a check of every probe that offers what it needs; options as for `check`."""

    def register(function: Callable[..., Evidence]) -> Callable[..., Evidence]:
        @functools.wraps(function)
        def each(bridge: BridgeSubject, *arguments: Any) -> Evidence:
            found = {probe.name: _judged(function, probe, *arguments) for probe in bridge.offering(needs)}
            return Evidence(
                {name: evidence.observed for name, evidence in found.items()},
                {name: evidence.expected for name, evidence in found.items()},
            )

        check(identifier, needs=needs, **options)(each)
        return function

    return register


def _judged(function: Callable[..., Evidence], probe: Probe, *arguments: Any) -> Evidence:
    try:
        return function(probe, *arguments)
    except Raised as problem:
        what, text = problem.args
        return Evidence({what: text}, {what: "no error"})


def all_right(observed: Mapping[str, Any], pattern: re.Pattern[str] = RIGHT) -> Evidence:
    """Evidence of verdicts, nested as they are, each of which must match the pattern."""

    def due(value: Any) -> Any:
        return {key: due(item) for key, item in value.items()} if isinstance(value, Mapping) else pattern

    return Evidence(observed, due(observed))


def outputs_of(probe: Probe, arguments: Sequence[Any]) -> tuple[torch.Tensor, ...]:
    """The outputs of a call, as a tuple."""
    with attributed("forward"):
        outputs = probe.call(*arguments)
    return tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)


def differentiable(outputs: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """The outputs that can have a gradient."""
    return [output for output in outputs if output.is_floating_point()]


def seeds_of(outputs: Sequence[torch.Tensor], salt: int = 0) -> list[torch.Tensor]:
    """Seeds for outputs, always the same ones."""
    generator = torch.Generator().manual_seed(salt)
    return [torch.randn(o.shape, dtype=torch.float64, generator=generator).to(o) for o in outputs]


def leaves_of(probe: Probe, arguments: Sequence[Any]) -> dict[str, torch.Tensor]:
    """The inputs that require a gradient, by name."""
    names = probe.names
    return {names[at]: arguments[at] for at in probe.positions if arguments[at].requires_grad}


def pulled_back(
    probe: Probe,
    arguments: Sequence[Any],
    outputs: Sequence[torch.Tensor],
    seeds: Sequence[torch.Tensor] | None = None,
    **options: Any,
) -> dict[str, torch.Tensor | None]:
    """The gradients of some outputs of a call, by name of the input."""
    leaves = leaves_of(probe, arguments)
    outputs = differentiable(outputs)
    with attributed("backward"):
        found = torch.autograd.grad(
            outputs, list(leaves.values()), seeds or seeds_of(outputs), allow_unused=True, **options
        )
    return dict(zip(leaves, found, strict=True))


def gradients(probe: Probe, arguments: Sequence[Any], salt: int = 0, **options: Any) -> dict[str, torch.Tensor | None]:
    """The gradients of one call with seeds of its own: forward, then backward, nothing in between."""
    outputs = outputs_of(probe, arguments)
    return pulled_back(probe, arguments, outputs, seeds_of(differentiable(outputs), salt), **options)


def verdicts(
    observed: Mapping[str, torch.Tensor | None], due: Mapping[str, torch.Tensor | None], probe: Probe
) -> dict[str, str]:
    """What is to be said of each tensor."""
    return {name: verdict(observed.get(name), due[name], probe) for name in due}


def numbered(tensors: Iterable[torch.Tensor]) -> dict[str, torch.Tensor]:
    """Outputs by name."""
    return {f"output {at}": tensor for at, tensor in enumerate(tensors)}


def verdict(observed: torch.Tensor | None, due: torch.Tensor | None, probe: Probe) -> str:
    """`right to …`, or in what way a tensor is wrong."""
    if observed is None or due is None:
        return "right" if observed is due else "missing" if observed is None else "there, where none is due"
    if observed.shape != due.shape:
        return f"of shape {tuple(observed.shape)}, where {tuple(due.shape)} is due"
    seen, wanted = observed.detach().double().cpu(), due.detach().double().cpu()
    if not wanted.numel():
        return "right"
    if not seen.isfinite().all():
        return "not finite"
    largest = float(wanted.abs().max())
    error = float((seen - wanted).abs().max()) / (largest or 1.0)
    if error <= probe.precision(due.dtype if due.is_floating_point() else observed.dtype):
        return f"right to {error:.0e}"
    if not seen.any():
        return f"all zero, where up to {largest:.4g} is due"
    ratio = float((seen * wanted).sum() / (wanted * wanted).sum()) if largest else 0.0
    if largest and float((seen - ratio * wanted).abs().max()) < 1e-6 * largest:
        return f"{ratio:.6g} times what is due"
    worst = int((seen - wanted).abs().argmax())
    where = [int(at) for at in torch.unravel_index(torch.tensor(worst), wanted.shape)]
    return f"{float(seen.flatten()[worst]):.6g} at {where}, where {float(wanted.flatten()[worst]):.6g} is due"
