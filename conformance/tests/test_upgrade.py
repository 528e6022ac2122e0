"""What a flip between two releases means."""

import pytest

from tapecheck.contract import REGISTRY
from tapecheck.report import by_effect
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
        ("tape.zero", {"outcome": "unsupported"}, {"outcome": "pass"}, "new", True),
        ("tape.zero", {"outcome": "fail", "observed": 1}, {"outcome": "fail", "observed": 2}, "changed", True),
        ("tape.zero", {"outcome": "fail", "observed": 1}, {"outcome": "fail", "observed": 1}, None, True),
        ("tape.zero", {"outcome": "not-run"}, {"outcome": "pass"}, None, False),
        ("tape.zero", {"outcome": "unsupported"}, {"outcome": "fail"}, "new", True),
        ("tape.zero", {"outcome": "fail"}, {"outcome": "crash"}, "changed", True),
        (HAZARD, {"outcome": "pass"}, {"outcome": "fail"}, "repaired", True),
        (HAZARD, {"outcome": "pass"}, {"outcome": "crash"}, "changed", True),
        (HAZARD, {"outcome": "pass"}, {"outcome": "timeout"}, "changed", True),
        (HAZARD, {"outcome": "pass"}, {"outcome": "unsupported"}, "changed", True),
        (HAZARD, {"outcome": "unsupported"}, {"outcome": "fail"}, "new", True),
        (HAZARD, {"outcome": "fail"}, {"outcome": "pass"}, "trap appeared", True),
        (HAZARD, {"outcome": "unsupported"}, {"outcome": "pass"}, "new", True),
        (OBSERVATION, {"observed": 1}, {"observed": 1}, None, True),
        (OBSERVATION, {"observed": 1}, {"observed": 2}, "changed", True),
        (OBSERVATION, {"observed": 1}, {"outcome": "crash"}, "changed", True),
        (OBSERVATION, {"outcome": "unsupported"}, {"observed": 1}, "new", True),
    ],
)
def test_the_effect_of_a_flip(verdict, contract, old, new, effect, safe):
    result = verdict(old, new, contract)
    assert [flip.effect for flip in result.flips] == ([effect] if effect else [])
    assert result.safe is safe


@pytest.mark.parametrize("outcome", ["not-run", "untested", "blocked", "error"])
def test_what_the_new_release_did_not_answer_is_no_all_clear(verdict, outcome):
    result = verdict({}, {"outcome": outcome, "message": "no such CUDA device is present"})
    assert not result.safe
    assert result.sentence == "No verdict: 1 not answered."
    line = f"retain.last-write-wins: pass on Warp 1.12.1, {outcome} on 1.19.0: no such CUDA device is present"
    assert result.unanswered == [line]


def test_a_record_that_is_not_there_is_no_all_clear(make_record, make_cell):
    verdict = compare(make_cell(make_record("tape.zero", warp="1.12.1"), warp="1.12.1"), make_cell())
    assert not verdict.safe
    assert verdict.unanswered == ["tape.zero: pass on Warp 1.12.1, and no record on the other"]


def test_two_cells_that_judged_nothing_give_no_verdict(verdict):
    result = verdict({"outcome": "not-run"}, {"outcome": "not-run"})
    assert (result.safe, result.unanswered) == (False, ["nothing was judged on Warp 1.12.1"])


def test_the_safe_form_of_a_trap_is_a_guarantee(verdict):
    form = {"case": "square-safe", "kind": REGISTRY["codegen.nonlinear-after-loop[square-safe]"].kind}
    result = verdict(form, {**form, "outcome": "fail"}, "codegen.nonlinear-after-loop")
    assert [flip.effect for flip in result.flips] == ["broken"]
    assert result.sentence == "Guarantees broken: 1 (codegen.nonlinear-after-loop)."


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


def test_cases_that_flip_alike_are_shown_together(make_record, make_cell):
    outcomes = {"cpu": ("pass", "fail"), "gpu": ("pass", "fail"), "other": ("fail", "pass"), "last": ("pass", "crash")}
    old = [make_record("tape.zero", case=case, warp="1.12.1", outcome=before) for case, (before, _) in outcomes.items()]
    new = [make_record("tape.zero", case=case, outcome=after) for case, (_, after) in outcomes.items()]
    verdict = compare(make_cell(*old, warp="1.12.1"), make_cell(*new))
    broken, repaired = by_effect(verdict)
    assert (broken.heading, repaired.heading) == ("broken, 1 contract (3 cases)", "repaired, 1 contract")
    (flipped,) = broken.contracts
    assert list(flipped.ways) == ["cpu, gpu guarantee: pass → fail", "last guarantee: pass → crash"]


def test_what_is_new_is_no_trap_and_what_is_wrong_in_it_comes_first(make_record, make_cell):
    names = ["tape.reset", HAZARD, "tape.zero"]
    old = [make_record(name, warp="1.12.1", outcome="unsupported") for name in names]
    new = [make_record("tape.reset"), make_record(HAZARD), make_record("tape.zero", outcome="fail")]
    (group,) = by_effect(compare(make_cell(*old, warp="1.12.1"), make_cell(*new)))
    assert group.heading == "new in Warp 1.19.0, 3 contracts"
    assert [flipped.contract for flipped in group.contracts] == ["tape.zero", HAZARD, "tape.reset"]


def test_what_is_repaired_is_named(make_record, make_cell):
    cases = ["cpu", "gpu"]
    old = [make_record("tape.zero", case=case, warp="1.12.1", outcome="fail") for case in cases]
    new = [make_record("tape.zero", case=case) for case in cases]
    verdict = compare(make_cell(*old, warp="1.12.1"), make_cell(*new))
    assert verdict.safe
    assert (
        verdict.sentence
        == "No guarantee broke. Repaired, so code that leaned on the old behaviour changes: 1 (tape.zero)."
    )
