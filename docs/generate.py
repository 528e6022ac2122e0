"""What the site says that the code knows, made when mkdocs builds it: pages, tables and numbers, none of them typed.

A page says `<!-- generated: NAME -->` where the text of `FACTS[NAME]` belongs. Whole pages are made for the matrix, for
each family and contract of the catalogue, and for each file outside of docs/ that a page links to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from typer.cli import get_docs_for_click

from sphweft.bridge import STATE_PLACES
from sphweft.inspect import LAYOUT
from tapecheck import cli, contracts, report
from tapecheck import expectations as known
from tapecheck.contract import FAMILIES, REGISTRY, Contract, catalogue, plain
from tapecheck.expectations import Deviation, Entry, Pin
from tapecheck.hunt import trial
from tapecheck.matrix import Matrix, complete, merge, results_in
from tapecheck.options import RESULTS
from tapecheck.releases import releases
from tapecheck.report.page import KINDS, page
from tapecheck.results import BadResult, Cell, Record, header, read
from tapecheck.subjects import KNOWN, checks_of, find
from tapecheck.upgrade import MEANING, compare

ROOT = Path(__file__).parents[1]
contracts.load()
for group in trial.GROUPS:
    trial.load(group)


@cache
def expectations() -> known.Expectations:
    """What is known of Warp to differ."""
    return known.of("warp")


@cache
def matrix() -> Matrix:
    """What was judged, or where no results lie, what the expectation file states; then it says so."""
    found = []
    for path in results_in(ROOT / RESULTS):
        try:
            found.append(complete(read(path)).path)
        except BadResult:
            continue
    if found:
        return merge(found, known.of)
    missing = f"not judged: {RESULTS} held no result when this page was made; it shows what the expectation file states"
    return Matrix(stated(), [missing])


@cache
def stated() -> list[Cell]:
    """Warp on every release, as the expectation file states it."""
    return [
        Cell(
            Path(f"warp-{version}"),
            header(subject="warp", warp=version, device="cpu", full=True),
            [_stated(check, version) for check in checks_of(find("warp"))],
            None,
        )
        for version in releases()
    ]


def _stated(check: Any, version: str) -> Record:
    record = Record(
        contract=check.contract.id,
        case=check.case,
        family=check.contract.family,
        kind=check.kind,
        subject="warp",
        warp=version,
        torch=None,
        device="cpu",
        outcome="pass",
    )
    entry = expectations().entry(record)
    if isinstance(entry, Deviation):
        record = msgspec.structs.replace(record, outcome=entry.outcome, message=entry.message)
    if isinstance(entry, Pin):
        record = msgspec.structs.replace(record, observed=plain(entry.value), message=f"pinned: {entry.shown}")
    return msgspec.structs.replace(record, expectation="expected")


def link(contract: Contract, where: str = "") -> str:
    return f"[`{contract.id}`]({where}contracts/{contract.family}/{contract.id}.md)"


def rows(head: str, lines: Iterator[tuple[Any, ...]], align: str = "") -> str:
    """A table; the first column to the left, the others as `align` says."""
    columns = head.count("|") + 1
    rule = "|".join(["---", *[align or "---"] * (columns - 1)])
    body = [" | ".join(str(cell).replace("|", "\\|") for cell in line) for line in lines]
    return "\n".join(f"| {line} |" for line in [head, rule, *body])


def kept() -> str:
    """Guarantees kept, by family and release."""
    cells = [cell for cell in matrix().cells if cell.header.subject == "warp" and cell.header.device == "cpu"]
    judged = [[r for r in c.records if r.kind == "guarantee" and r.outcome != "not-run"] for c in cells]

    def line(family: str) -> tuple[str, ...]:
        mine = [[record.outcome == "pass" for record in records if record.family == family] for records in judged]
        counts = [f"{sum(held)}/{len(held)}" if held else "" for held in mine]
        return (f"[{family}](contracts/{family}/index.md)", *counts)

    families = [family for family in FAMILIES if any(record.family == family for r in judged for record in r)]
    return rows(" | ".join(["family", *(cell.header.warp for cell in cells)]), map(line, families), ":-:")


def standing() -> str:
    """Where the numbers of the matrix come from."""
    complaints, cells = matrix().complaints, len(report.table(matrix()).columns)
    if complaints:
        return "\n".join(['!!! warning "Not as it should be"', *(f"    - {complaint}" for complaint in complaints[:5])])
    return f"As judged, in {cells} results: every outcome is as expected."


def reliability() -> str:
    """How many contracts, checks, faults and near misses a family has."""

    def line(name: str, of: list[Contract]) -> tuple[Any, ...]:
        ids = {contract.id for contract in of}
        checks = [check for check in REGISTRY.values() if check.contract.id in ids]
        kinds = [sum(contract.kind == kind for contract in of) for kind in KINDS]
        plants = [sum(len(getattr(check, what)) for check in checks) for what in ("faults", "near_misses")]
        untested = len(ids - {check.contract.id for check in checks})
        return (name, len(of), *kinds, untested, len(checks), *plants)

    everything = list(catalogue().values())
    families = [(f"[{f}](contracts/{f}/index.md)", [c for c in everything if c.family == f]) for f in FAMILIES]
    head = "family | contracts | guarantees | hazards | observations | untested | checks | faults | near misses"
    return rows(head, (line(*family) for family in [*families, ("**all**", everything)]), "--:")


def _plants(what: str) -> int:
    return len({plant for check in REGISTRY.values() for plant in getattr(check, what)})


def since() -> str:
    """What changes from each release to the next, the newest first, as the expectation file states it."""
    return "\n\n".join(_step(*step) for step in reversed(list(pairwise(stated()))))


def _step(old: Cell, new: Cell) -> str:
    parts = [f"## Warp {new.header.warp}"]
    verdict = compare(old, new)
    for effect, _, meaning, flipped in report.by_effect(verdict):
        parts.append(f"### {new.header.warp}: {effect}\n\n{meaning.capitalize()}.")
        for contract, statement, hint, _ in flipped:
            flips = [flip for flip in verdict.flips if (flip.contract, flip.effect) == (contract, effect)]
            cases = ", ".join(f"`{flip.case}`" for flip in flips if flip.case)
            why = [f"- {reason}" for reason in _reasons(contract, {f.case for f in flips}, old, new)]
            parts += [f"#### {link(catalogue()[contract])}", statement, cases and f"In: {cases}.", "\n".join(why)]
            parts.append(f"**Write:** {hint}")
    return "\n\n".join(filter(None, parts if verdict.flips else [*parts, "Nothing that a contract speaks of changes."]))


def _reasons(contract: str, cases: set[str], *cells: Cell) -> list[str]:
    entries = [e for e in expectations().entries if e.contract == contract and (not e.case or e.case in cases)]
    spoken = [e for e in entries if [e.covers(c.header.warp, "cpu") for c in cells].count(True) == 1]
    return list(dict.fromkeys(f"{report.reach(entry)}: {entry.reason}" for entry in spoken))


def everywhere() -> str:
    """What every release gets wrong."""
    found: dict[str, list[Entry]] = {}
    for entry in expectations().deviation:
        if entry.outcome != "unsupported" and all(entry.covers(version, "cpu") for version in releases()):
            found.setdefault(entry.contract, []).append(entry)
    return "\n\n".join(_pitfall(catalogue()[contract], entries, "") for contract, entries in found.items())


def _pitfall(contract: Contract, entries: list[Entry], where: str) -> str:
    """What must hold, what happens where it does not, what to write."""
    told = dict.fromkeys(f"- {report.reach(e)}{f', `{e.case}`' if e.case else ''}: {e.reason}" for e in entries)
    parts = [f"### {link(contract, where)}", contract.statement, "\n".join(told), f"**Write:** {contract.hint}"]
    return "\n\n".join(filter(None, parts))


def family(name: str) -> str:
    """The pitfalls of a family: for each contract what must hold, what becomes of it, what to write."""
    parts = [f"# Pitfalls: {name}"]
    for kind, meaning in KINDS.items():
        mine = [contract for contract in catalogue().values() if (contract.family, contract.kind) == (name, kind)]
        if mine:
            entries = {c.id: [e for e in expectations().entries if e.contract == c.id] for c in mine}
            parts.append(f"## {kind.capitalize()}s\n\nEach is {meaning}.")
            parts += [_pitfall(contract, entries[contract.id], "../../") for contract in mine]
    return "\n\n".join(parts)


def contract_pages() -> Iterator[tuple[str, str]]:
    """A page a contract, as `tapecheck explain` shows it."""
    judged = [record for cell in matrix().cells if cell.footer for record in cell.records]
    for contract in catalogue().values():
        mine = [record for record in judged if record.contract == contract.id and record.outcome != "not-run"]
        yield f"contracts/{contract.family}/{contract.id}.md", page(contract, mine, expectations())


def slots() -> str:
    """The flat layout: the published name of each place and the one here."""
    named = ((f"`{s.documented}`", f"`{s.name}`", s.kind.value, "yes" if s.differentiable else "") for s in LAYOUT)
    lines = ((at, *names) for at, names in enumerate(named))
    return rows("place | published | here | an entry is a | differentiable", lines)


PUBLISHED_PLACES = (
    *("queryParticles", "operationProperties", "domain", "queryVolumes", "referenceVolumes"),
    *("adjacency", "referenceParticles", "crkState", "gradHState", "renormalizationState"),
)


def places() -> str:
    """The positional state."""
    names = enumerate(zip(PUBLISHED_PLACES, STATE_PLACES, strict=True))
    return rows("place | published | here", ((at, f"`{theirs}`", f"`{ours}`") for at, (theirs, ours) in names))


def command_line() -> str:
    """What `--help` says, without the table of commands, which cuts their sentences short."""
    command = typer.main.get_command(cli.app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="tapecheck").partition("\n")[2]
    return re.sub(r"\*\*Commands\*\*:.*?(?=\n## )", "", text, count=1, flags=re.DOTALL)


def table_in(name: str, head: str) -> tuple[list[str], list[list[str]]]:
    """The head and the lines of the first table of a page of docs/ that begins so."""
    found = re.search(
        rf"^\| {re.escape(head)}.*?(?=\n\n)", (ROOT / "docs" / name).read_text(), re.MULTILINE | re.DOTALL
    )
    if not found:
        raise ValueError(f"docs/{name} has no table that begins with `| {head}`")
    first, _, *lines = ([cell.strip() for cell in line.strip("|").split("|")] for line in found[0].splitlines())
    return first, lines


def figure(groups: dict[str, dict[str, float]], label: str) -> str:
    """Bars by name, group by group, each group to a scale of its own."""
    parts = []
    for caption, ratios in groups.items():
        widest = max(ratios.values())
        parts.append(f"<figcaption>{caption}</figcaption>")
        parts += [
            f'<div>{name}<span><i style="width: {85 * ratio / widest:.1f}%"></i>{ratio:.2f}</span></div>'
            for name, ratio in ratios.items()
        ]
    return f'<figure class="bars" aria-label="{label}">{"".join(parts)}</figure>'


def bars() -> str:
    """The times of the largest case as multiples of sphweft's, drawn from the table of the page itself."""
    head, lines = table_in("performance-of-the-core.md", "operator | particles |")
    drawn: dict[tuple[str, str, str], dict[str, float]] = {}
    operator = count = ""
    for line in lines:
        operator, count = line[0] or operator, line[1] or count
        times = {name: float(cell.replace(",", "")) for name, cell in zip(head[3:], line[3:], strict=True) if cell}
        drawn[operator, count, line[2]] = {name: time / times["sphweft"] for name, time in times.items()}
    largest = {f"{key[0]}, {key[2]}": ratios for key, ratios in drawn.items() if key[1] == count}
    return figure(largest, f"times relative to sphweft, {count} particles")


def across() -> str:
    """The times of releases as multiples of the newest one's, drawn from the table of the page itself."""
    head, lines = table_in("performance-across-releases.md", "benchmark | 1.")
    base, names = head[1].partition(" ")[0], [cell.partition(" / ")[0] for cell in head[2:-1]]
    ratios = [[float(re.sub(r"\*| .*", "", cell)) for cell in line[2:-1]] + [1.0] for line in lines]
    drawn = {line[0]: dict(zip([*names, base], found, strict=True)) for line, found in zip(lines, ratios, strict=True)}
    return figure(drawn, f"times relative to Warp {base}")


FACTS: dict[str, Callable[[], Any]] = {
    "across": across,
    "bars": bars,
    "bridge contracts": lambda: sum(contract.judged == "bridge" for contract in catalogue().values()),
    "checks": lambda: len(REGISTRY),
    "command line": command_line,
    "contracts": lambda: len(catalogue()),
    "different faults": lambda: _plants("faults"),
    "different near misses": lambda: _plants("near_misses"),
    "effects": lambda: rows("effect | meaning", MEANING.items()),
    "everywhere": everywhere,
    "hunted": lambda: len(trial.TABLE),
    "kept": kept,
    "newest": lambda: releases()[-1],
    "oldest": lambda: releases()[0],
    "places": places,
    "releases": lambda: len(releases()),
    "reliability": reliability,
    "since": since,
    "slots": slots,
    "standing": standing,
    "subjects": lambda: ", ".join(f"`{name}`" for name in KNOWN),
}


def on_config(config: MkDocsConfig) -> None:
    """The contracts, family by family, and the decisions in the navigation."""
    sections = {title: pages for entry in config.nav or [] for title, pages in entry.items()}
    for name in FAMILIES:
        mine = [f"contracts/{c.family}/{c.id}.md" for c in catalogue().values() if c.family == name]
        sections["Pitfalls"].append({name: [f"contracts/{name}/index.md", *mine]})
    decisions = sorted((ROOT / "docs/decisions").glob("0*.md"))
    sections["Decisions"] += [f"decisions/{path.name}" for path in decisions]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages that are made."""
    made = dict(contract_pages()) | {f"contracts/{name}/index.md": family(name) for name in FAMILIES}
    with TemporaryDirectory() as folder:
        for path in report.write_matrix(matrix(), Path(folder)):
            made["matrix.md" if path.suffix == ".md" else f"conformance/{path.name}"] = path.read_text()
    made["matrix.md"] = made["matrix.md"].replace("\n\n", f"\n\n{EVIDENCE}\n\n", 1)
    for path in sorted({path for file in files.documentation_pages() for path in _outside(file)}):
        made[_source(path)] = _listing(path)
    for uri, text in made.items():
        files.append(File.generated(config, uri, content=text))
    return files


EVIDENCE = "[The same, cell by cell with what was expected and observed](conformance/matrix.html)."
NOTE = "> In the repository parts of this page are missing: `nox -s docs` fills them in.\n\n"
LINK = re.compile(r"(\]\()([^)#:\s]+)(?=[)#])")


def _outside(file: File) -> Iterator[str]:
    for _, target in LINK.findall(file.content_string):
        path = os.path.normpath(os.path.join("docs", os.path.dirname(file.src_uri), target))
        if not path.startswith("docs/"):
            yield path


def _source(path: str) -> str:
    return f"source/{path.removesuffix('.md')}.md"


def _listing(path: str) -> str:
    text = (ROOT / path).read_text()
    return text if path.endswith(".md") else f"# {path}\n\n```{Path(path).suffix[1:]}\n{text.rstrip()}\n```\n"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fills in the facts, drops the note that they are missing, points links that leave docs/ to their page here."""
    given = markdown.replace(NOTE, "")
    text = re.sub(r"<!-- generated: ([\w ]+) -->", lambda found: str(FACTS[found[1]]()), given)

    def here(found: re.Match[str]) -> str:
        folder = os.path.dirname(page.file.src_uri)
        path = os.path.normpath(os.path.join("docs", folder, found[2]))
        return found[0] if path.startswith("docs/") else found[1] + os.path.relpath(_source(path), folder or ".")

    return LINK.sub(here, text)
