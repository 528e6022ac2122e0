"""The rule that calls a release slower, on made-up times; the worker, and what is said where it cannot time."""

import math
from collections import Counter
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from tapecheck import speed, speed_worker
from tapecheck.releases import Overlay, overlay
from tapecheck.speed import MARGIN, Comparison, Plan, Speed, estimate
from tapecheck.workloads import WORKLOADS

ROUNDS, BLOCK = Plan().rounds, Plan().block


def quiet(rng):
    return rng.normal(0, 0.03, ROUNDS)


def heavy_tails(rng):
    """A Cauchy's tails: some rounds are off by any factor."""
    return np.clip(0.03 * rng.standard_cauchy(ROUNDS), -3, 3)


def busy_spells(rng):
    """A quarter of the time, in spells of several rounds, one side is disturbed by half."""
    spells = np.repeat(rng.random(ROUNDS // 5) < 0.25, 5)
    return rng.normal(0, 0.04, ROUNDS) + spells * rng.choice([-0.4, 0.4], ROUNDS)


def verdicts(noise, slowdown, tries=200):
    """How often each verdict comes, in per cent."""
    rng = np.random.default_rng(20240)
    counts: Counter[str] = Counter()
    for seed in range(tries):
        base = np.exp(rng.normal(-10, 0.3, ROUNDS))  # the machine's own ups and downs hit both sides
        candidate = base * (1 + slowdown) * np.exp(noise(rng))
        counts[estimate(list(base), list(candidate), block=BLOCK, seed=seed).verdict] += 1
    return {verdict: 100 * count / tries for verdict, count in counts.items()}


@pytest.mark.parametrize("noise", [quiet, heavy_tails, busy_spells])
@pytest.mark.parametrize("slowdown", [0.0, 0.05])
def test_no_false_alarm(noise, slowdown):
    assert verdicts(noise, slowdown).get("slower", 0) == 0


@pytest.mark.parametrize(("noise", "share"), [(quiet, 100), (heavy_tails, 98), (busy_spells, 85)])
def test_a_slowdown_of_30_percent_is_found(noise, share):
    assert verdicts(noise, 0.30).get("slower", 0) >= share


@pytest.mark.parametrize(("noise", "share"), [(quiet, 99), (heavy_tails, 95), (busy_spells, 85)])
def test_equal_speed_is_seen_as_such(noise, share):
    assert verdicts(noise, 0.0)["not slower"] >= share


@pytest.mark.parametrize("noise", [quiet, heavy_tails, busy_spells])
def test_a_slowdown_as_large_as_the_margin_is_mostly_left_open(noise):
    assert verdicts(noise, MARGIN).get("slower", 0) <= 5


def test_the_interval_holds_the_ratio():
    rng = np.random.default_rng(7)
    base = np.exp(rng.normal(-10, 0.3, ROUNDS))
    found = estimate(list(base), list(base * 1.2 * np.exp(quiet(rng))), block=BLOCK)
    assert found.low < 1.2 < found.high
    assert found.low <= found.ratio <= found.high


def test_few_slow_rounds_need_all_to_agree():
    assert estimate([1.0] * 5, [1.3, 1.2, 1.4, 1.25, 1.3]).verdict == "slower"
    assert estimate([1.0] * 5, [1.3, 1.2, 1.4, 0.95, 1.3]).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("base", "candidate", "problem"),
    [([], [], "paired times are needed"), ([1.0], [1.0, 1.0], "1 of the base and 2")]
    + [([1.0], [bad], "finite and above 0") for bad in (math.nan, math.inf, 0.0, -1.0)],
)
def test_times_that_cannot_be_compared(base, candidate, problem):
    with pytest.raises(ValueError, match=problem):
        estimate(base, candidate)


class FakeWorker:
    """Answers from a table of seconds a call; remembers who was asked."""

    asked: ClassVar[list[tuple[str, str]]] = []

    def __init__(self, warp, device):
        self.version = warp.version

    def keep_kernels(self):
        pass

    def tell(self, do, name="", *, calls=1, blocks=1):
        assert do == "prepare"

    def hear(self):
        return speed_worker.Answer(problems={"to-torch": "ImportError: no torch"} if self.version == "2" else {})

    def ask(self, do, name="", *, calls=1, blocks=1):
        if do == "time":
            self.asked.append((self.version, name))
        return speed_worker.Answer(seconds=float(self.version), counts={"calls": 10 * int(self.version)})

    def close(self):
        pass


@pytest.fixture
def compared(monkeypatch):
    FakeWorker.asked = []
    monkeypatch.setattr(speed, "Worker", FakeWorker)
    return speed.compare(Overlay("1", {}), Overlay("2", {}), plan=Plan(rounds=4, slow_rounds=2, slow_seconds=0))


def test_every_workload_is_in_the_result(compared):
    assert [row.benchmark for row in compared.comparisons] == list(WORKLOADS)
    assert compared.problems == ["to-torch: Warp 2: ImportError: no torch"]
    row = compared.comparisons[0]
    assert row.estimate and row.estimate.ratio == pytest.approx(2) and row.estimate.verdict == "slower"
    assert row.changed_counts == ["calls 10 → 20"]


def test_the_order_is_reversed_on_even_rounds(compared):
    turns = {name: [version for version, one in FakeWorker.asked if one == name] for name in ("launch", "load-cold")}
    assert turns == {"launch": ["1", "2", "2", "1", "1", "2", "2", "1"], "load-cold": ["1", "2", "2", "1"]}


def test_a_worker_has_a_kernel_cache_of_its_own_and_keeps_what_it_built(tmp_path):
    installed = overlay(None, tmp_path)
    kept = Path(installed.environment["WARP_CACHE_PATH"]) / "speed"
    (kept / "wp_old").mkdir(parents=True)
    with speed._workers(installed, installed, "cpu") as sides:
        caches = [Path(side.kernels.name) for side in sides]
        assert caches[0] != caches[1] and all((cache / "wp_old").is_dir() for cache in caches)
        for cache in caches:
            (cache / "wp_new").mkdir()
            (cache / "1.0/wp_newer").mkdir(parents=True)  # where a release has a folder of its own
            (cache / "wp_old").rmdir()
        for side in sides:
            side.keep_kernels()
    assert sorted(folder.name for folder in kept.rglob("wp_*")) == ["wp_new", "wp_newer", "wp_old"]
    assert (kept / "1.0/wp_newer").is_dir()
    assert not any(cache.exists() for cache in caches)


def test_a_comparison_is_kept_and_read_again(compared, tmp_path):
    path = speed.write(tmp_path, compared)
    assert speed.read(path) == compared
    assert speed.stored(tmp_path, "1", "cpu") == [compared]
    assert speed.stored(tmp_path, "2", "cpu") == []
    compared.suite = "another"
    speed.write(tmp_path, compared)
    assert speed.stored(tmp_path, "1", "cpu") == []


def test_a_worker_that_dies_is_told(tmp_path):
    broken = overlay(None, tmp_path)
    (tmp_path / "warp.py").write_text("raise SystemExit('Warp is out')")
    environment = {**broken.environment, "PYTHONPATH": f"{tmp_path}:{broken.environment.get('PYTHONPATH', '')}"}
    found = speed.compare(Overlay("9.9.9", environment), broken)
    assert len(found.problems) == len(WORKLOADS)
    assert found.problems[0] == "launch: the worker of 9.9.9 ended with status 1: Warp is out"


def test_counts_are_exact():
    import warp as wp

    operation = WORKLOADS["launch"].make("cpu")
    operation()
    assert speed_worker.counted(operation) == speed_worker.counted(operation)
    assert speed_worker.counted(operation)["launches"] == 1
    assert speed_worker.counted(lambda: wp.zeros(10, dtype=float, device="cpu"))["bytes"] == 40
    assert speed_worker.counted(WORKLOADS["backward"].make("cpu"))["launches"] == 8


@pytest.mark.parametrize("name", [name for name, workload in WORKLOADS.items() if not workload.needs])
def test_a_workload_can_be_called_again_and_again(name):
    workload = WORKLOADS[name]
    operation = workload.make("cpu")
    for _ in range(2 if workload.slow else 3):
        if workload.before:
            workload.before()
        operation()
    assert all(count >= 0 for count in speed_worker.counts_of(workload, operation).values())


def test_speed_does_not_make_an_upgrade_unsafe(make_record, make_cell, compared):
    from tapecheck import report
    from tapecheck.upgrade import compare

    verdict = compare(make_cell(make_record(warp="1.12.1"), warp="1.12.1"), make_cell(make_record()))
    verdict.speed = compared
    assert verdict.safe
    text = report.render("upgrade.md", verdict=verdict, groups=[])
    assert "| launch | one launch, eight arrays | 2.00 | 2.00 to 2.00 | slower | calls 10 → 20 |" in text
    assert "not timed: Warp 2: ImportError: no torch" in text


def test_a_row_without_an_estimate_says_why():
    row = Comparison(benchmark="launch", what="", problem="gone")
    found = Speed(
        base="1", candidate="2", device="cpu", margin=MARGIN, confidence=0.99, suite=speed.suite(), comparisons=[row]
    )
    assert found.problems == ["launch: gone"]
