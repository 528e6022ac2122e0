"""The commands, and errors that help."""

import pytest
from typer.testing import CliRunner

from tapecheck import __version__
from tapecheck.cli import app
from tapecheck.releases import Overlay
from tapecheck.results import cell_path, header, write
from tapecheck.speed import Comparison, Speed, estimate, suite


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


@pytest.fixture
def timed(monkeypatch):
    """Has every release take as long as its number says, and one benchmark fail on 3.0."""

    def compare(base, candidate, device):
        times = [float(warp.version) for warp in (base, candidate)]
        rows = [Comparison(benchmark="launch", what="a launch", estimate=estimate(*([time] * 4 for time in times)))]
        if candidate.version == "3.0":
            rows[0] = Comparison(benchmark="launch", what="a launch", problem="the worker ended [1]")
        return Speed(
            base=base.version,
            candidate=candidate.version,
            device=device,
            margin=0.1,
            confidence=0.99,
            suite=suite(),
            comparisons=rows,
        )

    monkeypatch.setattr("tapecheck.cli.overlay", lambda wanted, store: Overlay(wanted, {}))
    monkeypatch.setattr("tapecheck.speed.compare", compare)


def test_bench_shows_every_comparison_with_the_base(invoke, timed, tmp_path):
    first = invoke("bench", "--base", "2.0", "2.0", "1.0")
    assert first.exit_code == 0
    assert "1.00 (1.00 to 1.00) not slower" in first.stdout and "0.50 (0.50 to 0.50) not slower" in first.stdout
    assert str(tmp_path / "build/bench/1.0-against-2.0-cpu.json") in first.stdout
    later = invoke("bench", "--base", "2.0", "4.0")
    assert later.exit_code == 0, "slower is a finding about Warp, not a failure"
    assert "2.00 (2.00 to 2.00) slower" in later.stdout
    assert "0.50 (0.50 to 0.50) not slower" in later.stdout


def test_bench_fails_where_it_could_not_time(invoke, timed):
    result = invoke("bench", "--base", "2.0", "3.0")
    assert result.exit_code == 1
    assert "not timed: Warp 3.0: launch: the worker ended [1]" in result.stdout


@pytest.mark.parametrize(("options", "shown"), [([], True), (["--no-speed"], False)])
def test_speed_has_no_part_in_the_status_of_an_upgrade(
    invoke, timed, monkeypatch, make_record, make_cell, tmp_path, options, shown
):
    def cell(warp, output, device, workers):
        return make_cell(make_record(warp=warp.version), warp=warp.version)

    monkeypatch.setattr("tapecheck.cli._fresh_cell", cell)
    for new in ("4.0", "3.0"):  # slower, and one that cannot be timed
        result = invoke("upgrade", "2.0", new, *options)
        assert result.exit_code == 0
        assert "No guarantee broke." in result.stdout
    assert ("slower" in result.stdout) is shown
    folder = tmp_path / "build/conformance"
    assert ("| launch | a launch | 2.00 |" in (folder / "upgrade-2.0-4.0.md").read_text()) is shown
    assert ('"verdict": "slower"' in (folder / "upgrade-2.0-4.0.json").read_text()) is shown


def test_list(invoke):
    text = invoke("list", "struct").stdout
    assert "struct.lazy-read" in text
    assert "tape.zero" not in text
