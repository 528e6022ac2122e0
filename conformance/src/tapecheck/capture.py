"""What a process writes, native code included."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout


@contextmanager
def captured() -> Iterator[Callable[[], str]]:
    """Catches stdout and stderr, of Python and of file descriptors 1 and 2; gives a function that reads them so far.

    Python's own warnings are all shown meanwhile, so they are caught too.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:

        def text() -> str:
            file.flush()
            file.seek(0)
            written = file.read()
            file.seek(0, os.SEEK_END)
            return written.strip()

        _flush()
        kept = [(descriptor, os.dup(descriptor)) for descriptor in (1, 2)]
        try:
            for descriptor, _ in kept:
                os.dup2(file.fileno(), descriptor)
            with redirect_stdout(file), redirect_stderr(file), warnings.catch_warnings():
                warnings.simplefilter("always")
                yield text
        finally:
            _flush()
            for descriptor, copy in kept:
                os.dup2(copy, descriptor)
                os.close(copy)


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
