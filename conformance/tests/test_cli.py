"""The commands, and errors that help."""

import pytest
from typer.testing import CliRunner

from tapecheck import __version__
from tapecheck.cli import app
from tapecheck.releases import Overlay, releases
from tapecheck.results import cell_path, header, installed_version, read, write
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
    warp, torch = installed_version("warp-lang"), installed_version("torch")
    assert invoke("--version").stdout == f"tapecheck {__version__}, Warp {warp}, torch {torch}\n"


def test_an_interruption_is_said(invoke, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("tapecheck.cells.run", interrupted)
    done = invoke("run", "retain.last-write-wins")
    assert done.exit_code == 130
    assert "interrupted: a result that was being written is incomplete, and says so" in done.output


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["run", "retain-gard"], "unknown family or contract 'retain-gard'; did you mean retain-grad"),
        (["run", "tape.zerro"], "did you mean tape.zero"),
        (["list", "strct"], "did you mean struct"),
        (["explain", "retain.last-write"], "unknown contract 'retain.last-write'; did you mean retain.last-write-wins"),
        (["run", "--warp", "newest"], "neither a release number, a wheel file nor a folder"),
        (["run", "--warp", ""], "'' is neither a release number, a wheel file nor a folder"),
        (["upgrade", "", ""], "'' is neither a release number, a wheel file nor a folder"),
        (["run", "--device", "cpux", "tape"], "unknown device 'cpux'; Warp"),
        (["run", "no-such-thing-at-all"], "`tapecheck list` shows all"),
        (["run", "bridge"], "no check of warp matches; `tapecheck list` shows them by family"),
        (["run", "tape", "-k", "nomatch"], "no check of warp matches"),
        (["explain", "struct"], "it is a family, `tapecheck list struct` shows its contracts"),
        (["explain", "struct.alias-nothing"], "unknown contract 'struct.alias-nothing'"),
        (["explain", "tape.nested[nonsense]"], "no such case 'tape.nested[nonsense]'; the cases of tape.nested: "),
        (["bisect", "retain.output-zeroed[x]"], "the cases of retain.output-zeroed: "),
        (["matrix", "--plan", "nonsense"], "--plan nonsense: neither a tag, 'all', nor versions by commas"),
        (["matrix", "--output", "file", "cell.jsonl"], "file"),
        (["pages", "--folder", "file"], "file"),
        (["run", "--store", "file", "--warp", "1.19.0"], "file"),
        (["matrix"], "no result in build/conformance; make one with `tapecheck run --warp"),
        (["matrix", "absent.jsonl"], "absent.jsonl: No such file or directory"),
        (["run", "--expectations", "absent.toml"], "absent.toml"),
    ],
)
def test_errors_that_help(invoke, tmp_path, make_record, arguments, problem):
    (tmp_path / "file").write_text("")
    head = header(subject="warp", warp="1.19.0", device="cpu", full=False)
    write(tmp_path / "cell.jsonl", head, [make_record()], 1.0)
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert problem in result.stdout


def test_a_wrong_keyword_leaves_the_earlier_result_alone(invoke, results, tmp_path, capfd):
    path = cell_path(tmp_path / "build/conformance/partial", "warp", installed_version("warp-lang"), "cpu")
    path.parent.mkdir(parents=True)
    path.write_text("kept")
    assert invoke("run", "-k", "nomatch").exit_code == 2
    assert invoke("run", "-k", "(").exit_code not in (0, 1)
    assert "wrong expression for -k: (" in capfd.readouterr().err
    assert path.read_text() == "kept"


@pytest.mark.parametrize("output", ["file", "/proc/nothing"])
def test_a_folder_that_cannot_be_written_is_said_before_the_run(invoke, tmp_path, capfd, output):
    (tmp_path / "file").write_text("")
    assert invoke("run", "tape", "-k", "zero", "--output", output).exit_code not in (0, 1)
    assert "cannot be written" in capfd.readouterr().err


def test_a_device_that_is_not_there(invoke, tmp_path):
    result = invoke("run", "tape", "--device", "cuda:7")
    assert result.exit_code == 1
    (path,) = (tmp_path / "build/conformance/partial").glob("*-cuda7.jsonl")
    assert f"not run on cuda:7: no such CUDA device is present: {path.relative_to(tmp_path)}" in result.stdout
    cell = read(path)
    assert not cell.header.full
    assert {record.family for record in cell.records} == {"tape"}


def test_no_verdict_where_nothing_was_judged(invoke):
    version = installed_version("warp-lang")
    result = invoke("upgrade", version, version, "--device", "cuda:7", "--no-speed")
    assert result.exit_code == 1
    assert "No guarantee broke" not in result.stdout
    assert f"nothing was judged on Warp {version}" in result.stdout


def test_an_upgrade_of_a_part(invoke, tmp_path, capfd):
    version = installed_version("warp-lang")
    result = invoke("upgrade", version, version, "retain.last-write-wins", "--no-speed")
    assert result.exit_code == 0
    assert f"Warp {version} → {version} on cpu: retain.last-write-wins" in result.stdout
    assert (tmp_path / f"build/conformance/partial/upgrade-{version}-{version}-cpu.md").is_file()
    assert capfd.readouterr().out == ""  # what pytest says of its progress is for a terminal


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


def test_explain_says_what_it_does(invoke):
    text = " ".join(invoke("explain", "--help").stdout.replace("│", " ").split())
    assert "Explain one contract, such as retain.last-write-wins: what must hold, what each Warp release does" in text
    assert "or with one of its cases, tape.nested[" in text


def test_explain_without_results(invoke):
    text = invoke("explain", "retain.last-write-wins").stdout
    assert "No result of this catalogue lies in the folder of results" in text
    for command in ("nox -s conformance", f"tapecheck run --warp {releases()[-1]} retain.last-write-wins"):
        assert command in text
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
    def cell(warp, output, device, workers, only):
        return make_cell(make_record(warp=warp.version), warp=warp.version)

    monkeypatch.setattr("tapecheck.cli._fresh_cell", cell)
    for new in ("4.0", "3.0"):  # slower, and one that cannot be timed
        result = invoke("upgrade", "2.0", new, *options)
        assert result.exit_code == 0
        assert "No guarantee broke." in result.stdout
    assert ("slower" in result.stdout) is shown
    folder = tmp_path / "build/conformance"
    assert ("| launch | a launch | 2.00 |" in (folder / "upgrade-2.0-4.0-cpu.md").read_text()) is shown
    assert ('"verdict": "slower"' in (folder / "upgrade-2.0-4.0-cpu.json").read_text()) is shown


def test_list(invoke):
    text = invoke("list", "struct").stdout
    assert "struct.lazy-read" in text
    assert "tape.zero" not in text
