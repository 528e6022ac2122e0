"""The hunt's report: how many kernels came to what on each release, and what is wrong where, and why."""

from __future__ import annotations

import math
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from packaging.version import Version

from tapecheck.contract import catalogue
from tapecheck.hunt.running import Finding, Outcome, read
from tapecheck.hunt.trial import GROUPS, SEED, TABLE, load

COLUMNS: dict[Outcome, str] = {
    "right": "right",
    "wrong": "wrong",
    "build": "does not compile",
    "crash": "crashed",
    "timeout": "no answer",
    "error": "raised",
    "inconclusive": "inconclusive",
}
MARKS: dict[Outcome, str] = {
    "right": "✓",
    "wrong": "✗",
    "build": "–",
    "crash": "💥",
    "timeout": "⏱",
    "error": "!",
    "inconclusive": "?",
}


class Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why kernels are wrong.

    Attributes:
        kernels: their names.
        reason: what backward does there.
        safe: what to write instead.
        row: the contract that covers it.
    """

    kernels: tuple[str, ...]
    reason: str
    safe: str
    row: str


def causes() -> list[Cause]:
    """The known causes, in the report's order."""
    text = (files("tapecheck.hunt") / "causes.toml").read_bytes()
    return msgspec.toml.decode(text, type=dict[str, list[Cause]])["cause"]


def write(folder: Path, path: Path) -> list[str]:
    """Merges the files of a folder into a Markdown report.

    Args:
        folder: where the findings of each release lie.
        path: the report.

    Returns:
        What is amiss: a wrong kernel without a cause, a cause that names a kernel or a contract that is not there.
    """
    by_release = {}
    for file in folder.glob("*.jsonl"):
        findings = read(file)
        by_release[Version(findings[0].warp), findings[0].device] = {finding.name: finding for finding in findings}
    releases = dict(sorted(by_release.items()))
    for group in GROUPS:
        load(group)
    names = {name: finding for release in releases.values() for name, finding in release.items()}
    wrong = [name for name in names if any(r[name].outcome != "right" for r in releases.values() if name in r)]
    known = {name: cause for cause in causes() for name in cause.kernels}
    lines = [*_head(len(names)), *_counts(releases), "", "## What is not right everywhere", ""]
    lines.append(" · ".join(f"{mark} {COLUMNS[outcome]}" for outcome, mark in MARKS.items()))
    for cause in causes():
        shown = [name for name in cause.kernels if name in wrong]
        if shown:
            lines += ["", f"### {cause.row}", "", f"{cause.reason} **Safe:** {cause.safe}", ""]
            lines += _table(shown, releases)
    rest = [name for name in wrong if name not in known]
    if rest:
        lines += ["", "### Without a known cause", "", *_table(rest, releases)]
    lines += ["", "## What is right everywhere", ""]
    lines += [
        f"- `{f.group}` {name}: {TABLE[name].summary}"
        for name, f in sorted(names.items(), key=_group)
        if name not in wrong
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [
        *(f"{name} is wrong, and causes.toml does not say why" for name in rest),
        *(f"causes.toml names {name}, which is not wrong anywhere" for name in known if name not in wrong),
        *(
            f"causes.toml names the contract {c.row}, which does not exist"
            for c in causes()
            if c.row not in catalogue()
        ),
    ]


def _group(entry: tuple[str, Finding]) -> int:
    return GROUPS.index(entry[1].group)


Releases = dict[tuple[Version, str], dict[str, Finding]]


def _head(count: int) -> list[str]:
    return [
        "# The hunt for wrong adjoints",
        "",
        f"{count} small kernels of the kind that particle, grid and mesh code uses, each judged on every release:",
        "the gradients of the tape beside Richardson-extrapolated central differences of the kernel's own values,",
        f"in double precision, on inputs drawn from the seed {SEED}. Where the two differ and differences of another",
        "step do too, the kernel is *inconclusive*. `nox -s hunt` reproduces this page; `tapecheck hunt --warp V`",
        "one release. The reasons below follow from the numbers; only those of `continue-after-add`,",
        "`unrolled-continue` and `remainder` were read in Warp's source or in the code that it generates.",
        "",
    ]


def _counts(releases: Releases) -> list[str]:
    present = [o for o in COLUMNS if any(f.outcome == o for r in releases.values() for f in r.values())]
    lines = [
        "| Warp | device | tried | " + " | ".join(COLUMNS[outcome] for outcome in present) + " |",
        "|---|---|" + "---:|" * (len(present) + 1),
    ]
    for (version, device), findings in releases.items():
        counts = [sum(finding.outcome == outcome for finding in findings.values()) for outcome in present]
        lines.append(f"| {version} | {device} | {len(findings)} | " + " | ".join(map(str, counts)) + " |")
    return lines


def _table(names: list[str], releases: Releases) -> list[str]:
    lines = [
        "| kernel | what it does | " + " | ".join(str(version) for version, _ in releases) + " | observed | true |",
        "|---|---|" + ":-:|" * len(releases) + "---|---|",
    ]
    for name in names:
        found = [findings.get(name) for findings in releases.values()]
        shown = [finding for finding in found if finding and finding.outcome == "wrong"] or [f for f in found if f]
        last = shown[-1]
        marks = [MARKS[finding.outcome] if finding else "·" for finding in found]
        observed = _numbers(last.gradient, last.derivative, 0) or last.message.rpartition(";")[2].replace("\n", " ")
        cells = [
            f"`{last.group}` {name}",
            TABLE[name].summary,
            *marks,
            observed,
            _numbers(last.gradient, last.derivative, 1),
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


def _numbers(gradient: dict[str, Any], derivative: dict[str, Any], side: int) -> str:
    """The first array that differs, at most six of its entries from the first that differs on."""
    for name in derivative:
        sides = ([math.nan if value is None else value for value in values[name]] for values in (gradient, derivative))
        pairs = list(zip(*sides, strict=True))
        differing = [at for at, (a, b) in enumerate(pairs) if not abs(a - b) <= 1e-3 * max(1.0, abs(b))]
        if differing:
            at = min(differing[0], max(0, len(pairs) - 6))
            place = f"[{at}:]" if at else ""
            return f"{name}{place} " + ", ".join(f"{pair[side]:.4g}" for pair in pairs[at : at + 6])
    return ""
