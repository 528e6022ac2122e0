"""The matrix and the verdict for readers: terminal, Markdown, HTML, JSON, all from the same records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import msgspec

from tapecheck.contract import REGISTRY, Contract, catalogue, full_name, text_of
from tapecheck.matrix import Matrix
from tapecheck.results import Record
from tapecheck.upgrade import MEANING, Flip, Verdict

MARKS = {
    "pass": "✓",
    "fail": "✗",
    "error": "!",
    "crash": "‼",
    "timeout": "…",
    "unsupported": "–",
    "blocked": "□",
    "untested": "·",
    "not-run": "·",
}
"""One sign an outcome; the legend of every report names them."""


class Row(msgspec.Struct):
    """One line of the matrix: a check, and its record in each column, None where there is none."""

    contract: Contract
    case: str
    cells: list[Record | None]

    @property
    def name(self) -> str:
        return full_name(self.contract.id, self.case)


class Table(msgspec.Struct):
    """The matrix as a reader sees it.

    Attributes:
        columns: subject, Warp release and device of each column that judged anything.
        families: the lines of each family, in the catalogue's order.
        counts: how often each outcome came.
        not_run: cells in which nothing was judged, and why.
        complaints: what makes the run fail.
    """

    columns: list[tuple[str, str, str]]
    families: dict[str, list[Row]]
    counts: dict[str, int]
    not_run: list[str]
    complaints: list[str]


def table(matrix: Matrix) -> Table:
    """The matrix laid out by family."""
    shown = [cell for cell in matrix.cells if any(record.outcome != "not-run" for record in cell.records)]
    by_cell = [{record.key: record for record in cell.records} for cell in shown]
    keys = {key for cell in by_cell for key in cell}
    order = list(catalogue())
    cases = {check.name: at for at, check in enumerate(REGISTRY.values())}
    families: dict[str, list[Row]] = {}
    for identifier, case in sorted(keys, key=lambda key: (order.index(key[0]), cases.get(full_name(*key), 0))):
        row = catalogue()[identifier]
        cells = [cell.get((identifier, case)) for cell in by_cell]
        families.setdefault(row.family, []).append(Row(row, case, cells))
    counts: dict[str, int] = {}
    for cell in by_cell:
        for record in cell.values():
            counts[record.outcome] = counts.get(record.outcome, 0) + 1
    not_run = [f"{cell.name}: {cell.records[0].message}" for cell in matrix.cells if cell not in shown and cell.records]
    columns = [(cell.header.subject, cell.header.warp, cell.header.device) for cell in shown]
    return Table(columns, families, counts, not_run, matrix.complaints)


def write_matrix(matrix: Matrix, folder: Path) -> list[Path]:
    """Writes `matrix.html`, `matrix.md` and `matrix.json` into a folder; their paths."""
    laid_out = table(matrix)
    return [
        _write(folder / "matrix.html", render("matrix.html", table=laid_out)),
        _write(folder / "matrix.md", render("matrix.md", table=laid_out)),
        _write(folder / "matrix.json", _json(matrix.records)),
    ]


def write_verdict(verdict: Verdict, folder: Path) -> list[Path]:
    """Writes the verdict of an upgrade as Markdown and JSON; their paths."""
    stem = f"upgrade-{verdict.old}-{verdict.new}"
    return [
        _write(folder / f"{stem}.md", render("upgrade.md", verdict=verdict, groups=by_effect(verdict.flips))),
        _write(folder / f"{stem}.json", _json(verdict)),
    ]


def by_effect(flips: Sequence[Flip]) -> list[tuple[str, str, list[Flip]]]:
    """Flips by what they mean, the worst first: the effect, its meaning, its flips."""
    groups = (
        (effect, meaning, [flip for flip in flips if flip.effect == effect]) for effect, meaning in MEANING.items()
    )
    return [group for group in groups if group[2]]


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode() + "\n"


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def render(template: str, **values: Any) -> str:
    """A template of this package, filled in."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tapecheck.report"),
        autoescape=jinja2.select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["text_of"] = text_of
    environment.filters["cell"] = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    return environment.get_template(template).render(marks=MARKS, **values)
