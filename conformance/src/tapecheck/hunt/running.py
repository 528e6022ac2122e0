"""Runs the hunt on one Warp: a process a group, and one of its own for each kernel that a group leaves over."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from tapecheck.hunt import trial
from tapecheck.hunt.trial import GROUPS, Trial
from tapecheck.releases import Overlay
from tapecheck.running import how_it_ended, prepare

Outcome = Literal["right", "wrong", "inconclusive", "build", "error", "crash", "timeout"]
TOLERANCE = 1e-6
"""Largest difference of gradient and derivative, relative to the largest entry of the derivative or 1."""
STEPS = (1e-3, 4e-4)


class Finding(msgspec.Struct):
    """What a trial came to on a Warp.

    Attributes:
        outcome: *inconclusive* where the differences of two steps disagree, *build* where the kernel does not compile.
        gradient: what the tape gave, by array; left out where it is right.
        derivative: what differences gave.
    """

    name: str
    group: str
    summary: str
    warp: str
    device: str
    outcome: Outcome
    gradient: dict[str, Any] = {}
    derivative: dict[str, Any] = {}
    message: str = ""


def hunt(overlay: Overlay, folder: Path, device: str, only: Iterable[str] = ()) -> Path:
    """Tries every kernel on one Warp and writes `VERSION-DEVICE.jsonl` into a folder.

    Args:
        overlay: the Warp.
        folder: where the file goes.
        device: Warp device.
        only: groups; left out, all.
    """
    path = folder / f"{overlay.version}-{device.replace(':', '')}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".partial")
    scratch.write_bytes(b"")
    for group in only or GROUPS:
        _process(overlay, group, device, scratch)
        if not _names(scratch, group):
            _process(overlay, group, device, scratch, "*")
        for name in sorted(_declared(overlay, group) - _names(scratch, group)):
            outcome, message = _process(overlay, group, device, scratch, name)
            if name not in _names(scratch, group):
                _append(scratch, Finding(name, group, "", overlay.version, device, outcome, message=message))
    scratch.replace(path)
    return path


def read(path: Path) -> list[Finding]:
    """The findings of a file."""
    decoder = msgspec.json.Decoder(Finding)
    return [decoder.decode(line) for line in path.read_bytes().splitlines()]


def _names(path: Path, group: str) -> set[str]:
    return {finding.name for finding in read(path) if finding.group == group}


def _append(path: Path, finding: Finding) -> None:
    with path.open("ab") as stream:
        stream.write(msgspec.json.encode(finding) + b"\n")


def _process(overlay: Overlay, group: str, device: str, path: Path, name: str = "") -> tuple[Outcome, str]:
    """Tries a group, one kernel of it, or all in a module each (`*`); how the process ended, if it left any out."""
    command = [sys.executable, "-m", "tapecheck.hunt.running", group, device, str(path.resolve()), name]
    try:
        limit = 120 if name and name != "*" else 1500
        done = subprocess.run(
            command, env=overlay.environment, capture_output=True, text=True, errors="replace", timeout=limit
        )
    except subprocess.TimeoutExpired:
        return "timeout", f"no answer within {limit} s"
    return "crash", how_it_ended(done.returncode)


def _declared(overlay: Overlay, group: str) -> set[str]:
    script = f"from tapecheck.hunt.trial import load; print('trials', *(t.name for t in load({group!r})))"
    done = subprocess.run([sys.executable, "-c", script], env=overlay.environment, capture_output=True, text=True)
    lines = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("trials")]
    if not lines:
        raise RuntimeError(f"the group {group} cannot be imported:\n{done.stderr}")
    return set(lines[0])


def judge(entry: Trial, device: str) -> Finding:
    """One trial on the Warp of this process."""
    import warp

    from tapecheck.contracts.codegen.idiom import adjoint, derivative
    from tapecheck.subjects.warp import WarpSubject

    wp = WarpSubject()
    finding = Finding(entry.name, entry.group, entry.summary, warp.__version__, device, "right")
    try:
        gradient, true = adjoint(wp, entry), derivative(wp, entry, STEPS[0])
        if not _close(gradient, true):
            coarse, true = true, derivative(wp, entry, STEPS[1])
            finding.outcome = "wrong" if _close(coarse, true) else "inconclusive"
    except Exception as problem:  # noqa: BLE001 - whatever Warp raises is the finding
        finding.outcome, finding.message = "error", _text(problem)
        return finding
    if finding.outcome != "right":
        finding.gradient, finding.derivative = _rounded(gradient), _rounded(true)
    return finding


def _close(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> bool:
    scale = max(1.0, *(float(np.abs(values).max(initial=0.0)) for values in second.values()))
    return all(np.allclose(first[name], second[name], rtol=0.0, atol=TOLERANCE * scale) for name in second)


def _rounded(gradients: dict[str, np.ndarray]) -> dict[str, Any]:
    return {name: [float(f"{v:.4g}") for v in np.ravel(values)] for name, values in gradients.items()}


def _text(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}".strip()[:400]


def _build(entry: Trial) -> str:
    """Launches the kernel once, which compiles its module; what that raises."""
    from tapecheck.subjects.warp import WarpSubject

    wp = WarpSubject()
    try:
        entry.launch(wp, *entry.arrays(wp, entry.values()))
    except Exception as problem:  # noqa: BLE001 - whatever Warp raises is the finding
        return _text(problem)
    return ""


def _main(group: str, device: str, path: str, name: str) -> None:
    import warp

    prepare()
    trial.ALONE[0] = bool(name)
    for entry in trial.load(group):
        if name not in ("", "*", entry.name):
            continue
        with warp.ScopedDevice(device):
            problem = _build(entry)
            if not problem:
                finding = judge(entry, device)
            elif name:
                finding = Finding(entry.name, group, entry.summary, warp.__version__, device, "build", message=problem)
            else:
                sys.exit(f"the group does not compile: {problem}")
        _append(Path(path), finding)


if __name__ == "__main__":
    _main(*sys.argv[1:])
