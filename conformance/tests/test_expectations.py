"""Strict in every direction: what the expectations foresee, refuse and miss."""

import pytest

from tapecheck.expectations import BadExpectations, Deviation, Expectations, Pin, default_path, load

CONTRACT = "retain.last-write-wins"


def deviation(**changes):
    return Deviation(
        **{
            "contract": CONTRACT,
            "when": "<1.13",
            "outcome": "fail",
            "message": "observed [2",
            "reason": "why",
            **changes,
        }
    )


def pinned(value, **changes):
    return Pin(contract="tape.nested", value=value, reason="why", **changes)


def test_the_file_of_this_package_is_sound():
    assert load(default_path()).entries


@pytest.mark.parametrize(
    ("record", "standing"),
    [
        ({}, "expected"),
        ({"outcome": "fail"}, "unexpected"),
        ({"outcome": "unsupported"}, "unexpected"),
        ({"warp": "1.12.1", "outcome": "fail", "message": "expected [0], observed [2, 2]"}, "expected"),
        ({"warp": "1.12.1", "outcome": "fail", "message": "expected [0], observed [3]"}, "unexpected"),
        ({"warp": "1.12.1", "outcome": "error", "message": "observed [2"}, "unexpected"),
        ({"warp": "1.12.1"}, "unexpected"),
        ({"warp": "1.20.0", "outcome": "fail"}, "new"),
        ({"warp": "1.20.0"}, "expected"),
        ({"outcome": "not-run"}, "none"),
        ({"outcome": "untested"}, "none"),
    ],
)
def test_an_outcome_is_foreseen_or_not(make_record, record, standing):
    assert Expectations([deviation()]).settle(make_record(**record)).expectation == standing


def test_a_device_narrows_an_entry(make_record):
    expectations = Expectations([deviation(when="", device="cuda")])
    assert expectations.settle(make_record(outcome="fail", message="observed [2")).expectation == "unexpected"
    on_cuda = make_record(outcome="fail", message="observed [2", device="cuda:0")
    assert expectations.settle(on_cuda).expectation == "expected"


def test_an_observation_is_held_against_its_pin(make_record):
    expectations = Expectations(pin=[pinned({"outer": "kept"}, when=">=1.13")])
    same = expectations.settle(make_record("tape.nested", observed={"outer": "kept"}))
    assert (same.outcome, same.expectation, same.expected) == ("pass", "expected", {"outer": "kept"})
    other = expectations.settle(make_record("tape.nested", observed={"outer": "lost"}))
    assert (other.outcome, other.expectation) == ("fail", "unexpected")
    assert other.message == "outer: expected kept, observed lost"
    unlisted = expectations.settle(make_record("tape.nested", observed={"outer": "kept"}, warp="1.12.1"))
    assert (unlisted.outcome, unlisted.expectation) == ("fail", "unexpected")
    assert "no value is pinned for Warp 1.12.1" in unlisted.message
    assert expectations.settle(other) == other


def test_an_observation_on_an_unknown_release_is_new(make_record):
    assert Expectations().settle(make_record("tape.nested", observed=1, warp="1.20.0")).expectation == "new"


def test_a_listed_failure_that_did_not_run_is_named(make_record):
    expectations = Expectations([deviation()])
    assert expectations.unmet([make_record(outcome="not-run")], "1.12.1", "cpu") == [
        f"{CONTRACT} when <1.13: expected on Warp 1.12.1 cpu, but it did not run"
    ]
    assert expectations.unmet([make_record(outcome="fail")], "1.12.1", "cpu") == []
    assert expectations.unmet([], "1.13.0", "cpu") == []


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ([deviation(contract="retain.last-write-win")], "unknown contract; did you mean retain.last-write-wins"),
        ([deviation(contract="capture.replay")], "this contract has no check"),
        ([deviation(case="thrice")], "no such case"),
        ([deviation(when=">=2.0")], "matches no release of the matrix"),
        ([deviation(reason=" ")], "give a reason"),
        ([deviation(reason="TODO: say why")], "give a reason"),
        ([deviation(message="")], "give a piece of the message"),
        ([deviation(device="gpu")], "unknown device 'gpu'; expected cpu, cuda or cuda:0"),
        ([deviation(when="1.13 and later")], '`when` must be a version specifier such as ">=1.13,<1.16"'),
        ([deviation(outcome="pass")], "'pass' is no deviation"),
        ([deviation(outcome="not-run")], "'not-run' is no deviation"),
        ([deviation(), deviation(when="<1.12")], "both speak of Warp 1.10.1, 1.11.1"),
        ([deviation(device="cpu"), deviation(device="")], "both speak of Warp 1.10.1, 1.11.1, 1.12.1"),
    ],
)
def test_a_wrong_file_is_refused(entries, problem):
    assert any(problem in text for text in Expectations(entries).problems())


def test_entries_of_different_devices_do_not_overlap():
    assert Expectations([deviation(device="cpu"), deviation(device="cuda")]).problems() == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[deviation]]\ncontract = 'x'\n", "missing required field"),
        ("[[deviation]", "Expected"),
        ("[[surprise]]\n", "unknown field"),
        ("[[deviation]]\ncontract='tape.zer'\noutcome='fail'\nmessage='x'\nreason='y'\n", "toml: 1 problem\n"),
        ("[[deviation]]\ncontract='tape.zer'\noutcome='fail'\nmessage='x'\nreason='y'\n", "did you mean tape.zero"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path, text, problem):
    path = tmp_path / "warp.toml"
    path.write_text(text)
    with pytest.raises(BadExpectations, match=problem) as raised:
        load(path)
    assert str(path) in str(raised.value)
