"""Judges a subject on one Warp and its devices: a pytest process a cell, which writes the result file."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tapecheck import contracts
from tapecheck.releases import Overlay
from tapecheck.results import BadResult, Cell, blank, cell_path, header, read, write
from tapecheck.subjects import checks_of, find, label

NO_CUDA = "no such CUDA device is present"
NOTHING_SELECTED = 5
"""The exit status of pytest where no check was to be run."""


def run(
    overlay: Overlay,
    folder: Path,
    devices: Sequence[str] = (),
    *,
    subject: str = "warp",
    only: Sequence[str] = (),
    workers: int = 2,
    resume: bool = False,
    expectations: Path | None = None,
    pytest_arguments: Sequence[str] = (),
    quiet: bool = False,
) -> int:
    """Judges a subject on a Warp and some devices.

    Args:
        overlay: the Warp.
        folder: where the result files go; those of a partial run go into its folder `partial`.
        devices: Warp device names; left out, the CPU and every CUDA device present.
        subject: a known name, or `module:attribute`.
        only: families and contract ids; left out, every contract.
        workers: parallel processes in which the checks run.
        resume: leave alone a cell whose complete result was made by this suite in this environment.
        expectations: another expectation file.
        pytest_arguments: handed on to pytest.
        quiet: whether pytest's own report is kept back, unless the run could not be made.

    Returns:
        0 where every cell came as expected.

    Raises:
        LookupError: a device is none, or no check is left to run.
    """
    partial = bool(only or pytest_arguments)
    target = folder / "partial" if partial else folder
    present = present_devices(overlay)
    wanted = list(devices) or ([*present, "cuda"] if present == ["cpu"] else present)
    for device in wanted:
        if device not in present and not re.fullmatch(r"cuda(:\d+)?", device):
            raise LookupError(f"unknown device {device!r}; Warp {overlay.version} sees {', '.join(present)}")
    status = 0
    for device in wanted:
        path = cell_path(target, subject, overlay.version, device)
        if not any(name == device or name.startswith(f"{device}:") for name in present):
            _write_not_run(path, subject, overlay, device, only)
            print(f"not run on {device}: {NO_CUDA}: {path}", flush=True)
            status = max(status, int(bool(devices)))
            continue
        if resume and fresh(path, subject, overlay):
            print(f"fresh result: {path}")
            continue
        arguments = [f"--tapecheck-subject={subject}", f"--tapecheck-device={device}"]
        arguments += [f"--tapecheck-results={path.resolve()}", *pytest_arguments]
        if expectations:
            arguments.append(f"--tapecheck-expectations={expectations.resolve()}")
        ended = _pytest(overlay, workers, only, arguments, quiet)
        if ended == NOTHING_SELECTED:
            raise LookupError(f"no check of {subject} matches; `tapecheck list` shows them by family")
        status = max(status, ended)
    return status


def faults(overlay: Overlay, *, only: Sequence[str] = (), workers: int = 2) -> int:
    """Plants every fault and near miss of the checks, on one Warp.

    Returns:
        0 where each fault was a violation and nothing else was.
    """
    return _pytest(overlay, workers, only, ["--tapecheck-faults"])


def _pytest(overlay: Overlay, workers: int, only: Sequence[str], arguments: Sequence[str], quiet: bool = False) -> int:
    command = [sys.executable, "-m", "pytest", "--pyargs", "tapecheck", "-q", "--tb=short", "-p", "no:cacheprovider"]
    command += ["--disable-warnings", "-p", "no:benchmark"]  # the latter makes a folder where it is installed
    command += ["-n", str(workers), "--dist", "worksteal", f"--tapecheck-only={','.join(only)}", *arguments]
    done = subprocess.run(command, env=overlay.environment, capture_output=quiet, text=True)
    if quiet and done.returncode not in (0, 1):
        print(done.stdout + done.stderr)
    return done.returncode


def present_devices(overlay: Overlay) -> list[str]:
    """The CPU and every CUDA device that this Warp sees."""
    script = "import warp; warp.config.quiet = True; print('devices', *warp.get_devices())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=overlay.environment)
    found = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("devices")]
    return sorted(found[0]) if found else ["cpu"]


def _write_not_run(path: Path, subject: str, overlay: Overlay, device: str, only: Sequence[str]) -> None:
    """A result that says of every check that it did not run: a device that is not there is never a pass."""
    contracts.load()
    head = header(subject=subject, warp=overlay.version, device=device, full=not only)
    place = {"subject": label(subject), "warp": overlay.version, "device": device}
    records = [
        blank(check.contract, check.case, kind=check.kind, outcome="not-run", message=NO_CUDA, **place)
        for check in checks_of(find(subject))
        if not only or {check.contract.id, check.contract.family} & set(only)
    ]
    write(path, head, records, 0.0)


def fresh(path: Path, subject: str, overlay: Overlay) -> Cell | None:
    """The cell of a result file that this suite, this Warp and this environment made, None where there is none."""
    try:
        cell = read(path)
    except BadResult:
        return None
    now = header(subject=subject, warp=overlay.version, device=cell.header.device, full=True)
    return cell if cell.footer and cell.header == now else None
