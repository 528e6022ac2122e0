"""May we upgrade? What two families of contracts say of the step from one Warp release to another.

    python examples/upgrade_check.py 1.12.1 1.13.0 retain-grad struct

Runs `tapecheck upgrade`, reads the verdict that it writes, and ends as a pipeline would: with status 1 where a
guarantee broke. The releases are kept in `build/warp`, so that only the first run needs a network.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import matplotlib
import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tapecheck.results import read

matplotlib.use("Agg")
from matplotlib import pyplot as plt

BUILD = Path(__file__).parents[1] / "build"
RESULTS, PICTURE = BUILD / "examples/upgrade", BUILD / "examples/upgrade_check.png"
COLORS = {"pass": "tab:green", "fail": "tab:red", "unsupported": "0.8"}
ASKED = ("1.12.1", "1.13.0", "retain-grad", "struct")


def judged(old: str, new: str, *names: str) -> dict:
    """The verdict of an upgrade, as `tapecheck upgrade` writes it."""
    command = [sys.executable, "-m", "tapecheck.cli", "upgrade", old, new, *names, "--no-speed"]
    with Progress() as progress:
        progress.add_task(f"Warp {old} and {new} are judged", total=None)
        done = subprocess.run([*command, "-o", RESULTS, "--store", BUILD / "warp"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stdout + done.stderr)
    return json.loads((RESULTS / f"partial/upgrade-{old}-{new}-cpu.json").read_text())


def print_flips(verdict: dict) -> None:
    columns = ("contract", "effect", verdict["old"], verdict["new"], "cases")
    table = Table(*columns, title=f"Warp {verdict['old']} → {verdict['new']}")
    rows = Counter(
        tuple(flip[k] for k in ("contract", "effect", "old_outcome", "new_outcome")) for flip in verdict["flips"]
    )
    for row, cases in rows.items():
        table.add_row(*row, str(cases))
    Console().print(table)


def draw(releases: list[str]) -> None:
    """A bar for each family and release, by outcome."""
    cells = {release: read(RESULTS / f"partial/warp-{release}-cpu.jsonl").records for release in releases}
    families = sorted({record.family for records in cells.values() for record in records})
    bars = {
        f"{family}, Warp {release}": [record.outcome for record in records if record.family == family]
        for family in families
        for release, records in cells.items()
    }
    figure, panel = plt.subplots(figsize=(8, 0.7 + 0.5 * len(bars)), layout="constrained")
    left = np.zeros(len(bars), int)
    present = {outcome for outcomes in bars.values() for outcome in outcomes}
    for outcome in sorted(present, key=lambda outcome: [*COLORS, outcome].index(outcome)):
        widths = np.array([outcomes.count(outcome) for outcomes in bars.values()])
        drawn = panel.barh(list(bars), widths, left=left, color=COLORS.get(outcome, "tab:orange"), label=outcome)
        panel.bar_label(drawn, [width or "" for width in widths], label_type="center")
        left += widths
    panel.invert_yaxis()
    panel.set(xlabel="checks")
    panel.legend()
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=100)
    print(f"picture: {PICTURE}")


def main() -> None:
    verdict = judged(*(sys.argv[1:] or ASKED))
    print_flips(verdict)
    draw([verdict["old"], verdict["new"]])
    if not sys.argv[1:]:
        (flip,) = (flip for flip in verdict["flips"] if flip["contract"] == "retain.last-write-wins")
        assert (flip["effect"], flip["old_outcome"], flip["new_outcome"]) == ("repaired", "fail", "pass")
        assert "y.grad: Warp 1.12.1: [1, 1, 1, 1]; Warp 1.13.0: [0, 0, 0, 0]" in flip["changes"]
    print("safe" if verdict["safe"] else "not safe: a guarantee broke, or something was not answered")
    sys.exit(not verdict["safe"])


if __name__ == "__main__":
    main()
