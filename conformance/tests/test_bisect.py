"""Bisection with a faked judge: what it names, and how few releases it asks."""

import pytest
from typer.testing import CliRunner

from tapecheck import bisection, cli
from tapecheck import expectations as known
from tapecheck.bisection import bisect, chosen, guesses, search
from tapecheck.contract import REGISTRY
from tapecheck.releases import releases

HAZARD, OBSERVATION = "retain.last-write-wins", "tape.nested"


class Judge:
    """Shows `old` before a release and `new` from it on, and remembers what it was asked."""

    def __init__(self, first, old="fail", new="pass"):
        self.first, self.old, self.new, self.asked = first, old, new, []

    def __call__(self, version):
        assert version not in self.asked
        self.asked.append(version)
        return self.new if self.first and releases().index(version) >= releases().index(self.first) else self.old


@pytest.mark.parametrize("first", releases()[1:])
def test_every_flip_is_found(first):
    judge = Judge(first)
    last = releases()[releases().index(first) - 1]
    assert search(releases(), judge) == (last, first)
    assert len(judge.asked) <= 2 + 4


@pytest.mark.parametrize("first", releases()[1:])
def test_a_right_guess_needs_four_releases(first):
    judge = Judge(first)
    found = search(releases(), judge, [first])
    assert found and found[1] == first
    assert len(judge.asked) <= 4


@pytest.mark.parametrize("first", releases()[1:])
@pytest.mark.parametrize("guess", [*releases()[1:], "9.9.9"])
def test_a_wrong_guess_does_no_harm(first, guess):
    judge = Judge(first)
    found = search(releases(), judge, [guess])
    assert found and found[1] == first
    assert len(judge.asked) <= 2 + 2 + 3


def test_ends_that_agree_are_all_that_is_asked():
    judge = Judge(None)
    assert search(releases(), judge, ["1.13.0"]) is None
    assert judge.asked == [releases()[0], releases()[-1]]


def test_one_release_cannot_flip():
    assert search(["1.19.0"], Judge(None)) is None


@pytest.fixture
def bisected(make_record):
    """Bisects with a judge that makes records."""

    def make(name, show, hints=()):
        asked = []

        def judged(version):
            asked.append(version)
            return [make_record(name, warp=version, **show(version))]

        return bisect(name, releases(), judged, hints), asked

    return make


def older(version, than="1.13.0"):
    return releases().index(version) < releases().index(than)


def test_an_outcome_that_flips(bisected):
    hints = guesses([HAZARD], releases(), known.load(known.default_path()), {}, "cpu")
    assert hints == ["1.13.0"]
    found, asked = bisected(HAZARD, lambda version: {"outcome": "fail" if older(version) else "pass"}, hints)
    assert (found.last, found.first) == ("1.12.1", "1.13.0")
    assert asked == ["1.10.1", "1.19.0", "1.12.1", "1.13.0"]
    assert found.sentence == (
        "retain.last-write-wins flips in Warp 1.13.0; Warp 1.12.1 is still as 1.10.1 (4 releases judged)."
    )


def test_a_value_that_flips(bisected):
    found, _ = bisected(OBSERVATION, lambda version: {"outcome": "pass", "observed": older(version, "1.17.0")})
    assert found.first == "1.17.0"


def test_a_value_of_a_guarantee_is_no_flip(bisected):
    found, asked = bisected(HAZARD, lambda version: {"observed": version})
    assert found.first is None
    assert len(asked) == 2
    assert found.sentence == "retain.last-write-wins does not flip: Warp 1.10.1 and 1.19.0 agree (2 releases judged)."


def test_earlier_results_count_for_more_than_expectations(make_record):
    results = {version: [make_record(HAZARD, warp=version, outcome="fail")] for version in ("1.13.0", "1.14.0")}
    assert guesses([HAZARD], releases(), known.load(known.default_path()), results, "cpu") == ["1.15.0"]


def test_names():
    assert chosen(HAZARD) == (HAZARD, [HAZARD])
    case = next(name for name in REGISTRY if "[" in name)
    assert chosen(case) == (case.partition("[")[0], [case])
    assert case in chosen(case.partition("[")[0])[1]
    with pytest.raises(LookupError, match="did you mean"):
        chosen("retain.last-write")
    with pytest.raises(LookupError, match="no such case"):
        chosen(f"{HAZARD}[absent]")
    with pytest.raises(LookupError, match="has no check yet"):
        chosen("capture.replay")


def test_the_command(monkeypatch, make_record, tmp_path):
    def judge(identifier, names, version, **others):
        return [make_record(identifier, warp=version, outcome="fail" if older(version) else "pass", message=version)]

    monkeypatch.setattr(bisection, "judge", judge)
    monkeypatch.setattr(cli.console, "_width", 200)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli.app, ["bisect", HAZARD])
    assert result.exit_code == 0
    assert "flips in Warp 1.13.0; Warp 1.12.1 is still as 1.10.1 (4 releases judged)" in result.stdout
