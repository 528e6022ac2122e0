"""The transforms of torch.func, torch.compile, the modes of torch, and what serialization makes of what was called."""

import copy as copying
import io
import pickle
from collections.abc import Callable
from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import (
    RIGHT_OR_REFUSED,
    all_right,
    attributed,
    check_probes,
    floating,
    gradients,
    numbered,
    of_precision,
    outputs_of,
    pulled_back,
    refusal,
    seeds_of,
    step_for,
    verdict,
    verdicts,
)
from tapecheck.faults.bridge import transforms as faults
from tapecheck.lazy import torch
from tapecheck.subjects.probe import Probe

NEEDS = ["differentiable input"]


class Pure:
    """A call as torch.func takes it: a function of the differentiable inputs alone.

    Attributes:
        inputs: the differentiable inputs, without `requires_grad`.
        judged: the probe, of the precision that differences have.
    """

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        self.arguments = probe.example(3) if callable(probe.inputs) else probe.example()
        self.positions = probe.positions
        self.inputs = [self.arguments[at].detach() for at in self.positions]
        self.seeds = seeds_of(floating(outputs_of(probe, self.arguments)))
        self.judged = of_precision(probe, self.arguments, 1e-5, 2e-2)

    def outputs(self, *inputs: Any) -> tuple[Any, ...]:
        arguments = list(self.arguments)
        for at, value in zip(self.positions, inputs, strict=True):
            arguments[at] = value
        return tuple(floating(outputs_of(self.probe, arguments)))

    def scalar(self, *inputs: Any) -> Any:
        return sum((seed * output).sum() for seed, output in zip(self.seeds, self.outputs(*inputs), strict=True))

    def gradients(self, *inputs: Any) -> list[Any]:
        """The gradients of the scalar, by plain reverse mode."""
        leaves = [value.detach().clone().requires_grad_() for value in inputs]
        with attributed("backward"):
            found = torch.autograd.grad(self.scalar(*leaves), leaves, allow_unused=True)
        return [torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves, found, strict=True)]

    def jacobian(self) -> list[list[Any]]:
        """The derivative of each output by each input, by plain reverse mode, a row at a time."""
        leaves = [value.clone().requires_grad_() for value in self.inputs]
        with attributed("backward"):
            outputs = self.outputs(*leaves)
            return [self._rows(output, leaves) for output in outputs]

    def _rows(self, output: Any, leaves: list[Any]) -> list[Any]:
        rows: list[list[Any]] = [[] for _ in leaves]
        for at in range(output.numel()):
            seed = torch.zeros_like(output)
            seed.view(-1)[at] = 1.0
            found = torch.autograd.grad(output, leaves, seed, retain_graph=True, allow_unused=True)
            for row, leaf, gradient in zip(rows, leaves, found, strict=True):
                row.append(torch.zeros_like(leaf) if gradient is None else gradient)
        return [torch.stack(row).reshape(*output.shape, *leaf.shape) for row, leaf in zip(rows, leaves, strict=True)]

    def together(self, observed: Any, due: Any) -> str:
        """The verdict on several tensors: the first that is wrong, or the last."""
        texts = [verdict(o, d, self.judged) for o, d in zip(observed, due, strict=True)]
        return next((text for text in texts if not text.startswith("right")), texts[-1])


def everywhere(pure: Pure) -> tuple[int, ...]:
    return tuple(range(len(pure.inputs)))


def grad(pure: Pure) -> str:
    return pure.together(torch.func.grad(pure.scalar, everywhere(pure))(*pure.inputs), pure.gradients(*pure.inputs))


def vjp(pure: Pure) -> str:
    _, pull = torch.func.vjp(pure.outputs, *pure.inputs)
    return pure.together(pull(tuple(pure.seeds)), pure.gradients(*pure.inputs))


def jvp(pure: Pure) -> str:
    directions = seeds_of(pure.inputs, salt=1)
    _, observed = torch.func.jvp(pure.outputs, tuple(pure.inputs), tuple(directions))
    due = [
        sum((part * d).flatten(-d.dim()).sum(-1) for part, d in zip(parts, directions, strict=True))
        for parts in pure.jacobian()
    ]
    return pure.together(observed, due)


def jacobian_by(transform: str) -> Callable[[Pure], str]:
    def by(pure: Pure) -> str:
        observed = getattr(torch.func, transform)(pure.outputs, everywhere(pure))(*pure.inputs)
        due = pure.jacobian()
        return pure.together([part for parts in observed for part in parts], [part for parts in due for part in parts])

    return by


def hessian(pure: Pure) -> str:
    first = pure.inputs[0]
    observed = torch.func.hessian(pure.scalar)(*pure.inputs)
    step, columns = step_for([first]), []
    for at in range(first.numel()):
        moved = torch.zeros_like(first)
        moved.view(-1)[at] = step
        above, below = (pure.gradients(first + sign * moved, *pure.inputs[1:])[0] for sign in (1.0, -1.0))
        columns.append((above - below) / (2.0 * step))
    return pure.together([observed], [torch.stack(columns, -1).reshape(*first.shape, *first.shape)])


def vmap(pure: Pure) -> str:
    batch = [torch.stack([value, 0.9 * value]) for value in pure.inputs]
    observed = torch.func.vmap(pure.outputs)(*batch)
    samples = [pure.outputs(*(value[at] for value in batch)) for at in (0, 1)]
    return pure.together(observed, [torch.stack(outputs) for outputs in zip(*samples, strict=True)])


REVERSE = {"grad": grad, "vjp": vjp, "jacrev": jacobian_by("jacrev"), "hessian": hessian}
FORWARD = {"jvp": jvp, "jacfwd": jacobian_by("jacfwd")}


def transformed(probe: Probe, transform: Callable[[Pure], str]) -> Evidence:
    pure = Pure(probe)
    pure.gradients(*pure.inputs)
    return all_right({"result": refusal(lambda: transform(pure))}, RIGHT_OR_REFUSED)


for cases, fault in (
    (REVERSE, faults.detached_in_a_transform),
    (FORWARD, faults.tangents_dropped),
    ({"vmap": vmap}, faults.first_sample_for_all),
):
    check_probes(
        "bridge.transforms", cases=cases, needs=NEEDS, faults=[fault], near_misses=[faults.viewed_in_a_transform]
    )(transformed)


@check_probes(
    "bridge.compile", needs=NEEDS, faults=[faults.detached_when_compiled], near_misses=[faults.cloned_when_compiled]
)
def compiled(probe: Probe) -> Evidence:
    from torch._dynamo.utils import counters

    plain, arguments = probe.example(), probe.example()
    torch._dynamo.reset()
    counters.clear()
    with attributed("compiled forward"):
        outputs = torch.compile(lambda *inputs: probe.call(*inputs), backend="aot_eager")(*arguments)
        outputs = tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)
    breaks = sum(counters["graph_break"].values())
    due = outputs_of(probe, plain)
    observed = numbered(outputs) | pulled_back(probe, arguments, outputs)
    found = all_right(verdicts(observed, numbered(due) | pulled_back(probe, plain, due), probe))
    found.observed["graph breaks"] = found.expected["graph breaks"] = breaks
    torch._dynamo.reset()
    return found


@check_probes(
    "bridge.serialization", faults=[faults.arrays_attached_to_inputs], near_misses=[faults.arrays_kept_beside]
)
def serialization(probe: Probe) -> Evidence:
    arguments = probe.example()
    with torch.no_grad():
        outputs = outputs_of(probe, arguments)
    gradients(probe, arguments)
    values = dict(zip(probe.names, arguments, strict=True)) | numbered(outputs)

    def saved(value: Any) -> Any:
        buffer = io.BytesIO()
        torch.save(value, buffer)
        buffer.seek(0)
        return torch.load(buffer)

    ways: dict[str, Callable[[Any], Any]] = {
        "pickle": lambda value: pickle.loads(pickle.dumps(value)),
        "deepcopy": copying.deepcopy,
        "torch.save": saved,
    }
    found: dict[str, dict[str, str]] = {}
    for name, value in values.items():
        if isinstance(value, torch.Tensor):
            found[name] = {
                way: refusal(lambda value=value, act=act: verdict(act(value), value, probe))
                for way, act in ways.items()
            }
    return all_right(found)


def values_without_grad(probe: Probe, mode: Callable[[], Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """The verdicts on outputs that are computed in a mode, and these outputs."""
    due, arguments = outputs_of(probe, probe.example()), probe.example()
    with mode():
        outputs = outputs_of(probe, arguments)
    return verdicts(numbered(outputs), numbered(due), probe), outputs


@check_probes("bridge.modes", case="no-grad", faults=[faults.grad_enabled_again], near_misses=[faults.modes_left_alone])
def no_grad(probe: Probe) -> Evidence:
    found, outputs = values_without_grad(probe, torch.no_grad)
    evidence = all_right(found)
    evidence.observed["requires_grad"] = any(output.requires_grad for output in outputs)
    evidence.expected["requires_grad"] = False
    return evidence


@check_probes("bridge.modes", case="inference", faults=[faults.inference_left], near_misses=[faults.modes_left_alone])
def inference(probe: Probe) -> Evidence:
    found, outputs = values_without_grad(probe, torch.inference_mode)
    evidence = all_right(found)
    evidence.observed["inference tensors"] = all(output.is_inference() for output in outputs)
    evidence.expected["inference tensors"] = True
    return evidence


@check_probes(
    "bridge.modes",
    case="autocast",
    needs=NEEDS,
    faults=[faults.type_of_autocast],
    near_misses=[faults.modes_left_alone],
)
def autocast(probe: Probe) -> Evidence:
    plain, arguments = probe.example(), probe.example()
    due = outputs_of(probe, plain)
    with torch.autocast(due[0].device.type, dtype=torch.bfloat16):
        outputs = outputs_of(probe, arguments)
    observed = numbered(outputs) | pulled_back(probe, arguments, outputs)
    found = all_right(verdicts(observed, numbered(due) | pulled_back(probe, plain, due), probe))
    found.observed["types"] = [str(output.dtype) for output in outputs]
    found.expected["types"] = [str(output.dtype) for output in due]
    return found


@check_probes(
    "bridge.modes",
    case="saved-on-cpu",
    needs=NEEDS,
    faults=[faults.saved_by_address],
    near_misses=[faults.modes_left_alone],
)
def saved_on_cpu(probe: Probe) -> Evidence:
    due = gradients(probe, probe.example())
    hooks = {
        "save_on_cpu": torch.autograd.graph.save_on_cpu(),
        "packed and unpacked": torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t.clone()),
    }
    found = {}
    for name, context in hooks.items():
        arguments = probe.example()
        with context:
            outputs = outputs_of(probe, arguments)
            found[name] = verdicts(pulled_back(probe, arguments, outputs), due, probe)
    return all_right(found)
