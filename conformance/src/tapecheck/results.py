"""The result file of one cell (a subject on one Warp release and device): JSON lines, header, records, footer.

A file without its footer belongs to a run that did not end; whoever merges it is told so.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from importlib import metadata
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import msgspec
from packaging.version import InvalidVersion, Version

from tapecheck import __version__
from tapecheck.contract import Contract, Kind, catalogue
from tapecheck.subjects import KNOWN, find, label

Outcome = Literal["pass", "fail", "error", "crash", "timeout", "unsupported", "blocked", "untested", "not-run"]
Standing = Literal["expected", "unexpected", "new", "none"]
"""Whether the expectations foresaw an outcome. `new`: on a release they do not know. `none`: nothing was judged, or
nobody said what to expect of the subject."""

NOT_JUDGED = ("untested", "not-run")


class Record(msgspec.Struct):
    """What became of one check."""

    contract: str
    case: str
    family: str
    kind: str
    subject: str
    warp: str
    torch: str | None
    device: str
    outcome: Outcome
    expectation: Standing = "none"
    expected: Any = None
    observed: Any = None
    tolerance: float = 0.0
    message: str = ""
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        return self.contract, self.case

    @property
    def bad(self) -> bool:
        """Whether it fails a run in which nobody said what to expect."""
        return self.outcome in ("fail", "error", "crash", "timeout")


def blank(
    contract: Contract,
    case: str,
    *,
    kind: Kind,
    subject: str,
    warp: str,
    device: str,
    outcome: Outcome,
    message: str = "",
) -> Record:
    """A record without evidence, of this environment."""
    return Record(
        contract=contract.id,
        case=case,
        family=contract.family,
        kind=kind,
        subject=subject,
        warp=warp,
        torch=installed_version("torch"),
        device=device,
        outcome=outcome,
        message=message,
    )


class Header(msgspec.Struct, tag="header", tag_field="line", kw_only=True):
    """What was run, so that results of different things are never merged."""

    catalogue: str
    suite: str
    subject: str
    warp: str
    torch: str | None
    python: str
    numpy: str
    device: str
    platform: str
    full: bool


class Footer(msgspec.Struct, tag="footer", tag_field="line", kw_only=True):
    """The mark of a run that came to its end."""

    records: int
    seconds: float


class Cell(msgspec.Struct):
    """One result file, read."""

    path: Path
    header: Header
    records: list[Record]
    footer: Footer | None

    @property
    def name(self) -> str:
        return f"{self.header.subject} {self.header.warp} {self.header.device}"


class BadResult(Exception):
    """A result file that cannot be used; the text says which and why."""


@cache
def catalogue_version() -> str:
    """A digest of the catalogue: two runs can be compared only where it is the same."""
    return _digest("catalogue/*.toml")


@cache
def suite_version(entry: str) -> str:
    """Version and digest of the checks of a subject and of what judges them: results of another one are not fresh.

    It covers the families that judge the subject, and the source of the subject itself where that is another package's.
    """
    subject = find(entry)
    families = sorted({row.family for row in catalogue().values() if row.judged in subject.judged})
    checks = [f"contracts/{family.replace('-', '_')}/**/*.py" for family in families]
    own = KNOWN.get(entry, entry).partition(":")[0].partition(".")[0]
    packages = sorted({own, *subject.packages} - {"tapecheck"})
    return f"{__version__}+{_digest('catalogue/*.toml', *checks, *JUDGES, packages=packages)}"


JUDGES = (
    "contracts/*.py",
    "oracles/**/*.py",
    "subjects/*.py",
    "contract.py",
    "judge.py",
    "running.py",
    "capture.py",
    "releases.toml",
)


def _digest(*patterns: str, packages: Iterable[str] = ()) -> str:
    root = Path(str(files("tapecheck")))
    kept = sorted({path for pattern in patterns for path in root.glob(pattern)})
    kept += [path for package in packages for path in _sources(package)]
    return hashlib.sha256(b"".join(path.read_bytes() for path in kept)).hexdigest()[:12]


def _sources(package: str) -> list[Path]:
    """The Python files of a module or package."""
    spec = find_spec(package)
    if spec is None:
        return []
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    return sorted(path for folder in folders for path in folder.rglob("*.py")) or [Path(spec.origin or "")]


def installed_version(distribution: str) -> str | None:
    """The version of an installed distribution, None where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def header(*, subject: str, warp: str, device: str, full: bool) -> Header:
    """The header of a run in this environment; the subject as `subjects.find` takes it."""
    return Header(
        catalogue=catalogue_version(),
        suite=suite_version(subject),
        subject=label(subject),
        warp=warp,
        torch=installed_version("torch"),
        python=platform.python_version(),
        numpy=installed_version("numpy") or "",
        device=device,
        platform=f"{platform.system()} {platform.machine()}",
        full=full,
    )


def cell_path(folder: Path, subject: str, warp: str, device: str) -> Path:
    """Where the result of a cell lies; the subject as `subjects.find` takes it."""
    return folder / f"{label(subject)}-{warp}-{device.replace(':', '')}.jsonl"


def write(path: Path, head: Header, records: Sequence[Record], seconds: float) -> None:
    """Writes a complete result file, whole or not at all.

    Raises:
        BadResult: it cannot be written.
    """
    lines: Iterable[msgspec.Struct] = (head, *records, Footer(records=len(records), seconds=round(seconds, 2)))
    scratch = path.with_suffix(".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
        scratch.replace(path)
    except OSError as problem:
        with suppress(OSError):
            scratch.unlink()
        raise BadResult(f"{path} cannot be written: {problem.strerror}") from None


def read(path: Path) -> Cell:
    """Reads a result file; a missing footer is left for the caller to judge.

    Raises:
        BadResult: the file is missing, empty, or holds a line that is none of its kinds.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as problem:
        raise BadResult(f"{path}: {problem.strerror}") from None
    if not lines:
        raise BadResult(f"{path}: empty; the run did not start")
    try:
        head = msgspec.json.decode(lines[0], type=Header)
        Version(head.warp)
    except (msgspec.DecodeError, InvalidVersion) as problem:
        raise BadResult(f"{path}: its first line is no header ({problem})") from None
    records: list[Record] = []
    footer: Footer | None = None
    for number, line in enumerate(lines[1:], start=2):
        try:
            if line.startswith(b'{"line":"footer"'):
                footer = msgspec.json.decode(line, type=Footer)
            else:
                records.append(msgspec.json.decode(line, type=Record))
        except msgspec.DecodeError as problem:
            if number < len(lines):
                raise BadResult(f"{path}:{number}: {problem}") from None
    if footer and footer.records != len(records):
        raise BadResult(f"{path}: the footer counts {footer.records} records, the file holds {len(records)}")
    return Cell(path, head, records, footer)
