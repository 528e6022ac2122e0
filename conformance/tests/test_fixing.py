"""`--fix` writes what was observed and keeps comments and reasons."""

import pytest

from tapecheck.expectations import Expectations, load
from tapecheck.expectations.fixing import CannotFix, fix
from tapecheck.matrix import Matrix
from tapecheck.releases import releases

FILE = """\
# The head of the file.

# About zero.
[[deviation]]
contract = "tape.zero"
when = "<1.13"
outcome = "fail"
message = "observed 1"
reason = "zero did nothing"

# About the last write.
[[deviation]]
contract = "retain.last-write-wins"
when = "<1.12"
outcome = "fail"
message = "observed [2"
reason = "the old adjoint"

# About nesting.
[[pin]]
contract = "tape.nested"
value = { outer = "kept" }
reason = "as it is"
"""

ALL = releases()


@pytest.fixture
def matrix(make_record, make_cell):
    """Every release: zero passes from 1.11 on, the last write from 1.13 on, nesting changed with 1.16."""

    def make(versions=ALL):
        cells = []
        for version in versions:
            at = releases().index(version)
            cells.append(
                make_cell(
                    make_record("tape.zero", warp=version, outcome="fail" if at < 1 else "pass", message="observed 1"),
                    make_record(warp=version, outcome="fail" if at < 3 else "pass", message="expected 0, observed [2]"),
                    make_record("tape.nested", warp=version, observed={"outer": "kept" if at < 6 else "lost"}),
                    warp=version,
                )
            )
        return Matrix(cells, [])

    return make


def settled(path, matrix):
    expectations = load(path)
    return [expectations.settle(record).expectation for record in matrix.records]


def test_the_file_comes_to_say_what_was_observed(tmp_path, matrix):
    path = tmp_path / "warp.toml"
    path.write_text(FILE)
    done = fix(path, load(path), matrix())
    text = path.read_text()
    for comment in ("# The head of the file.", "# About zero.", "# About the last write.", "# About nesting."):
        assert comment in text
    assert 'when = "<1.11.1"' in text and "zero did nothing" in text
    assert 'when = "<1.13.0"' in text and "the old adjoint" in text
    assert 'when = ">=1.16.0"' in text and text.count("TODO: say why") == 1
    assert any("removed tape.zero when <1.13" in line for line in done)
    path.write_text(text.replace("TODO: say why", "it changed"))
    assert set(settled(path, matrix())) == {"expected"}
    assert fix(path, load(path), matrix()) == []


def test_a_file_that_holds_is_left_alone(tmp_path, matrix):
    path = tmp_path / "warp.toml"
    path.write_text(FILE)
    fix(path, load(path), matrix())
    path.write_text(path.read_text().replace("TODO: say why", "it changed"))
    before = path.read_text()
    assert fix(path, load(path), matrix()) == []
    assert path.read_text() == before


def test_a_missing_release_or_a_partial_run_is_refused(tmp_path, matrix):
    path = tmp_path / "warp.toml"
    path.write_text(FILE)
    with pytest.raises(CannotFix, match=r"no result for 1\.10\.1"):
        fix(path, Expectations(), matrix(releases()[1:]))
    partial = matrix()
    partial.cells[0].header.full = False
    with pytest.raises(CannotFix, match="a partial run says nothing about the rest"):
        fix(path, Expectations(), partial)
    assert path.read_text() == FILE
