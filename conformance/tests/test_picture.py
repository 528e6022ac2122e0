"""README's picture shows what the expectation file says."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_picture_is_up_to_date():
    drawn = runpy.run_path(str(DOCS / "picture.py"))["draw"]()
    assert drawn == (DOCS / "releases.svg").read_text(encoding="utf-8"), "run docs/picture.py"
