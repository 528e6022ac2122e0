"""Paired comparison of the speed of two Warp releases, made for a noisy machine.

Two worker processes, one a release, take turns: each round times every workload on both, one right after the other, in
reversed order on even rounds, so that a busy spell hits both. What is compared is the median of the rounds' log-ratios,
with an interval from a block bootstrap, and a verdict that needs the whole interval on one side of a margin.
"""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from signal import Signals
from threading import Timer
from typing import Literal

import msgspec
import numpy as np
from packaging.version import Version

from tapecheck.releases import Overlay
from tapecheck.speed_worker import Answer, Command, Do

SpeedVerdict = Literal["slower", "not slower", "inconclusive"]
MARGIN = 0.10
CONFIDENCE = 0.99
RESAMPLES = 4000
PATIENCE = 300.0
"""Seconds after which a worker that does not answer is given up."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured.

    Attributes:
        rounds: rounds of the quick workloads; both sides are timed in each.
        block: neighbouring rounds that the bootstrap keeps together; even, so that it holds both orders.
        blocks: blocks of calls a side and round, of which the fastest counts.
        slow_rounds: fewest rounds of the slow workloads, each a block of its own.
        slow_seconds: how long they go on beyond that, up to `rounds`.
    """

    rounds: int = 40
    block: int = 4
    blocks: int = 6
    slow_rounds: int = 5
    slow_seconds: float = 15.0


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """How the candidate's time compares with the base's: above 1 it is slower."""

    ratio: float
    low: float
    high: float
    verdict: SpeedVerdict


class Comparison(msgspec.Struct, kw_only=True):
    """One benchmark on two releases.

    Attributes:
        benchmark: its name.
        what: what one call does.
        estimate: None where it could not be timed on both.
        problem: why not.
        base_seconds: seconds a call of each round on the base.
        candidate_seconds: the same on the candidate.
        base_counts: exact figures of one call on the base.
        candidate_counts: the same on the candidate.
    """

    benchmark: str
    what: str
    estimate: Estimate | None = None
    problem: str = ""
    base_seconds: list[float] = []
    candidate_seconds: list[float] = []
    base_counts: dict[str, int] = {}
    candidate_counts: dict[str, int] = {}

    @property
    def changed_counts(self) -> list[str]:
        """The exact figures that differ, as text."""
        return [
            f"{name} {count} → {self.candidate_counts.get(name)}"
            for name, count in self.base_counts.items()
            if count != self.candidate_counts.get(name)
        ]


class Speed(msgspec.Struct, kw_only=True):
    """Every benchmark on two releases."""

    base: str
    candidate: str
    device: str
    margin: float
    confidence: float
    suite: str
    comparisons: list[Comparison]

    @property
    def problems(self) -> list[str]:
        """What could not be timed, a sentence each."""
        return [f"{row.benchmark}: {row.problem}" for row in self.comparisons if row.problem]


class CannotTime(Exception):
    """A worker that died or fell silent; the text says which and what it printed last."""


def estimate(
    base: Sequence[float],
    candidate: Sequence[float],
    *,
    margin: float = MARGIN,
    tolerated: float | None = None,
    block: int = 1,
    seed: int = 0,
) -> Estimate:
    """Compares paired times.

    The interval is a circular block bootstrap of the median log-ratio: rounds near each other share a busy spell, and
    drawing them singly would take them for more evidence than they are.

    Args:
        base: seconds a call of each round.
        candidate: the same rounds on the other release.
        margin: by what part the candidate must be slower to be called so.
        tolerated: by what part it may be and still count as not slower; left out, the margin.
        block: neighbouring rounds that are drawn together.
        seed: of the draws.

    Raises:
        ValueError: no rounds, unequal numbers of them, or a time that is not above 0.
    """
    if not base or len(base) != len(candidate):
        raise ValueError(f"paired times are needed, got {len(base)} of the base and {len(candidate)} of the candidate")
    if not all(math.isfinite(seconds) and seconds > 0 for seconds in (*base, *candidate)):
        raise ValueError("every time must be finite and above 0")
    ratios = np.log(np.asarray(candidate)) - np.log(np.asarray(base))
    count = len(ratios)
    starts = np.random.default_rng(seed).integers(0, count, (RESAMPLES, math.ceil(count / block)))
    drawn = (starts[:, :, None] + np.arange(block)).reshape(RESAMPLES, -1)[:, :count] % count
    medians = np.median(ratios[drawn], axis=1)
    tail = (1 - CONFIDENCE) / 2
    low, high = (math.exp(edge) for edge in np.quantile(medians, [tail, 1 - tail]))
    limit = 1 + (margin if tolerated is None else tolerated)
    verdict: SpeedVerdict = "slower" if low > 1 + margin else "not slower" if high < limit else "inconclusive"
    return Estimate(ratio=math.exp(np.median(ratios)), low=low, high=high, verdict=verdict)


class Worker:
    """One side: a process that holds a release and times what it is told to.

    Its kernel cache is a temporary folder that starts as a copy of a kept one: a cold load deletes in it, and no
    process, not even another comparison of the same release, sees that.

    Args:
        warp: the release, and the environment of the process.
        device: Warp device.
        table: the module whose workloads it holds.
    """

    def __init__(self, warp: Overlay, device: str, table: str = "tapecheck.workloads") -> None:
        self.kept = Path(warp.environment["WARP_CACHE_PATH"]) / "speed"
        self.kernels = tempfile.TemporaryDirectory(prefix="tapecheck-")
        if self.kept.is_dir():
            ignored = shutil.ignore_patterns(".*")
            shutil.copytree(self.kept, self.kernels.name, dirs_exist_ok=True, ignore=ignored)
        self.version = warp.version
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the worker
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tapecheck.speed_worker", device, table],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**warp.environment, "WARP_CACHE_PATH": self.kernels.name},
        )

    def ask(self, do: Do, name: str = "", *, calls: int = 1, blocks: int = 1) -> Answer:
        """Has the worker do something, and waits for its answer."""
        self.tell(do, name, calls=calls, blocks=blocks)
        return self.hear()

    def tell(self, do: Do, name: str = "", *, calls: int = 1, blocks: int = 1) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(msgspec.json.encode(Command(do=do, name=name, calls=calls, blocks=blocks)) + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise CannotTime(self._ending()) from None

    def hear(self) -> Answer:
        assert self.process.stdout is not None
        watch = Timer(PATIENCE, self.process.kill)
        watch.start()
        try:
            line = self.process.stdout.readline()
        finally:
            watch.cancel()
        if not line:
            raise CannotTime(self._ending())
        return msgspec.json.decode(line, type=Answer)

    def keep_kernels(self) -> None:
        """Keeps what was built for the next comparison; each folder appears whole or not at all."""
        for folder in Path(self.kernels.name).rglob("wp_*"):
            kept = self.kept / folder.relative_to(self.kernels.name)
            if folder.is_dir() and not kept.exists():
                scratch = kept.with_name(f".{folder.name}.{os.getpid()}")
                shutil.copytree(folder, scratch)
                try:
                    scratch.rename(kept)
                except OSError:  # another comparison was first
                    shutil.rmtree(scratch)

    def _ending(self) -> str:
        status = self.process.wait()
        self.errors.seek(0)
        last = self.errors.read().decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        why = Signals(-status).name if status < 0 else last[0]
        return f"the worker of {self.version} ended with status {status}: {why}"

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            assert stream is not None
            stream.close()
        self.kernels.cleanup()


@contextmanager
def _workers(base: Overlay, candidate: Overlay, device: str) -> Iterator[tuple[Worker, Worker]]:
    """Both sides."""
    first, second = Worker(base, device), Worker(candidate, device)
    try:
        yield first, second
    finally:
        first.close()
        second.close()


def compare(base: Overlay, candidate: Overlay, device: str = "cpu", *, plan: Plan | None = None) -> Speed:
    """Times every workload on two releases.

    Args:
        base: what the ratios are relative to.
        candidate: what is judged.
        device: Warp device.
        plan: how much is measured.

    Returns:
        Every benchmark; one that could not be timed, for whatever reason, is there and says why.
    """
    from tapecheck.workloads import WORKLOADS

    rows = {name: Comparison(benchmark=name, what=workload.what) for name, workload in WORKLOADS.items()}
    try:
        with _workers(base, candidate, device) as sides:
            _measure(sides, rows, plan or Plan())
    except CannotTime as problem:
        for row in rows.values():
            row.problem = row.problem or str(problem)
    return Speed(
        base=base.version,
        candidate=candidate.version,
        device=device,
        margin=MARGIN,
        confidence=CONFIDENCE,
        suite=suite(),
        comparisons=list(rows.values()),
    )


def _measure(sides: tuple[Worker, Worker], rows: dict[str, Comparison], plan: Plan) -> None:
    from tapecheck.workloads import WORKLOADS

    for side in sides:
        side.tell("prepare")
    for side in sides:
        for name, problem in side.hear().problems.items():
            rows[name].problem = f"Warp {side.version}: {problem}"
        side.keep_kernels()
    timed = [row for row in rows.values() if not row.problem]
    slow = [row for row in timed if WORKLOADS[row.benchmark].slow]
    quick = [(row, sides[0].ask("calibrate", row.benchmark).calls) for row in timed if row not in slow]
    for number in range(plan.rounds):
        for row, calls in quick:
            _turns(sides, row, calls, plan.blocks, number)
    start = time.monotonic()
    for number in range(plan.rounds):
        if number >= plan.slow_rounds and time.monotonic() - start > plan.slow_seconds:
            break
        for row in slow:
            _turns(sides, row, 1, 1, number)
    for row in timed:
        row.base_counts, row.candidate_counts = (side.ask("count", row.benchmark).counts for side in sides)
        block = 1 if row in slow else plan.block
        row.estimate = estimate(row.base_seconds, row.candidate_seconds, block=block)


def _turns(sides: tuple[Worker, Worker], row: Comparison, calls: int, blocks: int, number: int) -> None:
    """One round of one benchmark: both sides, in reversed order every other round."""
    times = (row.base_seconds, row.candidate_seconds)
    for at in (0, 1) if number % 2 == 0 else (1, 0):
        times[at].append(sides[at].ask("time", row.benchmark, calls=calls, blocks=blocks).seconds)


def suite() -> str:
    """A digest of what is timed and how: results of another one are not shown beside each other."""
    folder = Path(__file__).parent
    texts = [(folder / name).read_bytes() for name in ("speed.py", "speed_worker.py", "workloads.py")]
    return hashlib.sha256(b"".join(texts)).hexdigest()[:12]


def path(folder: Path, base: str, candidate: str, device: str) -> Path:
    """Where the comparison of two releases lies."""
    return folder / f"{candidate}-against-{base}-{device.replace(':', '')}.json"


def write(folder: Path, speed: Speed) -> Path:
    """Writes a comparison with every time that it rests on; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    where = path(folder, speed.base, speed.candidate, speed.device)
    where.write_bytes(msgspec.json.format(msgspec.json.encode(speed), indent=1) + b"\n")
    return where


def stored(folder: Path, base: str, device: str) -> list[Speed]:
    """The comparisons with a base that this suite made, oldest candidate first."""
    found = [read(where) for where in folder.glob(f"*-against-{base}-{device.replace(':', '')}.json")]
    return sorted((one for one in found if one.suite == suite()), key=lambda one: Version(one.candidate))


def read(where: Path) -> Speed:
    """Reads a comparison.

    Raises:
        CannotTime: the file is none.
    """
    try:
        return msgspec.json.decode(where.read_bytes(), type=Speed)
    except (OSError, msgspec.DecodeError) as problem:
        raise CannotTime(f"{where}: {problem}") from None
