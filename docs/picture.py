"""Draws docs/releases.svg, README's picture: which gradients are right on which release, by the expectation file."""

from html import escape
from pathlib import Path

from tapecheck import contracts
from tapecheck.expectations import default_path, load
from tapecheck.releases import releases

ROWS = {
    "retain.last-write-wins": "two kernels overwrite one array",
    "tape.backward-twice-accumulates[chain]": "backward twice through a chain",
    "retain.copy[copy]": "wp.copy onto an array written before",
    "codegen.array-component[index]": "y[i][0] = …",
    "codegen.array-component[index-added-to]": "y[i][0] += …",
    "codegen.struct-by-fields[in-kernel]": "a local struct filled field by field",
    "codegen.ternary-same-array[flag]": "a[i] if c else a[j]",
    "codegen.unrolled-continue": "continue in a loop of constant length",
    "codegen.break[run-time-length]": "break in a loop",
}
LEFT, TOP, WIDTH, HEIGHT = 300, 62, 54, 26
TARGET = Path(__file__).with_name("releases.svg")


def draw() -> str:
    """The picture as SVG, on a ground of its own, so that it can be read on a dark page too."""
    contracts.load()
    deviations = load(default_path()).deviation
    width, height = LEFT + WIDTH * len(releases()) + 12, TOP + HEIGHT * len(ROWS) + 12
    title = f"Is the gradient right? Warp {releases()[0]} to {releases()[-1]}, CPU"
    head = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="13"'
    lines = [
        f'<svg {head} viewBox="0 0 {width} {height}">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#fff"/>',
        f'<text x="12" y="24" font-size="15" fill="#222">{title}</text>',
    ]
    for column, version in enumerate(releases()):
        x = LEFT + WIDTH * column
        lines.append(f'<text x="{x + WIDTH // 2}" y="{TOP - 10}" text-anchor="middle" fill="#222">{version}</text>')
    for row, (name, said) in enumerate(ROWS.items()):
        y = TOP + HEIGHT * row
        contract, _, case = name.rstrip("]").partition("[")
        lines.append(f'<text x="12" y="{y + 17}" fill="#222">{escape(said)}</text>')
        for column, version in enumerate(releases()):
            x = LEFT + WIDTH * column
            wrong = any(entry.speaks_of(contract, case) and entry.covers(version, "cpu") for entry in deviations)
            fill, sign = ("#c0392b", "✗") if wrong else ("#2e7d4f", "✓")
            lines.append(f'<rect x="{x}" y="{y}" width="{WIDTH - 3}" height="{HEIGHT - 3}" rx="3" fill="{fill}"/>')
            lines.append(f'<text x="{x + WIDTH // 2 - 1}" y="{y + 17}" text-anchor="middle" fill="#fff">{sign}</text>')
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    TARGET.write_text(draw(), encoding="utf-8")
    print(TARGET)
