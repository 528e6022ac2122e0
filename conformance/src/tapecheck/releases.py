"""The releases of the matrix, and how one of them (or any other Warp) is laid over the running environment.

Torch, NumPy and pytest do not change between cells, and Warp's wheel needs only NumPy: so a release is a folder that
goes first on PYTHONPATH, made in seconds.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec
from filelock import FileLock
from packaging.version import InvalidVersion, Version

from tapecheck.results import Cell


class Release(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One Warp release of the matrix."""

    version: str
    tags: tuple[str, ...] = ()


@cache
def releases(tag: str | None = None) -> tuple[str, ...]:
    """Versions of the matrix, oldest first; with a tag, those that carry it."""
    text = (files("tapecheck") / "releases.toml").read_bytes()
    listed = msgspec.toml.decode(text, type=dict[str, list[Release]])["release"]
    return tuple(release.version for release in listed if tag is None or tag in release.tags)


class NoWarp(Exception):
    """A Warp that cannot be had or imported; the text says what to do."""


class Overlay(msgspec.Struct, frozen=True):
    """A Warp ready to be judged: its version and the environment variables of a process that imports it."""

    version: str
    environment: dict[str, str]


def overlay(wanted: str | None, store: Path) -> Overlay:
    """A Warp made ready: a release number, a wheel file, a folder that holds it, or None for the installed one.

    Args:
        wanted: what to judge.
        store: where releases and their kernel caches are kept between runs.

    Raises:
        NoWarp: no such release, no network, or it cannot be imported.
    """
    environment = dict(os.environ)
    if wanted is not None:
        folder = Path(wanted) if wanted and Path(wanted).is_dir() else _install(wanted, store)
        if not (folder / "warp" / "__init__.py").is_file():
            raise NoWarp(f"{wanted} holds no Warp: a folder must contain warp/, as `pip install --target` leaves it")
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder.resolve()), os.environ.get("PYTHONPATH"))))
    version = _imported_version(environment, wanted)
    kernels = store / "kernels" / version
    kernels.mkdir(parents=True, exist_ok=True)
    if not os.access(kernels, os.W_OK):
        raise NoWarp(f"{kernels} cannot be written, and Warp's kernel cache must be")
    environment["WARP_CACHE_PATH"] = str(kernels.resolve())
    return Overlay(version, environment)


def _install(wanted: str, store: Path) -> Path:
    wheel = Path(wanted)
    if wanted.endswith(".whl"):
        if not wheel.is_file():
            raise NoWarp(f"no wheel file {wanted}")
        label, requirement = wheel.stem, str(wheel)
    else:
        try:
            label, requirement = str(Version(wanted)), f"warp-lang=={wanted}"
        except InvalidVersion:
            raise NoWarp(f"{wanted!r} is neither a release number, a wheel file nor a folder") from None
    folder, scratch = store / "warp" / label, store / "warp" / f".{label}.partial"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.parent / f".{label}.lock"):
        if folder.is_dir() and not wanted.endswith(".whl"):
            return folder
        shutil.rmtree(scratch, ignore_errors=True)
        options = ["--quiet", "--no-deps", "--pre", "--target", str(scratch)]
        command = [sys.executable, "-m", "pip", "install", *options, requirement]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(scratch, ignore_errors=True)
            raise NoWarp(_install_problem(wanted, done.stderr))
        shutil.rmtree(folder, ignore_errors=True)
        scratch.rename(folder)
    return folder


def _install_problem(wanted: str, stderr: str) -> str:
    offered = re.search(r"from versions: ([^)]*)\)", stderr)
    known = [] if offered is None else [text for text in re.split(r"[,\s]+", offered[1]) if text not in ("", "none")]
    if known:
        return f"Warp {wanted} does not exist; the nearest release is {nearest(wanted, known)}"
    if "No space left" not in stderr and re.search("No matching distribution|onnection|name resolution", stderr):
        return (
            f"Warp {wanted} cannot be fetched: no package index can be reached. Once fetched, a release is kept; "
            "a wheel file or a folder given as --warp needs no network"
        )
    return "\n".join([f"Warp {wanted} cannot be installed:", *stderr.strip().splitlines()[-3:]])


def nearest(wanted: str, known: list[str]) -> str:
    """The release nearest to a version, in the order of versions."""
    ordered = sorted(known, key=Version)
    at = sum(Version(version) < Version(wanted) for version in ordered)

    def distance(version: str) -> list[int]:
        pairs = zip((*Version(version).release, 0, 0, 0)[:3], (*Version(wanted).release, 0, 0, 0)[:3], strict=True)
        return [abs(ours - theirs) for ours, theirs in pairs]

    return min(ordered[max(at - 1, 0) : at + 1], key=distance)


def _imported_version(environment: dict[str, str], wanted: str | None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "import warp; print('version', warp.__version__)"],
        capture_output=True,
        text=True,
        env=environment,
    )
    found = re.search(r"^version (\S+)$", done.stdout, re.MULTILINE)
    if found is None:
        what = f"the Warp given as {wanted}" if wanted else "no Warp is installed, or it"
        tail = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise NoWarp(f"{what} cannot be imported: {tail[0]}. Name a release: --warp {releases()[-1]}")
    return found[1]


def in_order(cells: list[Cell]) -> list[Cell]:
    """Cells by subject, Warp itself first, then by release, oldest first, then by device."""
    return sorted(
        cells,
        key=lambda cell: (
            cell.header.subject != "warp",
            cell.header.subject,
            Version(cell.header.warp),
            cell.header.device,
        ),
    )
