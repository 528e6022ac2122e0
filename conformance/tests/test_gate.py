"""The gate of the benchmarks: what closes it, and what does not."""

import json
import math
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import gate
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
ROUNDS, TRIES = gate.ROUNDS, 200


def quiet(rng):
    return rng.normal(0, 0.01, ROUNDS)


def heavy_tails(rng):
    return 0.01 * rng.standard_t(2, ROUNDS)


def verdicts(noise, slowdown):
    """How often a benchmark gets each verdict, in percent."""
    rng, found = np.random.default_rng(0), Counter()
    for _ in range(TRIES):
        base = np.exp(rng.normal(-10, 0.3, ROUNDS))
        times = [list(base * factor * np.exp(noise(rng))) for factor in (1.0, 1 + slowdown, 1.0)]
        found[gate.compared("it", times).verdict] += 1
    return {verdict: 100 * count / TRIES for verdict, count in found.items()}


@pytest.mark.parametrize("noise", [quiet, heavy_tails])
@pytest.mark.parametrize(
    ("slowdown", "verdict", "at_least", "worse_at_most"),
    [(0.0, "not worse", 80, 0), (0.03, "inconclusive", 60, 0), (0.05, "inconclusive", 80, 0), (0.30, "worse", 95, 100)],
)
def test_rates(noise, slowdown, verdict, at_least, worse_at_most, capsys):
    found = verdicts(noise, slowdown)
    with capsys.disabled():
        print(f"\n{noise.__name__}, slower by {slowdown:.0%}: {found}")
    assert found.get(verdict, 0) >= at_least
    assert found.get("worse", 0) <= worse_at_most


def test_a_machine_that_is_not_fit_judges_nothing():
    base = [1.0] * ROUNDS
    slower = [1.3] * ROUNDS
    assert gate.compared("it", [base, slower, base]).verdict == "worse"
    assert gate.compared("it", [base, slower, slower]).verdict == "inconclusive"


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.0])
def test_a_baseline_that_is_no_number(bad):
    with pytest.raises(ValueError, match="finite and above 0"):
        gate.compared("it", [[bad] * ROUNDS, [1.0] * ROUNDS, [1.0] * ROUNDS])


def written(path, rows):
    path.write_text(json.dumps({"benchmarks": rows}))
    return gate.history(path)


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([("a", {"median": 1.0}), ("b", {"median": 2.0})], None),
        ([("a", {"median": 1.0})], "b is missing, renamed, skipped or disabled"),
        ([("a", {"median": 1.0}), ("c", {"median": 2.0})], "c is not in budgets.toml"),
        ([("a", {"median": 1.0}), ("b", None)], "b has no time, but None"),
        ([("a", {"median": 1.0}), ("b", {"median": math.nan})], "b has no time, but nan"),
    ],
)
def test_a_history_must_be_complete(tmp_path, rows, complaint):
    found = written(tmp_path / "h.json", [{"name": f"test_core[{name}]", "stats": stats} for name, stats in rows])
    complaints = gate.incomplete(["a", "b"], found, "history")
    assert complaints == [] if complaint is None else any(complaint in each for each in complaints)


@pytest.mark.parametrize("text", ["", "[]", "null", '{"benchmarks": null}', '{"benchmarks": [{}]}', '{"benchmarks"'])
def test_benchmarks_that_were_disabled(tmp_path, text):
    (tmp_path / "empty.json").write_text(text)
    assert len(gate.incomplete(["a", "b"], gate.history(tmp_path / "empty.json"), "history")) == 2


def test_every_figure_has_a_budget():
    counted = {"a": {"launches": 1, "readbacks": 0}}
    assert gate.overspent(counted, counted) == []
    assert gate.overspent({"a": {"launches": 1}}, counted) == ["a: readbacks None → 0"]
    assert gate.overspent({"a": {"launches": 1, "readbacks": 0, "views": 0}}, counted) == ["a: views 0 → None"]


def judged(*arguments):
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/core/gate.py"), *arguments], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--candidate", "nowhere"], "nowhere holds no packages/core/src/sphweft"),
        (["--base", "docs"], "docs holds no packages/core/src/sphweft"),
        (["--base", "nothing"], "nothing is neither a commit nor a folder"),
        (["--only", "density-value-17"], "--only: no benchmark is called density-value-17"),
    ],
)
def test_what_cannot_be_judged_is_refused(arguments, problem, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["gate.py", *arguments])
    with pytest.raises(SystemExit, match="2"):
        gate.main()
    assert problem in capsys.readouterr().err


def test_an_unreadable_budget_is_refused(tmp_path, monkeypatch, capsys):
    (tmp_path / "budgets.toml").write_text("a = {")
    monkeypatch.setattr(gate.read_budgets, "__defaults__", (tmp_path / "budgets.toml",))
    monkeypatch.setattr(sys, "argv", ["gate.py", "--counts"])
    with pytest.raises(SystemExit, match="2"):
        gate.main()


def planted(folder, line, behind=""):
    """A copy of the core in which each forward pass begins with that line, and its module ends so."""
    source = folder / "packages/core/src"
    shutil.copytree(ROOT / "packages/core/src", source)
    file = source / "sphweft/bridge/launch.py"
    start = "        refuse_tracing()\n        device = _device_of(tensors)\n"
    text = file.read_text()
    assert text.count(start) == 1
    file.write_text(text.replace(start, f"{start}        {line}\n") + behind)
    return folder


def test_a_worker_that_dies_closes_the_gate(tmp_path):
    status, said = judged("--counts", "--candidate", str(planted(tmp_path, "os._exit(3)")))
    assert status == 1
    assert "ended with status 3" in said


def test_a_broken_candidate_writes_no_budgets(tmp_path):
    before = gate.BUDGETS.read_text()
    status, said = judged("--counts", "--write", "--candidate", str(planted(tmp_path, "os._exit(3)")))
    assert status == 1, said
    assert gate.BUDGETS.read_text() == before


def test_counts_are_those_of_the_budgets():
    assert judged("--counts")[0] == 0


AGAIN = """spare = [torch.empty(shape, dtype=scalar_dtype(element)) for element, shape in self.outputs]
        self._forward(self._filled(tensors)[0], self.threads, [_descriptor(each) for each in spare], None)"""


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (AGAIN, "launches 1 → 2"),
        ("tensors[0].sum().item()", "readbacks 0 → 1"),
    ],
    ids=["launch", "item"],
)
def test_a_planted_step_closes_the_gate(tmp_path, line, complaint):
    status, said = judged("--counts", "--candidate", str(planted(tmp_path, line)))
    assert status == 1
    assert f"density-value-16: {complaint}" in said


SLOWER = """
import time
def slower(self, tensors, run=Launcher.run):
    begin = time.perf_counter()
    made = run(self, tensors)
    end = time.perf_counter()
    while time.perf_counter() < end + 0.3 * (end - begin):
        pass
    return made
Launcher.run = slower
"""


def test_a_planted_slowdown_of_30_percent_closes_the_gate(tmp_path):
    slow = planted(tmp_path, "pass", SLOWER)
    arguments = ("--base", str(ROOT), "--candidate", str(slow), "--only", "density-value-4096")
    tries = (judged(*arguments) for _ in range(3))  # on a busy machine one may be inconclusive
    assert any(status == 1 and "density-value-4096 is worse" in said for status, said in tries)
