"""The hunt: its table, its judgement and its report."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tapecheck.contract import catalogue
from tapecheck.hunt import report, running, trial
from tapecheck.hunt.running import Finding


@pytest.fixture(scope="module")
def trials() -> dict[str, trial.Trial]:
    return {entry.name: entry for group in trial.GROUPS for entry in trial.load(group)}


def test_causes_name_trials_and_contracts(trials):
    for cause in report.causes():
        assert cause.row in catalogue()
        assert set(cause.kernels) <= trials.keys()


def test_every_trial_is_described_and_draws_the_same_inputs_again(trials):
    for name, entry in trials.items():
        assert entry.summary, name
        again = entry.drawn()
        assert all(np.array_equal(values, again.inputs[key]) for key, values in entry.inputs.items())


def test_judges_right_and_wrong(trials):
    assert running.judge(trials["neighbour-squares"], "cpu").outcome == "right"
    wrong = running.judge(trials["sum-times-input"], "cpu")
    assert wrong.outcome == "wrong"
    assert wrong.gradient["x.grad"] != wrong.derivative["x.grad"]


def test_report_counts_and_complains_of_wrong_kernels_without_a_cause(tmp_path):
    findings = [
        Finding("prefix-sum", "loops", "adds", "1.19.0", "cpu", "right"),
        Finding("two-sums", "loops", "adds", "1.19.0", "cpu", "wrong", {"x.grad": [1.0]}, {"x.grad": [2.0]}),
    ]
    lines = b"\n".join(msgspec.json.encode(finding) for finding in findings)
    (tmp_path / "1.19.0-cpu.jsonl").write_bytes(lines)
    amiss = report.write(tmp_path, tmp_path / "hunt.md")
    page = (tmp_path / "hunt.md").read_text()
    assert "two-sums is wrong, and causes.toml does not say why" in amiss
    assert "| 1.19.0 | cpu | 2 | 1 | 1 |" in page
    assert "✗ | x.grad 1 | x.grad 2 |" in page
    assert "- `loops` prefix-sum: " in page
