"""One side of a paired comparison: a process that holds one Warp release and times what it is told to, in turns.

It reads a command a line and answers a line; between commands it sleeps, so that the other side has the machine.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import msgspec

from tapecheck.running import prepare

if TYPE_CHECKING:
    from tapecheck.workloads import Workload

Do = Literal["prepare", "calibrate", "time", "count"]
ENOUGH = 0.002
"""Seconds that a block of calls should take: long against the clock's steps, short against a slice of the scheduler."""


class Command(msgspec.Struct, kw_only=True):
    """What to do next.

    Attributes:
        do: `prepare` every workload, `calibrate`, `time` or `count` one.
        name: the workload.
        calls: calls in a block.
        blocks: blocks to time; the fastest one is answered.
    """

    do: Do
    name: str = ""
    calls: int = 1
    blocks: int = 1


class Answer(msgspec.Struct, kw_only=True):
    """What came of it.

    Attributes:
        seconds: seconds a call.
        calls: calls that a block should hold.
        counts: exact figures of one call.
        problems: what cannot be timed, by workload, and why.
    """

    seconds: float = 0.0
    calls: int = 1
    counts: dict[str, int] = {}
    problems: dict[str, str] = {}


class Side:
    """The prepared workloads of one release.

    Args:
        device: Warp device.
        table: the module that holds them as `WORKLOADS`, and its own `counts_of` if it has one.
    """

    def __init__(self, device: str, table: str) -> None:
        module = importlib.import_module(table)
        self.device = device
        self.workloads: dict[str, Workload] = module.WORKLOADS
        self.counts_of: Callable[..., dict[str, int]] = getattr(module, "counts_of", counts_of)
        self.operations: dict[str, Callable[[], object]] = {}

    def answer(self, command: Command) -> Answer:
        match command.do:
            case "prepare":
                return Answer(problems=self.prepare())
            case "calibrate":
                return Answer(calls=self.calibrate(command.name))
            case "time":
                return Answer(seconds=self.time(command.name, command.calls, command.blocks))
            case "count":
                return Answer(counts=self.counts_of(self.workloads[command.name], self.operations[command.name]))

    def prepare(self) -> dict[str, str]:
        """Sets up every workload and calls it, so that everything is built; what failed, and how."""
        problems: dict[str, str] = {}
        for name, workload in self.workloads.items():
            try:
                if workload.needs and importlib.util.find_spec(workload.needs) is None:
                    raise ImportError(f"{workload.needs} is not installed")
                operation = workload.make(self.device)
                for _ in range(1 if workload.slow else 3):
                    if workload.before:
                        workload.before()
                    operation()
            except Exception as problem:  # noqa: BLE001  # any failure of a release is a finding, told by name
                problems[name] = f"{type(problem).__name__}: {problem}"
            else:
                self.operations[name] = operation
        gc.collect()
        gc.freeze()
        return problems

    def calibrate(self, name: str) -> int:
        """How many calls a block should hold."""
        if self.workloads[name].before:
            return 1
        calls = 1
        while self._block(name, calls) * calls < ENOUGH / 2:
            calls *= 2
        return max(1, round(ENOUGH / self._block(name, calls)))

    def time(self, name: str, calls: int, blocks: int) -> float:
        """Seconds a call in the fastest of some blocks: what others take of the machine only ever adds."""
        gc.disable()
        try:
            return min(self._block(name, calls) for _ in range(blocks))
        finally:
            gc.enable()
            gc.collect()

    def _block(self, name: str, calls: int) -> float:
        import warp

        workload, operation = self.workloads[name], self.operations[name]
        clock = time.process_time if workload.slow else time.perf_counter
        if workload.before:
            workload.before()
        start = clock()
        for _ in range(calls):
            operation()
        if self.device != "cpu":
            warp.synchronize_device(self.device)
        return (clock() - start) / calls


def counts_of(workload: Workload, operation: Callable[[], object]) -> dict[str, int]:
    """Exact figures of one call: of a build what it left behind, of anything else what it called."""
    from tapecheck.workloads import cold_folders

    if workload.slow:
        files = [path for folder in cold_folders() for path in folder.iterdir()]
        return {
            "modules": len(cold_folders()),
            "source bytes": sum(path.stat().st_size for path in files if path.suffix in (".cpp", ".cu")),
            "object bytes": sum(path.stat().st_size for path in files if path.suffix in (".o", ".ptx", ".cubin")),
        }
    if workload.before:
        workload.before()
    return counted(operation)


def counted(operation: Callable[[], object]) -> dict[str, int]:
    """What one call of an operation does: Python and C functions called, kernels launched, bytes Warp allocated."""
    counts = {"calls": 0, "launches": 0, "bytes": 0}

    def notice(frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "c_call"):
            return
        counts["calls"] += 1
        if event == "call" and str(frame.f_globals.get("__name__", "")).endswith(".context"):
            counts["launches"] += frame.f_code.co_name == "launch"
            if frame.f_code.co_name in ("alloc", "allocate"):
                counts["bytes"] += frame.f_locals.get("size_in_bytes", 0)

    gc.disable()
    sys.setprofile(notice)
    try:
        operation()
    finally:
        sys.setprofile(None)
        gc.enable()
    counts["calls"] -= 1  # the call that ends the counting
    return counts


def _answers() -> BinaryIO:
    """The stream of answers; whatever Warp prints goes to the error stream instead."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _main(device: str, table: str) -> None:
    answers = _answers()
    prepare()
    side = Side(device, table)
    for line in sys.stdin.buffer:
        answer = side.answer(msgspec.json.decode(line, type=Command))
        answers.write(msgspec.json.encode(answer) + b"\n")
        answers.flush()


if __name__ == "__main__":
    _main(*sys.argv[1:])
