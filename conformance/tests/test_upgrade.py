"""What a flip between two releases means."""

import pytest

from tapecheck.upgrade import compare


@pytest.fixture
def verdict(make_record, make_cell):
    def make(old, new, contract="retain.last-write-wins"):
        return compare(
            make_cell(make_record(contract, warp="1.12.1", **old), warp="1.12.1"),
            make_cell(make_record(contract, **new)),
        )

    return make


HAZARD, OBSERVATION = "struct.lazy-read", "tape.nested"


@pytest.mark.parametrize(
    ("contract", "old", "new", "effect", "safe"),
    [
        ("tape.zero", {"outcome": "pass"}, {"outcome": "pass"}, None, True),
        ("tape.zero", {"outcome": "pass"}, {"outcome": "fail"}, "broken", False),
        ("tape.zero", {"outcome": "pass"}, {"outcome": "crash"}, "broken", False),
        ("tape.zero", {"outcome": "pass"}, {"outcome": "unsupported"}, "broken", False),
        ("tape.zero", {"outcome": "fail"}, {"outcome": "pass"}, "repaired", True),
        ("tape.zero", {"outcome": "unsupported"}, {"outcome": "pass"}, "gained", True),
        ("tape.zero", {"outcome": "fail", "observed": 1}, {"outcome": "fail", "observed": 2}, "changed", True),
        ("tape.zero", {"outcome": "fail", "observed": 1}, {"outcome": "fail", "observed": 1}, None, True),
        ("tape.zero", {"outcome": "not-run"}, {"outcome": "pass"}, None, True),
        (HAZARD, {"outcome": "pass"}, {"outcome": "fail"}, "repaired", True),
        (HAZARD, {"outcome": "fail"}, {"outcome": "pass"}, "trap appeared", True),
        (HAZARD, {"outcome": "unsupported"}, {"outcome": "pass"}, "trap appeared", True),
        (OBSERVATION, {"observed": 1}, {"observed": 1}, None, True),
        (OBSERVATION, {"observed": 1}, {"observed": 2}, "changed", True),
    ],
)
def test_the_effect_of_a_flip(verdict, contract, old, new, effect, safe):
    result = verdict(old, new, contract)
    assert [flip.effect for flip in result.flips] == ([effect] if effect else [])
    assert result.safe is safe


def test_both_observations_are_shown(verdict):
    old = {"outcome": "fail", "observed": {"x": [2.0, 2.0], "y": 3}}
    flip = verdict(old, {"observed": {"x": [0.0, 0.0], "y": 3}}).flips[0]
    assert flip.changes == ["x: Warp 1.12.1: [2, 2]; Warp 1.19.0: [0, 0]"]
    assert flip.hint and flip.statement


def test_the_worst_comes_first(make_record, make_cell):
    old = [make_record("tape.zero", warp="1.12.1", outcome="fail"), make_record("tape.reset", warp="1.12.1")]
    new = [make_record("tape.zero"), make_record("tape.reset", outcome="fail")]
    verdict = compare(make_cell(*old, warp="1.12.1"), make_cell(*new))
    assert [flip.effect for flip in verdict.flips] == ["broken", "repaired"]
