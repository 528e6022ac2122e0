"""A bridge, seen through probes: any callable that takes torch tensors and runs Warp kernels, with example inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

import warp

from tapecheck.contract import Judged, outcome_of
from tapecheck.lazy import torch

SIZE = 6
"""How many particles, rows, elements the inputs have where a check does not ask for another number."""


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One differentiable operation.

    Attributes:
        call: takes the inputs by position, gives a tensor or a tuple of tensors.
        inputs: example inputs, tensors and constants; or a function `(size, dtype)` that makes fresh ones, the same for
            the same arguments, which lets the contracts be judged that need other sizes or types.
        differentiable: names or positions of the inputs that have a gradient; left out, every floating tensor.
        reference: the same operation in plain torch, of the same arguments in the same order.
        finite: names of arguments of which NaN must be refused.
        any_rank: names of arguments that may have any number of axes.
        values: names of arguments that are values of a field; the others are geometry and weights.
        tangent: the derivative along a direction, called explicitly: takes the inputs, and as many tangents, None for
            what does not vary; gives the outputs' tangents.
        forward_mode: whether it has forward mode; left out, that is tried.
        within: makes the context in which the probe is judged, forward and backward: a switch of its bridge.
        name: what reports call it; left out, the name of `call`, of a Function's `apply` that of the Function.
        tolerance: largest error, relative to the largest value due; left out, 1e-9 in double precision, else 1e-4.

    Raises:
        ValueError: `differentiable`, `finite` or `values` names something that is no argument.
    """

    call: Callable[..., Any]
    inputs: tuple[Any, ...] | Callable[[int, torch.dtype], tuple[Any, ...]]
    differentiable: Sequence[str | int] | None = None
    reference: Callable[..., Any] | None = None
    finite: tuple[str, ...] = ()
    any_rank: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    tangent: Callable[[Sequence[Any], Sequence[Any]], Any] | None = None
    forward_mode: bool | None = None
    within: Callable[[], AbstractContextManager[Any]] = nullcontext
    name: str = ""
    tolerance: float | None = None

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", _name_of(self.call))
        for option in ("differentiable", "finite", "values"):
            if given := getattr(self, option):
                self._check_arguments(option, given)

    def _check_arguments(self, option: str, given: Sequence[str | int]) -> None:
        known = self._named(len(self._made()))
        by_position = option == "differentiable"
        for argument in given:
            if argument not in known and not (by_position and argument in range(len(known))):
                what = "names or positions" if by_position else "names"
                raise ValueError(f"{self.name}: {option}: expected {what} of {', '.join(known)}, got {argument!r}")

    def example(self, size: int = SIZE, dtype: torch.dtype | None = None) -> list[Any]:
        """Fresh inputs on the device that is judged; those that are differentiable require a gradient."""
        made = self._made(size, dtype)
        device = warp.device_to_torch(warp.get_device())
        fresh = [value.detach().clone().to(device) if isinstance(value, torch.Tensor) else value for value in made]
        for position in self._positions(fresh):
            fresh[position].requires_grad_()
        return fresh

    def calling(self, other: Callable[..., Any]) -> Probe:
        """The probe of another call, which gets the same arguments; they keep their names."""
        return replace(self, call=wraps(self.call)(lambda *arguments: other(*arguments)))

    @property
    def names(self) -> list[str]:
        """The names of the arguments."""
        return self._named(len(self._made()))

    def _made(self, size: int = SIZE, dtype: torch.dtype | None = None) -> tuple[Any, ...]:
        return self.inputs(size, dtype or torch.float64) if callable(self.inputs) else self.inputs

    def _named(self, count: int) -> list[str]:
        try:
            parameters = list(inspect.signature(self.call).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        fixed = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return [*fixed, *(f"argument {position}" for position in range(len(fixed), count))][:count]

    @property
    def positions(self) -> list[int]:
        """Where the differentiable inputs stand."""
        return self._positions(self.example())

    def _positions(self, arguments: Sequence[Any]) -> list[int]:
        if self.differentiable is None:
            return [at for at, value in enumerate(arguments) if is_floating(value)]
        names = self._named(len(arguments))
        return [names.index(where) if isinstance(where, str) else where for where in self.differentiable]

    def precision(self, dtype: torch.dtype) -> float:
        """The error that still counts as right, relative to the largest value that is due."""
        if self.tolerance is not None:
            return self.tolerance
        return 1e-9 if dtype == torch.float64 else 1e-4


def _name_of(call: Callable[..., Any]) -> str:
    owner = getattr(call, "__self__", None)
    if isinstance(owner, type) and issubclass(owner, torch.autograd.Function):
        return owner.__name__
    return getattr(call, "__name__", type(call).__name__)


def is_floating(value: Any) -> bool:
    """Whether a value is a tensor that can have a gradient."""
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def same_kind(probe: Probe) -> tuple[int, int] | None:
    """The first two differentiable inputs of one shape and type."""
    example = probe.example()
    kinds = [(at, example[at].shape, example[at].dtype) for at in probe.positions]
    pairs = ((a[0], b[0]) for a in kinds for b in kinds if a[0] < b[0] and a[1:] == b[1:])
    return next(pairs, None)


def _has_forward_mode(probe: Probe) -> bool:
    if probe.forward_mode is not None:
        return probe.forward_mode
    from torch.autograd import forward_ad

    arguments = probe.example()

    def call_with_tangent() -> None:
        at = probe.positions[0]
        arguments[at] = forward_ad.make_dual(arguments[at].detach(), torch.ones_like(arguments[at]))
        probe.call(*arguments)

    with forward_ad.dual_level():
        return outcome_of(call_with_tangent) == "no error"


def _is_double(probe: Probe) -> bool:
    return all(value.dtype == torch.float64 for value in probe.example() if is_floating(value))


def _has_second_output(probe: Probe) -> bool:
    outputs: list[Any] = []
    answered = outcome_of(lambda: outputs.append(probe.call(*probe.example()))) == "no error"
    return answered and isinstance(outputs[0], (tuple, list)) and len(outputs[0]) > 1


OFFERS: dict[str, Callable[[Probe], bool]] = {
    "reference": lambda probe: probe.reference is not None,
    "inputs of other sizes": lambda probe: callable(probe.inputs),
    "double-precision inputs": _is_double,
    "differentiable input": lambda probe: bool(probe.positions),
    "two differentiable inputs of one shape": lambda probe: same_kind(probe) is not None,
    "second output": _has_second_output,
    "forward mode": _has_forward_mode,
    "operation without forward mode": lambda probe: not _has_forward_mode(probe),
    "explicit tangent": lambda probe: probe.tangent is not None,
    "field values": lambda probe: bool(probe.values),
    "argument that refuses NaN": lambda probe: bool(probe.finite),
    "call that looks at no value": lambda probe: not probe.finite,
}
"""What a check may need of a probe, by the words of the message that says it is missing."""


@dataclass(frozen=True)
class BridgeSubject:
    """One or several probes of a bridge, and what it lets a judge see and switch.

    Attributes:
        probes: the operations.
        without_cache: makes a context in which the bridge's cache of array views is off.
        counters: gives the number of things that the bridge keeps alive, by name.
        packages: import names of the packages that it is made of.
    """

    probes: tuple[Probe, ...]
    without_cache: Callable[[], AbstractContextManager[Any]] | None = None
    counters: Callable[[], Mapping[str, int]] | None = None
    packages: tuple[str, ...] = ()
    owner: str = field(default="this bridge", init=False)
    judged: frozenset[Judged] = field(default=frozenset({"bridge"}), init=False)

    def __post_init__(self) -> None:
        names = [probe.name for probe in self.probes]
        if len(set(names)) < len(names):
            raise ValueError(f"probes need names of their own, not {', '.join(names)}")

    def missing(self, needs: Iterable[str]) -> str | None:
        """The first of the needs that leaves no probe to judge, or None."""
        given = tuple(needs)
        return next((need for at, need in enumerate(given) if not self.offering(given[: at + 1])), None)

    def offering(self, needs: Iterable[str]) -> list[Probe]:
        """The probes that offer everything that a check needs."""
        return [probe for probe in self.probes if all(self._offers(probe, need) for need in needs)]

    def _offers(self, probe: Probe, need: str) -> bool:
        return self.without_cache is not None if need == "cache switch" else OFFERS[need](probe)

    def calling(self, wrap: Callable[[Probe], Callable[..., Any]]) -> BridgeSubject:
        """The same bridge with each call replaced; the new ones get the same arguments, under the same names."""
        return replace(self, probes=tuple(probe.calling(wrap(probe)) for probe in self.probes))
