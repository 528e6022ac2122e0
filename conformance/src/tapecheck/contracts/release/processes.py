"""Runs a script with a kernel cache of its own, and says what became of it."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from tapecheck.subjects.warp import WarpSubject

SCRIPTS = Path(__file__).parent / "scripts"
PRELUDE = "prelude_of_processes"
"""The attribute of a subject under which a fault puts Python code that changes Warp in every process."""
SECONDS = 300.0
START = """
import runpy, sys
import warp as wp
sys.argv = sys.argv[2:]
{prelude}
wp.ScopedDevice({device!r}).__enter__() if {start} else None
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Finished(NamedTuple):
    """How a process ended, what its script reported and what was printed."""

    ending: str
    report: Any
    stdout: str
    stderr: str


class Running:
    """A script at work in a process of its own."""

    def __init__(self, wp: WarpSubject, script: str, kernel_cache: Path, *arguments: str, start: bool = True) -> None:
        descriptor, name = tempfile.mkstemp(prefix="tapecheck-report-")
        os.close(descriptor)
        self.answer = Path(name)
        code = START.format(prelude=getattr(wp, PRELUDE, ""), device=str(wp.get_device()), start=start)
        paths = [str(SCRIPTS), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-c", code, "-", str(SCRIPTS / script), name, *arguments],
            env={**os.environ, "WARP_CACHE_PATH": str(kernel_cache), "PYTHONPATH": os.pathsep.join(paths)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )

    def finish(self) -> Finished:
        stdout, stderr = self.process.communicate(timeout=SECONDS)
        text = self.answer.read_text()
        self.answer.unlink()
        return Finished(f"status {self.process.returncode}", json.loads(text) if text else None, stdout, stderr)


def finished(wp: WarpSubject, script: str, kernel_cache: Path, *arguments: str, start: bool = True) -> Finished:
    """A script's end, waited for."""
    return Running(wp, script, kernel_cache, *arguments, start=start).finish()


@contextmanager
def empty_cache() -> Iterator[Path]:
    """A kernel cache with nothing in it."""
    with tempfile.TemporaryDirectory(prefix="tapecheck-cache-") as folder:
        yield Path(folder)


@cache
def _built(device: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tapecheck-built-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    finished(WarpSubject(), "sound.py", folder)
    return folder


@contextmanager
def built_cache(wp: WarpSubject) -> Iterator[Path]:
    """A kernel cache of its own, in which the sound module has been built."""
    with empty_cache() as folder:
        shutil.copytree(_built(str(wp.get_device())), folder, dirs_exist_ok=True)
        yield folder


@contextmanager
def printed() -> Iterator[dict[str, str]]:
    """What this process writes to its standard streams meanwhile, by their names; filled in at the end."""
    text: dict[str, str] = {}
    with _redirected(1, sys.stdout, "standard output", text), _redirected(2, sys.stderr, "standard error", text):
        yield text


@contextmanager
def _redirected(descriptor: int, stream: TextIO, name: str, text: dict[str, str]) -> Iterator[None]:
    stream.flush()
    former = os.dup(descriptor)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), descriptor)
        try:
            yield
        finally:
            stream.flush()
            os.dup2(former, descriptor)
            os.close(former)
            file.seek(0)
            text[name] = file.read().decode(errors="replace")
