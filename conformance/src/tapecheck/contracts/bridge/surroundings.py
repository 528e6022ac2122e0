"""What a call leaves in its surroundings: other people's tapes, memory, threads."""

import gc
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import warp

from tapecheck.contract import Evidence, check
from tapecheck.contracts.probing import (
    Raised,
    all_right,
    attributed,
    check_probes,
    copies,
    differentiable,
    gradients,
    leaves_of,
    outputs_of,
    pulled_back,
    seeds_of,
    varied,
    verdicts,
)
from tapecheck.faults.bridge import surroundings as faults
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject, Probe

NEEDS = ["differentiable input"]


def in_thread(action: Callable[[], Any]) -> Any:
    """The result of an action in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(action).result()


@check_probes(
    "bridge.foreign-tape",
    case="same-thread",
    needs=NEEDS,
    faults=[faults.backward_is_recorded],
    near_misses=[faults.backward_copies_quietly],
)
def backward_under_a_tape(probe: Probe) -> Evidence:
    due = gradients(probe, probe.example())
    arguments = probe.example()
    outputs = outputs_of(probe, arguments)
    with warp.Tape() as tape:
        found = all_right(verdicts(pulled_back(probe, arguments, outputs), due, probe))
    found.observed["recorded"], found.expected["recorded"] = len(tape.launches), 0
    return found


@check_probes(
    "bridge.foreign-tape",
    case="other-thread",
    needs=NEEDS,
    faults=[faults.forward_is_recorded],
    near_misses=[faults.backward_copies_quietly],
)
def call_in_another_thread(probe: Probe) -> Evidence:
    due = gradients(probe, probe.example())
    with warp.Tape() as tape:
        found = all_right(verdicts(in_thread(lambda: gradients(probe, probe.example())), due, probe))
    found.observed["recorded"], found.expected["recorded"] = len(tape.launches), 0
    return found


@check_probes(
    "bridge.no-cycle",
    cases={"forward": False, "backward": True},
    needs=NEEDS,
    faults=[faults.output_kept_on_the_context],
    near_misses=[faults.output_saved_for_backward],
)
def no_cycle(probe: Probe, backward: bool) -> Evidence:
    outputs_of(probe, probe.example())
    gc.collect()
    gc.disable()
    try:
        arguments = probe.example()
        outputs = outputs_of(probe, arguments)
        if backward:
            pulled_back(probe, arguments, outputs)
        tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
        held = {"inputs": [weakref.ref(t) for t in tensors], "outputs": [weakref.ref(t) for t in outputs]}
        del arguments, outputs, tensors
        alive = {name: sum(ref() is not None for ref in refs) for name, refs in held.items()}
    finally:
        gc.enable()
    return Evidence({f"{name} alive": count for name, count in alive.items()}, {"inputs alive": 0, "outputs alive": 0})


CALLS = 1000
"""Shared by the probes of a bridge, at least a hundred each."""


@check(
    "bridge.flat-memory",
    needs=NEEDS,
    faults=[faults.every_output_remembered],
    near_misses=[faults.last_output_remembered],
)
def flat_memory(bridge: BridgeSubject) -> Evidence:
    kinds: dict[str, type] = {"tensors": torch.Tensor, "arrays": warp.array, "tapes": warp.Tape}

    def alive() -> dict[str, int]:
        gc.collect()
        types = Counter(map(type, gc.get_objects()))
        counts = {name: sum(types[t] for t in types if issubclass(t, kind)) for name, kind in kinds.items()}
        return counts | dict(bridge.counters() if bridge.counters else {})

    found = {}
    probes = bridge.offering(NEEDS)
    for probe in probes:
        try:
            with probe.within():
                found[probe.name] = grown(probe, max(CALLS // len(probes), 100), alive)
        except Raised as problem:
            found[probe.name] = {problem.args[0]: problem.args[1]}
    return Evidence(found, {name: dict.fromkeys(counts, 0) for name, counts in found.items()}, tolerance=10)


def grown(probe: Probe, calls: int, alive: Callable[[], dict[str, int]]) -> dict[str, int]:
    """How many more things are alive after many calls than after a few."""
    same = probe.example()

    def call(times: int) -> dict[str, int]:
        for at in range(times):
            arguments = same if at % 2 else copies(same)
            (gradients if at % 4 < 2 else outputs_of)(probe, arguments)
        return alive()

    before, after = call(20), call(calls)
    return {name: after[name] - before[name] for name in before}


@check_probes(
    "bridge.threads",
    needs=NEEDS,
    isolated=True,
    faults=[faults.seed_buffer_of_all_threads],
    near_misses=[faults.seed_buffer_of_each_thread],
)
def threads(probe: Probe) -> Evidence:
    inputs = [varied(probe.example(), 1.0 - 0.01 * at) for at in range(8)]
    due = [gradients(probe, copies(arguments), salt=at) for at, arguments in enumerate(inputs)]
    together = threading.Barrier(4)

    def calls(first: int) -> list[str]:
        together.wait()
        texts: list[str] = []
        for _ in range(20):
            for at in range(first, len(inputs), 4):
                texts += verdicts(gradients(probe, copies(inputs[at]), salt=at), due[at], probe).values()
        return texts

    with ThreadPoolExecutor(4) as pool:
        texts = [text for some in pool.map(calls, range(4)) for text in some]
    own = [varied(probe.example(), 1.0 - 0.01 * at) for at in range(8)]
    outputs = [differentiable(outputs_of(probe, arguments)) for arguments in own]

    def pull(at: int) -> dict[str, Any]:
        return pulled_back(probe, own[at], outputs[at], seeds_of(outputs[at], salt=at))

    with ThreadPoolExecutor(4) as pool:
        later = list(pool.map(pull, range(len(own))))
    shared = probe.example()
    once = gradients(probe, copies(shared))
    with attributed("backward"):
        sums = [differentiable(outputs_of(probe, shared)) for _ in range(4)]

        def backward(outputs: Any) -> None:
            torch.autograd.backward(outputs, seeds_of(outputs))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(backward, sums))
    total = {name: leaf.grad for name, leaf in leaves_of(probe, shared).items()}
    four = {name: None if gradient is None else 4.0 * gradient for name, gradient in once.items()}
    return all_right(
        {
            "calls in four threads": worst(texts),
            "backward in other threads": worst(
                [
                    text
                    for found, wanted in zip(later, due, strict=True)
                    for text in verdicts(found, wanted, probe).values()
                ]
            ),
            "one leaf, four threads": worst(list(verdicts(total, four, probe).values())),
        }
    )


def worst(texts: list[str]) -> str:
    """The first verdict that is not right, and how many there are; or the last."""
    wrong = [text for text in texts if not text.startswith("right")]
    return f"{len(wrong)} of {len(texts)} wrong, the first {wrong[0]}" if wrong else texts[-1]
