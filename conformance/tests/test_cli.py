"""The commands, and errors that help."""

import pytest
from typer.testing import CliRunner

from tapecheck import __version__
from tapecheck.cli import app
from tapecheck.results import cell_path, header, write


@pytest.fixture
def invoke(monkeypatch, tmp_path):
    """Runs a command in an empty folder, on a terminal wide enough to keep a sentence on one line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tapecheck.cli.console._width", 500)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def results(tmp_path, make_record):
    """A folder with results of two releases between which the last write was repaired."""
    folder = tmp_path / "results"
    seen = {"1.12.1": {"outcome": "fail", "observed": {"x_a.grad": [2.0]}}, "1.13.0": {"observed": {"x_a.grad": [0.0]}}}
    for version, changes in seen.items():
        message = "x_a.grad: expected [0, 0, 0, 0], observed [2, 2, 2, 2]; y.grad: expected [0, 0, 0, 0], observed [1"
        record = make_record(warp=version, expected={"x_a.grad": [0.0]}, message=message, **changes)
        head = header(subject="warp", warp=version, device="cpu", full=False)
        write(cell_path(folder, "warp", version, "cpu"), head, [record], 1.0)
    return folder


def test_version(invoke):
    assert invoke("--version").stdout == f"tapecheck {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["run", "retain-gard"], "unknown family or contract 'retain-gard'; did you mean retain-grad"),
        (["run", "tape.zerro"], "did you mean tape.zero"),
        (["list", "strct"], "did you mean struct"),
        (["explain", "retain.last-write"], "unknown contract 'retain.last-write'; did you mean retain.last-write-wins"),
        (["run", "--warp", "newest"], "neither a release number, a wheel file nor a folder"),
        (["matrix"], "no result in build/conformance; make one with `tapecheck run --warp"),
        (["matrix", "absent.jsonl"], "absent.jsonl: No such file or directory"),
        (["run", "--expectations", "absent.toml"], "absent.toml"),
    ],
)
def test_errors_that_help(invoke, arguments, problem):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert problem in result.stdout


def test_matrix_writes_three_files_and_says_where(invoke, results):
    result = invoke("matrix", "--output", results)
    assert result.exit_code == 1
    assert "partial: warp 1.12.1 cpu judged a part of the contracts" in result.stdout
    for name in ("matrix.html", "matrix.md", "matrix.json"):
        assert str(results / name) in result.stdout
    assert "retain.last-write-wins" in (results / "matrix.html").read_text()
    assert "| retain.last-write-wins | ✗ | ✓ |" in (results / "matrix.md").read_text()


def test_a_missing_cell_is_shown(invoke, results):
    result = invoke("matrix", "--output", results, "--plan", "1.12.1,1.13.0,1.14.0")
    assert "missing: warp-1.14.0-cpu was planned and has no result" in result.stdout


def test_fix_refuses_a_partial_run(invoke, results, tmp_path):
    path = tmp_path / "warp.toml"
    path.write_text("")
    result = invoke("matrix", "--output", results, "--fix", "--expectations", path)
    assert result.exit_code == 2
    assert "a partial run says nothing about the rest" in result.stdout


def test_explain_reads_well(invoke, results):
    text = invoke("explain", "retain.last-write-wins", "--output", results).stdout
    parts = ("MUST", "What to write: ", "Warp's issue 1062", "1.12.1", "observed [2, 2, 2, 2]", "Known to differ")
    for part in (*parts, "The check", "def last_write_wins", "It has been seen to fail"):
        assert part in text


def test_explain_without_results(invoke):
    assert "No result of a run lies here" in invoke("explain", "retain.last-write-wins").stdout
    assert "untested" in invoke("explain", "capture.replay").stdout


def test_list(invoke):
    text = invoke("list", "struct").stdout
    assert "struct.lazy-read" in text
    assert "tape.zero" not in text
