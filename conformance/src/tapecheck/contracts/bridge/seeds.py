"""What backward does with the gradient of the output that it is given: the seed."""

from collections.abc import Callable
from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.probing import (
    all_right,
    attributed,
    by_differences,
    check_probes,
    copies,
    differentiable,
    gradients,
    leaves_of,
    of_precision,
    outputs_of,
    pulled_back,
    seeds_of,
    varied,
    verdict,
    verdicts,
)
from tapecheck.faults.bridge import seeds as faults
from tapecheck.lazy import torch
from tapecheck.subjects.probe import SIZE, Probe

NEEDS = ["differentiable input"]


@check_probes("bridge.seed-not-clobbered", needs=NEEDS, faults=[faults.seed_wiped], near_misses=[faults.own_copy_wiped])
def seed_not_clobbered(probe: Probe) -> Evidence:
    arguments = probe.example()
    outputs = outputs_of(probe, arguments)
    seeds = seeds_of(differentiable(outputs))
    before = [seed.clone() for seed in seeds]
    pulled_back(probe, arguments, outputs, seeds)
    return all_right({f"seed {at}": verdict(seed, before[at], probe) for at, seed in enumerate(seeds)})


def expanded(seed: Any) -> Any:
    """What `sum` sends."""
    return torch.ones((), dtype=seed.dtype, device=seed.device).expand(seed.shape)


def strided(seed: Any) -> Any:
    """Every second element of a larger tensor."""
    return seed.repeat_interleave(2, dim=0)[::2]


def offset(seed: Any) -> Any:
    """A part of a larger tensor, not at its beginning."""
    return torch.cat([seed.new_full((1, *seed.shape[1:]), 7.0), seed])[1:]


def transposed(seed: Any) -> Any:
    """Axes in the reverse order in memory."""
    reverse = tuple(range(seed.dim()))[::-1]
    return seed.permute(reverse).contiguous().permute(reverse)


@check_probes(
    "bridge.seed-noncontiguous",
    cases={make.__name__: make for make in (expanded, strided, offset, transposed)},
    needs=NEEDS,
    faults=[faults.seed_read_as_if_contiguous],
    near_misses=[faults.seed_copied],
)
def seed_noncontiguous(probe: Probe, make: Callable[[Any], Any]) -> Evidence:
    arguments = probe.example()
    outputs = outputs_of(probe, arguments)
    seeds = [make(seed) for seed in seeds_of(differentiable(outputs))]
    observed = pulled_back(probe, arguments, outputs, seeds)
    other = probe.example()
    due = pulled_back(
        probe, other, outputs_of(probe, other), [seed.clone(memory_format=torch.contiguous_format) for seed in seeds]
    )
    return all_right(verdicts(observed, due, probe))


@check_probes("bridge.shared-seed", needs=NEEDS, faults=[faults.seed_wiped], near_misses=[faults.own_copy_wiped])
def shared_seed(probe: Probe) -> Evidence:
    seeds = seeds_of(differentiable(outputs_of(probe, probe.example())))
    one, other = probe.example(), varied(probe.example(), 0.9)
    due = [gradients(probe, copies(arguments)) for arguments in (one, other)]

    def backward(sums: list[Any], inputs: list[Any]) -> Any:
        with attributed("backward"):
            return torch.autograd.grad(sums, inputs, [seed.clone() for seed in seeds], allow_unused=True)

    def calls(*all_arguments: list[Any]) -> list[list[Any]]:
        return [differentiable(outputs_of(probe, arguments)) for arguments in all_arguments]

    found = {}
    both = [*leaves_of(probe, one).values(), *leaves_of(probe, other).values()]
    names = list(due[0])
    got = backward([a + b for a, b in zip(*calls(one, other), strict=True)], both)
    for at, which in enumerate(("first", "second")):
        mine = dict(zip(names, got[at * len(names) :], strict=False))
        found[f"two outputs added, {which}"] = verdicts(mine, due[at], probe)
    got = backward([a + b for a, b in zip(*calls(one, one), strict=True)], both[: len(names)])
    twice = {name: None if gradient is None else 2.0 * gradient for name, gradient in due[0].items()}
    found["applied twice"] = verdicts(dict(zip(names, got, strict=True)), twice, probe)
    for order in ("plain branch first", "plain branch last"):
        (outputs,) = calls(one)
        plain = [torch.zeros_like(output).requires_grad_() for output in outputs]
        pairs = zip(plain, outputs, strict=True) if "first" in order else zip(outputs, plain, strict=True)
        got = backward([a + b for a, b in pairs], [*both[: len(names)], *plain])
        found[order] = verdicts(dict(zip(names, got, strict=False)), due[0], probe)
        found[order]["plain"] = " ".join({verdict(g, s, probe) for g, s in zip(got[len(names) :], seeds, strict=True)})
    return all_right(found)


@check_probes("bridge.repeated-grad", needs=NEEDS, faults=[faults.seed_wiped], near_misses=[faults.own_copy_wiped])
def repeated_grad(probe: Probe) -> Evidence:
    due = gradients(probe, probe.example())
    calls = [(arguments, outputs_of(probe, arguments)) for arguments in (probe.example(), probe.example())]
    seeds = seeds_of(differentiable(calls[0][1]))
    observed = [pulled_back(probe, *call, seeds) for call in calls]
    return all_right({f"call {at}": verdicts(found, due, probe) for at, found in enumerate(observed, start=1)})


@check_probes(
    "bridge.size-one",
    cases={"one": 1, "many": SIZE},
    needs=["inputs of other sizes", "differentiable input"],
    faults=[faults.columns_misread],
    near_misses=[faults.seed_copied],
)
def size_one(probe: Probe, size: int) -> Evidence:
    def inputs() -> list[Any]:
        return probe.example(size)

    judged = of_precision(probe, inputs(), 1e-6, 2e-2)
    weights = seeds_of(differentiable(outputs_of(probe, inputs())))
    ones = [torch.ones_like(weight) for weight in weights]
    found = {"contiguous seed": verdicts(gradients(probe, inputs()), by_differences(probe, inputs(), weights), judged)}
    arguments = inputs()
    with attributed("backward"):
        outputs = differentiable(outputs_of(probe, arguments))
        tables = [torch.stack([output, 2.0 * output, output], dim=-1) for output in outputs]
        table_seeds = [torch.stack([weight, weight, -2.0 * weight], dim=-1) for weight in weights]
    found["column of a table"] = verdicts(_of(arguments, probe, tables, table_seeds), gradients(probe, inputs()), probe)
    arguments = inputs()
    totals = [output.sum() for output in differentiable(outputs_of(probe, arguments))]
    other = inputs()
    due = pulled_back(probe, other, outputs_of(probe, other), ones)
    found["seed of stride zero"] = verdicts(
        _of(arguments, probe, totals, [torch.ones_like(t) for t in totals]), due, probe
    )
    return all_right(found)


def _of(arguments: list[Any], probe: Probe, results: list[Any], seeds: list[Any]) -> dict[str, Any]:
    leaves = leaves_of(probe, arguments)
    with attributed("backward"):
        return dict(
            zip(leaves, torch.autograd.grad(results, list(leaves.values()), seeds, allow_unused=True), strict=True)
        )
