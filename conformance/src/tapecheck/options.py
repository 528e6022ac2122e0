"""What the commands share: their options, where things lie, and errors as one text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tapecheck import speed
from tapecheck.expectations import BadExpectations, fixing
from tapecheck.releases import NoWarp
from tapecheck.results import BadResult

console = Console()

Folder = Annotated[Path, typer.Option("--output", "-o", help="Folder of the results.")]
Store = Annotated[Path, typer.Option(help="Folder where Warp releases and kernel caches are kept.")]
ExpectationFile = Annotated[Path | None, typer.Option("--expectations", help="Another expectation file.")]
Workers = Annotated[int, typer.Option(min=1, help="Parallel processes.")]
WarpOption = Annotated[
    str | None, typer.Option("--warp", help="A release, a wheel file or a folder; left out, the installed one.")
]
Devices = Annotated[
    list[str] | None, typer.Option("--device", help="Warp device; left out, the CPU and every CUDA device.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Keep cells that this suite has already judged.")]
Identifier = Annotated[
    str,
    typer.Argument(metavar="ID", help="A contract's id, alone or with one of its cases, tape.nested\\[caught]."),
]
Names = Annotated[list[str] | None, typer.Argument(help="Families and contract ids; left out, all.")]
Files = Annotated[list[Path] | None, typer.Argument(help="Result files; left out, those of the output folder.")]
Plan = Annotated[str | None, typer.Option("--plan", help="Releases due: a tag, 'all', or versions by commas.")]
SpeedFolder = Annotated[Path, typer.Option("--output", "-o", help="Folder of the comparisons.")]
OneDevice = Annotated[str, typer.Option("--device", help="Warp device.")]
RESULTS, STORE, SPEEDS = Path("build/conformance"), Path("build/warp"), Path("build/bench")
BISECTIONS, HUNT = Path("build/bisect"), Path("build/hunt")
JUDGED = (0, 1)
"""The exit statuses of a run that came to its end."""


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turns the errors that a user can mend into one text and exit status 2, an interruption into a text and 130."""
    try:
        yield
    except KeyboardInterrupt:
        console.print("interrupted: a result that was being written is incomplete, and says so", style="bold red")
        raise typer.Exit(130) from None
    except (NoWarp, BadResult, BadExpectations, fixing.CannotFix, speed.CannotTime, LookupError) as problem:
        text = str(problem.args[0])
    except OSError as problem:
        text = f"{problem.filename}: {problem.strerror}"
    else:
        return
    console.print(f"error: {text}", style="bold red", markup=False, highlight=False)
    raise typer.Exit(2)
