"""How the checks of bridges see them: call by call, and each gradient as a text that says whether it is right."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tapecheck.contract import Evidence, check
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject, Probe, is_floating

RIGHT = re.compile("^right")
RIGHT_OR_REFUSED = re.compile("^right|^refused")


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
            found = {}
            for probe in bridge.offering(needs):
                with probe.within():
                    found[probe.name] = evidence_of(function, probe, *arguments)
            return Evidence(
                {name: evidence.observed for name, evidence in found.items()},
                {name: evidence.expected for name, evidence in found.items()},
            )

        check(identifier, needs=needs, **options)(each)
        return function

    return register


def evidence_of(function: Callable[..., Evidence], *arguments: Any) -> Evidence:
    """What a function finds, or what was raised where it should not be."""
    try:
        return function(*arguments)
    except Raised as problem:
        what, text = problem.args
        return Evidence({what: text}, {what: "no error"})


def refusal(action: Callable[[], str]) -> str:
    """The verdict that an action comes to, or how it was refused: clearly, or with an error that says nothing."""
    try:
        return action()
    except Exception as problem:  # noqa: BLE001  # whatever it raises is what is seen
        cause = problem.__cause__ if isinstance(problem, Raised) and problem.__cause__ else problem
        clear = isinstance(cause, (RuntimeError, ValueError)) and "INTERNAL ASSERT" not in str(cause)
        return f"{'refused' if clear else 'not clear'}: {described(cause)}"


@contextmanager
def calls_counted(owner: Any, *names: str) -> Iterator[Counter[str]]:
    """Counts the calls of some functions of a module or class meanwhile."""
    counts: Counter[str] = Counter()

    def counted(name: str, function: Any) -> Any:
        @functools.wraps(function)
        def counting(*arguments: Any, **options: Any) -> Any:
            counts[name] += 1
            return function(*arguments, **options)

        return counting

    with replaced(owner, {name: counted(name, getattr(owner, name)) for name in names}):
        yield counts


@contextmanager
def replaced(owner: Any, others: Mapping[str, Any]) -> Iterator[None]:
    """Puts other attributes into a module or class meanwhile; inherited ones are only covered."""
    own = {name: vars(owner)[name] for name in others if name in vars(owner)}
    for name, other in others.items():
        setattr(owner, name, other)
    try:
        yield
    finally:
        for name in others:
            if name in own:
                setattr(owner, name, own[name])
            else:
                delattr(owner, name)


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


def floating(outputs: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """The outputs that could have a gradient."""
    return [output for output in outputs if output.is_floating_point()]


def differentiable(outputs: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """The outputs that have a gradient; where none has, those that could, so that torch's error is seen."""
    candidates = floating(outputs)
    return [output for output in candidates if output.requires_grad] or candidates


def seeds_of(outputs: Sequence[torch.Tensor], salt: int = 0) -> list[torch.Tensor]:
    """Seeds for outputs, always the same ones."""
    generator = torch.Generator().manual_seed(salt)
    return [torch.randn(o.shape, dtype=torch.float64, generator=generator).to(o) for o in outputs]


def seeds_by_place(probe: Probe) -> dict[int, torch.Tensor]:
    """The seeds that `gradients` starts from, by the place of the output."""
    outputs = outputs_of(probe, probe.example())
    places = [at for at, output in enumerate(outputs) if output.requires_grad]
    return dict(zip(places, seeds_of([outputs[at] for at in places]), strict=True))


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


def varied(arguments: Sequence[Any], factor: float) -> list[Any]:
    """Inputs of other values: leaves of their own, each floating one scaled."""
    return [(a.detach() * factor).requires_grad_(a.requires_grad) if is_floating(a) else copy(a) for a in arguments]


def copies(arguments: Sequence[Any]) -> list[Any]:
    """Inputs of the same values, leaves of their own."""
    return varied(arguments, 1.0)


def copy(value: Any) -> Any:
    """A tensor of its own, or the constant itself."""
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def by_differences(probe: Probe, arguments: Sequence[Any], seeds: Sequence[torch.Tensor]) -> dict[str, torch.Tensor]:
    """The gradients of one call by central differences."""

    def weighted() -> float:
        outputs = differentiable(outputs_of(probe, arguments))
        return sum(float((seed * output).sum()) for seed, output in zip(seeds, outputs, strict=True))

    found = {}
    for name, leaf in leaves_of(probe, arguments).items():
        slopes = torch.zeros_like(leaf).flatten()
        step = step_for([leaf])
        for at in range(leaf.numel()):
            index = torch.unravel_index(torch.tensor(at), leaf.shape)
            with torch.no_grad():
                kept = leaf[index].clone()
                leaf[index] = kept + step
                above = weighted()
                leaf[index] = kept - step
                below = weighted()
                leaf[index] = kept
            slopes[at] = (above - below) / (2.0 * step)
        found[name] = slopes.reshape(leaf.shape)
    return found


def step_for(tensors: Iterable[torch.Tensor]) -> float:
    """The step of differences for the precision of some tensors."""
    return 1e-5 if all(tensor.dtype == torch.float64 for tensor in tensors) else 1e-2


def of_precision(probe: Probe, arguments: Sequence[Any], double: float, single: float) -> Probe:
    """The probe with another tolerance, by the precision of its inputs."""
    single_found = any(is_floating(a) and a.dtype != torch.float64 for a in arguments)
    return replace(probe, tolerance=max(single if single_found else double, probe.tolerance or 0.0))


def numbered(tensors: Iterable[torch.Tensor]) -> dict[str, torch.Tensor]:
    """Outputs by name."""
    return {f"output {at}": tensor for at, tensor in enumerate(tensors)}


def verdict(observed: torch.Tensor | None, due: torch.Tensor | None, probe: Probe) -> str:
    """`right to …`, or in what way a tensor is wrong; one that is not there is as good as zeros."""
    if observed is None or due is None:
        there = due if observed is None else observed
        missing = "missing" if observed is None else "there, where none is due"
        return "right" if there is None or not there.any() else missing
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
    if error < 1e-3:
        return f"off by {error:.0e} of the largest value"
    return how_wrong(seen, wanted)


def how_wrong(seen: torch.Tensor, wanted: torch.Tensor) -> str:
    """In what way finite values are wrong."""
    largest = float(wanted.abs().max())
    if not seen.any():
        return f"all zero, where up to {largest:.4g} is due"
    ratio = float((seen * wanted).sum() / (wanted * wanted).sum()) if largest else 0.0
    if largest and float((seen - ratio * wanted).abs().max()) < 1e-6 * largest:
        return f"{ratio:.6g} times what is due"
    worst = int((seen - wanted).abs().argmax())
    where = [int(at) for at in torch.unravel_index(torch.tensor(worst), wanted.shape)]
    return f"{float(seen.flatten()[worst]):.6g} at {where}, where {float(wanted.flatten()[worst]):.6g} is due"
