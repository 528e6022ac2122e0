"""Inputs that are laid out otherwise, changed in between, or wrong."""

import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import warp

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import (
    RIGHT_OR_REFUSED,
    Raised,
    all_right,
    calls_counted,
    check_probes,
    copies,
    gradients,
    numbered,
    outputs_of,
    pulled_back,
    refusal,
    verdicts,
)
from tapecheck.faults.bridge import inputs as faults
from tapecheck.lazy import torch
from tapecheck.subjects.probe import Probe


def changed(tensor: Any) -> None:
    """Other values in place: the same ones in another order, so that an index stays an index."""
    with torch.no_grad():
        tensor.copy_(tensor.flip(0) * (1.25 if tensor.is_floating_point() else 1))


def held(name: str, value: Any) -> dict[str, Any]:
    """The tensors of an argument by name: itself, or those that an object holds."""
    if isinstance(value, torch.Tensor):
        return {name: value}
    parts = getattr(value, "__dict__", {})
    return {f"{name}.{part}": held for part, held in parts.items() if isinstance(held, torch.Tensor)}


@check_probes(
    "bridge.saved-mutation",
    needs=["differentiable input"],
    isolated=True,
    faults=[faults.backward_reads_what_is_there],
    near_misses=[faults.backward_reads_copies],
)
def saved_mutation(probe: Probe) -> Evidence:
    due = gradients(probe, probe.example())
    found = {}
    places = [(at, name) for at, value in enumerate(probe.example()) for name in held(probe.names[at], value)]
    for at, name in places:
        arguments = probe.example()
        if not isinstance(arguments[at], torch.Tensor):
            arguments[at] = deepcopy(arguments[at])
        outputs = outputs_of(probe, arguments)
        changed(held(probe.names[at], arguments[at])[name])

        def unchanged(arguments: list[Any] = arguments, outputs: Any = outputs) -> str:
            texts = verdicts(pulled_back(probe, arguments, outputs), due, probe).values()
            return next((text for text in texts if not text.startswith("right")), "right, it is not read again")

        text = refusal(unchanged)
        found[name] = text if "refused" not in text or "inplace operation" in text else f"another error: {text}"
    return all_right(found, RIGHT_OR_REFUSED)


def transposed(tensor: Any) -> Any:
    """Axes in the reverse order in memory."""
    reverse = tuple(range(tensor.dim()))[::-1]
    return tensor.permute(reverse).contiguous().permute(reverse)


def strided(tensor: Any) -> Any:
    """Every second row of a larger tensor."""
    return tensor.repeat_interleave(2, dim=0)[::2]


def expanded(tensor: Any) -> Any:
    """Its first row, again and again, without memory of their own."""
    return tensor[:1].expand(tensor.shape)


def offset(tensor: Any) -> Any:
    """A part of a larger tensor, not at its beginning."""
    return torch.cat([tensor[:1], tensor])[1:]


@check_probes(
    "bridge.noncontiguous-inputs",
    cases={make.__name__: make for make in (transposed, strided, expanded, offset)},
    needs=["differentiable input"],
    faults=[faults.memory_read_from_its_beginning],
    near_misses=[faults.inputs_made_contiguous],
)
def noncontiguous_inputs(probe: Probe, make: Callable[[Any], Any]) -> Evidence:
    found = {}
    for at in probe.positions:
        if probe.example()[at].dim() == 0:
            continue
        arguments = probe.example()
        with torch.no_grad():
            arguments[at] = make(arguments[at].detach())
        plain = copies(arguments)
        plain[at] = plain[at].clone(memory_format=torch.contiguous_format)
        plain[at].requires_grad_()
        arguments[at].requires_grad_()
        outputs, due = outputs_of(probe, arguments), outputs_of(probe, plain)
        observed = numbered(outputs) | pulled_back(probe, arguments, outputs)
        found[probe.names[at]] = verdicts(observed, numbered(due) | pulled_back(probe, plain, due), probe)
    return all_right(found)


NAMED = "an error that names it, no launch"


def with_wrong(probe: Probe, at: int, wrong: Callable[[Any], Any]) -> str:
    """What comes of one wrong argument."""
    arguments = probe.example()
    arguments[at] = wrong(arguments[at])
    name, problem = probe.names[at], None
    with calls_counted(warp, "launch") as launches:
        try:
            outputs_of(probe, arguments)
        except Raised as raised:
            problem = raised.args[1]
    launched = f"{launches['launch']} launches" if launches["launch"] else "no launch"
    if problem is None:
        return f"no error, {launched}"
    return (
        f"an error that names it, {launched}"
        if re.search(rf"\b{re.escape(name)}\b", problem)
        else f"{problem}, {launched}"
    )


def tensors_of(probe: Probe) -> list[int]:
    """Where tensors stand."""
    return [at for at, value in enumerate(probe.example()) if isinstance(value, torch.Tensor)]


def of_shared_length(probe: Probe) -> list[int]:
    """Where tensors stand whose length another one has too."""
    example = probe.example()
    lengths = [example[at].shape[0] if example[at].dim() else 0 for at in tensors_of(probe)]
    return [at for at, length in zip(tensors_of(probe), lengths, strict=True) if lengths.count(length) > 1]


def of_fixed_rank(probe: Probe) -> list[int]:
    """Where tensors stand whose number of axes matters."""
    return [at for at in tensors_of(probe) if probe.names[at] not in probe.any_rank]


def other_type(tensor: Any) -> Any:
    """Integers in the place of floats, floats in the place of integers."""
    return tensor.detach().long() if tensor.is_floating_point() else tensor.double()


@dataclass(frozen=True)
class Wrong:
    """One way in which an argument can be wrong.

    Attributes:
        where: the positions at which it can.
        make: the wrong value.
    """

    where: Callable[[Probe], list[int]]
    make: Callable[[Any], Any]


WRONG = {
    "length": Wrong(of_shared_length, lambda tensor: tensor.detach()[:-1]),
    "axes": Wrong(of_fixed_rank, lambda tensor: tensor.detach()[..., None]),
    "dtype": Wrong(tensors_of, other_type),
    "no-tensor": Wrong(tensors_of, lambda tensor: "a text"),
}
DEVICE = Wrong(tensors_of, lambda tensor: tensor.detach().to("meta"))
PLANTS: dict[str, Any] = {
    "faults": [faults.errors_name_nothing, faults.arguments_checked_after_a_launch],
    "near_misses": [faults.errors_say_more],
}


def errors(probe: Probe, wrong: Wrong) -> Evidence:
    found = {probe.names[at]: with_wrong(probe, at, wrong.make) for at in wrong.where(probe)}
    return Evidence(found, dict.fromkeys(found, NAMED))


check_probes("bridge.errors", cases=WRONG, **PLANTS)(errors)
check_probes("bridge.errors", cases={"device": DEVICE}, isolated=True, **PLANTS)(errors)


def not_a_number(value: Any) -> Any:
    """NaN in the place of a number, or of one element."""
    if not isinstance(value, torch.Tensor):
        return float("nan")
    wrong = value.detach().clone()
    wrong.view(-1)[0] = float("nan")
    return wrong


@check_probes(
    "bridge.errors",
    case="nan",
    needs=["argument that refuses NaN"],
    **PLANTS,
)
def nan_refused(probe: Probe) -> Evidence:
    found = {name: with_wrong(probe, probe.names.index(name), not_a_number) for name in probe.finite}
    return Evidence(found, dict.fromkeys(found, NAMED))
