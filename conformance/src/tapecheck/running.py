"""How a registered check is run: in this process, or in one of its own from which the run survives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from tapecheck.contract import REGISTRY, Check, Plant
from tapecheck.contracts import load
from tapecheck.judge import Judgement, judge
from tapecheck.results import Record, blank
from tapecheck.subjects import FAULTY, Subject, find, label


def prepare(worker: str | None = None) -> None:
    """Settings that must stand before Warp is first used in this process.

    Args:
        worker: name of a parallel worker, which gets a kernel cache of its own.
    """
    if worker and "WARP_CACHE_PATH" in os.environ:
        os.environ["WARP_CACHE_PATH"] = str(_own_cache(Path(os.environ["WARP_CACHE_PATH"]), worker))
    import warp

    if hasattr(warp.config, "log_level"):
        warp.config.log_level = warp.LOG_WARNING
    else:
        warp.config.quiet = True
    warp.init()


_HELD: list[FileLock] = []
"""Locks held until this process ends."""


def _own_cache(folder: Path, worker: str) -> Path:
    """A kernel cache of this worker's name that no other process uses: two that compile into one can end each other."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in count():
        name = f"{worker}-{number}" if number else worker
        lock = FileLock(folder / f"{name}.lock")
        try:
            lock.acquire(blocking=False)
        except Timeout:
            continue
        _HELD.append(lock)
        return folder / name
    raise AssertionError("count never ends")


def subject_of(check: Check, entry: str = "", plant: str = "") -> Subject:
    """What a check judges.

    Args:
        check: the check.
        entry: the subject, as `subjects.find` takes it; left out, the one in which faults of such checks are planted.
        plant: name of a fault or near miss, planted on top of the check's oracle.
    """
    subject = find(entry or FAULTY[check.contract.judged])
    if plant:
        subject = planted(check)[plant](check.oracle(subject) if check.oracle else subject)
    return subject


def planted(check: Check) -> dict[str, Plant]:
    """Everything that can be planted for a check, by name; `unbroken` plants nothing."""
    plants: dict[str, Plant] = {"unbroken": lambda subject: subject}
    plants |= {f"fault:{plant.__name__}": plant for plant in check.faults}
    plants |= {f"near-miss:{plant.__name__}": plant for plant in check.near_misses}
    return plants


def run(check: Check, device: str, entry: str = "", plant: str = "") -> Judgement:
    """The judgement of a check on a device; never the end of this process where the check is declared isolated."""
    return (_run_isolated if check.isolated else run_here)(check, device, entry, plant)


def run_here(check: Check, device: str, entry: str = "", plant: str = "") -> Judgement:
    """The judgement of a check, made in this process."""
    import warp

    with warp.ScopedDevice(device):
        return judge(check, subject_of(check, entry, plant))


def record(check: Check, device: str, entry: str, judgement: Judgement) -> Record:
    """The judgement as a record of this environment, no expectation held against it yet."""
    import warp

    place = {"warp": warp.__version__, "device": device}
    made = blank(check.contract, check.case, kind=check.kind, subject=label(entry), outcome=judgement.outcome, **place)
    return msgspec.structs.replace(made, **msgspec.structs.asdict(judgement))


def _run_isolated(check: Check, device: str, entry: str, plant: str) -> Judgement:
    with tempfile.TemporaryDirectory(prefix="tapecheck-") as folder:
        answer = Path(folder) / "judgement.json"
        command = [sys.executable, "-m", "tapecheck.running", check.name, device, entry, plant, str(answer)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=check.seconds, errors="replace")
        except subprocess.TimeoutExpired:
            return Judgement("timeout", f"no answer within {check.seconds:g} s")
        if answer.is_file():
            return msgspec.json.decode(answer.read_bytes(), type=Judgement)
    return Judgement("crash", how_it_ended(done.returncode, done.stderr))


def how_it_ended(status: int, stderr: str = "") -> str:
    """The end of a process in words."""
    ending = f"ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
    last = stderr.strip().splitlines()[-1:] or [""]
    return f"the process {ending}" + (f": {last[0]}" if last[0] else "")


def _main(name: str, device: str, entry: str, plant: str, answer: str) -> None:
    load()
    prepare()
    judgement = run_here(REGISTRY[name], device, entry, plant)
    scratch = Path(answer).with_suffix(".partial")
    scratch.write_bytes(msgspec.json.encode(judgement))
    scratch.replace(answer)


if __name__ == "__main__":
    _main(*sys.argv[1:])
