"""The matrix and the verdict for readers: terminal, Markdown, HTML, JSON, all from the same records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import msgspec

from tapecheck.contract import REGISTRY, SOURCES, Contract, catalogue, full_name, text_of
from tapecheck.expectations import Entry, default_path, of
from tapecheck.matrix import Matrix
from tapecheck.results import NOT_JUDGED, Record
from tapecheck.upgrade import MEANING, Effect, Flip, Verdict

MARKS = {
    "pass": "✓",
    "fail": "✗",
    "error": "!",
    "crash": "‼",
    "timeout": "…",
    "unsupported": "–",
    "blocked": "□",
    "untested": "?",
    "not-run": "○",
}
"""One sign an outcome; the legend of every report names them."""


class Row(msgspec.Struct):
    """One line of the matrix: a check, and in each column its record and the entry that foresaw it, or None."""

    contract: Contract
    case: str
    cells: list[Record | None]
    entries: list[Entry | None]

    @property
    def name(self) -> str:
        return full_name(self.contract.id, self.case)

    @property
    def sources(self) -> str:
        return "; ".join(SOURCES[letter] for letter in self.contract.source)

    @property
    def kind(self) -> str:
        check = REGISTRY.get(self.name)
        return "safe form of a hazard: a pass means that it works" if check and check.safe else self.contract.kind


class Table(msgspec.Struct):
    """The matrix as a reader sees it.

    Attributes:
        columns: subject, Warp release and device of each column that judged anything.
        sources: the expectation file of each column.
        families: the lines of each family, in the catalogue's order.
        counts: how often each outcome came.
        known: the entries that foresaw an outcome, by their expectation file.
        not_run: cells in which nothing was judged, and why.
        complaints: what makes the run fail.
    """

    columns: list[tuple[str, str, str]]
    sources: list[str]
    families: dict[str, list[Row]]
    counts: dict[str, int]
    known: dict[str, list[Entry]]
    not_run: list[str]
    complaints: list[str]

    @property
    def good(self) -> str:
        """One sentence where there is nothing to complain of, else nothing."""
        if self.complaints:
            return ""
        records = [record for rows in self.families.values() for row in rows for record in row.cells if record]
        judged = [record for record in records if record.outcome not in NOT_JUDGED]
        unstated = sorted({record.subject for record in judged if record.expectation == "none"})
        if unstated:
            return f"Nobody said what to expect of {', '.join(unstated)}; every other outcome is as expected."
        return "Every outcome is as expected." if judged else "Nothing was judged."


def table(matrix: Matrix, expectations: Path | None = None) -> Table:
    """The matrix laid out by family.

    Args:
        matrix: what was merged.
        expectations: the file that it was held against; left out, that of each subject.
    """
    shown = [cell for cell in matrix.cells if any(record.outcome != "not-run" for record in cell.records)]
    by_cell = [{record.key: record for record in cell.records} for cell in shown]
    keys = {key for cell in by_cell for key in cell}
    order = list(catalogue())
    cases = {check.name: at for at, check in enumerate(REGISTRY.values())}
    stated = [of(cell.header.subject, expectations) for cell in shown]
    sources = [file_name(expectations or default_path(cell.header.subject)) for cell in shown]
    families: dict[str, list[Row]] = {}
    known: dict[str, list[Entry]] = {}
    for identifier, case in sorted(keys, key=lambda key: (order.index(key[0]), cases.get(full_name(*key), 0))):
        row = catalogue()[identifier]
        cells = [cell.get((identifier, case)) for cell in by_cell]
        entries = [
            mine.entry(record) if record and record.expectation == "expected" else None
            for mine, record in zip(stated, cells, strict=True)
        ]
        families.setdefault(row.family, []).append(Row(row, case, cells, entries))
        for source, entry in zip(sources, entries, strict=True):
            if entry and entry not in known.setdefault(source, []):
                known[source].append(entry)
    found: Counter[str] = Counter(record.outcome for cell in by_cell for record in cell.values())
    counts = {outcome: found[outcome] for outcome in MARKS if outcome in found}
    not_run = [f"{cell.name}: {cell.records[0].message}" for cell in matrix.cells if cell not in shown and cell.records]
    columns = [(cell.header.subject, cell.header.warp, cell.header.device) for cell in shown]
    return Table(columns, sources, families, counts, known, not_run, matrix.complaints)


def file_name(path: Path) -> str:
    """The path of a file from the folder that holds this package, or from here; else its name alone."""
    roots = (Path(str(files("tapecheck"))).resolve().parent, Path.cwd())
    inside = (path.resolve().relative_to(root).as_posix() for root in roots if path.resolve().is_relative_to(root))
    return next(inside, path.name)


def reach(entry: Entry) -> str:
    """The releases and the devices that an entry speaks of."""
    versions = f"Warp {entry.when}" if entry.when else "Every release"
    return f"{versions}, {entry.device}" if entry.device else versions


def write_matrix(matrix: Matrix, folder: Path, expectations: Path | None = None) -> list[Path]:
    """Writes `matrix.html`, `matrix.md` and `matrix.json` into a folder; their paths. The arguments as `table`."""
    laid_out = table(matrix, expectations)
    return [
        _write(folder / "matrix.html", render("matrix.html", table=laid_out)),
        _write(folder / "matrix.md", render("matrix.md", table=laid_out)),
        _write(folder / "matrix.json", _json(matrix.records)),
    ]


def write_verdict(verdict: Verdict, folder: Path) -> list[Path]:
    """Writes the verdict of an upgrade as Markdown and JSON; their paths."""
    stem = f"upgrade-{verdict.old}-{verdict.new}-{verdict.device.replace(':', '')}"
    return [
        _write(folder / f"{stem}.md", render("upgrade.md", verdict=verdict, groups=by_effect(verdict))),
        _write(folder / f"{stem}.json", _json(verdict)),
    ]


class Flipped(NamedTuple):
    """A contract that flips, and its flips: a heading, and the changes behind it, for each way in which cases do."""

    contract: str
    statement: str
    hint: str
    ways: dict[str, list[str]]


class Group(NamedTuple):
    """What has one effect: the effect, its heading with how many contracts, its meaning, the contracts."""

    effect: Effect
    heading: str
    meaning: str
    contracts: list[Flipped]


def by_effect(verdict: Verdict) -> list[Group]:
    """The flips of a verdict by what they mean, the worst first."""
    found: list[Group] = []
    for effect, meaning in MEANING.items():
        flips: dict[str, list[Flip]] = {}
        for flip in verdict.flips:
            if flip.effect == effect:
                flips.setdefault(flip.contract, []).append(flip)
        if flips:
            title = f"new in Warp {verdict.new}" if effect == "new" else effect
            cases = sum(map(len, flips.values()))
            count = f"{len(flips)} contract{'s' * (len(flips) > 1)}" + f" ({cases} cases)" * (cases > len(flips))
            contracts = [Flipped(name, f[0].statement, f[0].hint, _ways(f)) for name, f in flips.items()]
            found.append(Group(effect, f"{title}, {count}", meaning, contracts))
    return found


def _ways(flips: Sequence[Flip]) -> dict[str, list[str]]:
    cases: dict[tuple[str, ...], list[str]] = {}
    for flip in flips:
        cases.setdefault((f"{flip.kind}: {flip.old_outcome} → {flip.new_outcome}", *flip.changes), []).append(flip.case)
    return {f"{', '.join(names)} {heading}".strip(): changes for (heading, *changes), names in cases.items()}


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode() + "\n"


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".partial")
    scratch.write_text(text, encoding="utf-8")
    return scratch.replace(path)


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
    environment.filters["reach"] = reach
    environment.filters["cell"] = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    return environment.get_template(template).render(marks=MARKS, **values)
