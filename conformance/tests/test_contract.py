"""Rows, registration and evidence."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapecheck.contract import (
    FAMILIES,
    REGISTRY,
    SOURCES,
    Evidence,
    catalogue,
    check,
    contract,
    outcome_of,
    text_of,
)


def same(subject):
    return subject


def passes(subject):
    return Evidence(observed=1, expected=1)


def test_every_row_reads_as_a_contract():
    for row in catalogue().values():
        assert re.search(r"\b(MUST|SHOULD)\b", row.statement), row.id
        assert row.hint and "TODO" not in row.hint + row.statement, row.id
        assert "\n" not in row.hint, row.id
        assert row.source and set(row.source) <= set(SOURCES), row.id
        assert row.id.partition(".")[0] in (row.family, row.family.partition("-")[0]), row.id


def test_the_catalogue_is_whole():
    assert {row.family for row in catalogue().values()} == set(FAMILIES)
    assert len(catalogue()) >= 252


@pytest.mark.parametrize("family", ["tape", "retain-grad", "struct", "bridge", "sync"])
def test_every_row_of_a_finished_family_has_a_check(family):
    checked = {entry.contract.id for entry in REGISTRY.values()}
    assert [row.id for row in catalogue().values() if row.family == family and row.id not in checked] == []


def test_no_fault_serves_more_than_three_contracts():
    served: dict[object, set[str]] = {}
    for entry in REGISTRY.values():
        for fault in entry.faults:
            served.setdefault(fault, set()).add(entry.contract.id)
    assert {f.__name__: ids for f, ids in served.items() if len(ids) > 3} == {}


def test_plants_are_described():
    plants = {plant for entry in REGISTRY.values() for plant in (*entry.faults, *entry.near_misses)}
    assert [plant.__name__ for plant in plants if not plant.__doc__] == []


def test_an_unknown_id_does_not_register_and_names_the_nearest():
    with pytest.raises(LookupError, match="'retain.last-write-win'; did you mean retain.last-write-wins"):
        check("retain.last-write-win", faults=[same], near_misses=[same])


@pytest.mark.parametrize(("faults", "near_misses", "what"), [([], [same], "fault"), ([same], [], "near miss")])
def test_a_check_without_proof_does_not_register(faults, near_misses, what):
    with pytest.raises(ValueError, match=rf"tape.zero: a check without a {what} proves nothing"):
        check("tape.zero", faults=faults, near_misses=near_misses)


def test_a_name_registers_once(monkeypatch):
    monkeypatch.setattr("tapecheck.contract.REGISTRY", {})
    check("tape.zero", faults=[same], near_misses=[same])(passes)
    with pytest.raises(ValueError, match="tape.zero: registered twice"):
        check("tape.zero", faults=[same], near_misses=[same])(passes)


def test_cases_get_their_argument(monkeypatch):
    registry: dict = {}
    monkeypatch.setattr("tapecheck.contract.REGISTRY", registry)
    check("tape.zero", faults=[same], near_misses=[same], cases={"one": 1, "two": 2}, needs=lambda n: [f"name{n}"])(
        lambda subject, number: Evidence(observed=number, expected=1)
    )
    assert list(registry) == ["tape.zero[one]", "tape.zero[two]"]
    assert registry["tape.zero[two]"].needs == ("name2",)
    assert registry["tape.zero[two]"](None).violations() == ["expected 1, observed 2"]


@pytest.mark.parametrize(
    ("expected", "observed", "tolerance", "violations"),
    [
        ({"x.grad": [1, 2]}, {"x.grad": np.array([1.0, 2.0])}, 0, []),
        ({"x.grad": [1, 2]}, {"x.grad": [1, 3]}, 0, ["x.grad: expected [1, 2], observed [1, 3]"]),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, 0, ["a.b: expected 1, observed 2"]),
        ([1.0], [1.0 + 1e-7], 1e-6, []),
        ([1.0], [1.0 + 1e-5], 1e-6, ["expected [1], observed [1.00001]"]),
        ([1.0], [float("nan")], 1e9, ["expected [1], observed [nan]"]),
        (float("nan"), np.float32("nan"), 0, []),
        (True, 1, 0, ["expected True, observed 1"]),
        (None, 0.0, 0, ["expected None, observed 0"]),
        ([1, 2], [1], 0, ["expected [1, 2], observed [1]"]),
        ({"a": 1}, {"b": 1}, 0, ["expected {a: 1}, observed {b: 1}"]),
        (re.compile("single"), "RuntimeError: one single element", 0, []),
        (re.compile("single"), "no error", 0, ["expected single, observed no error"]),
        (re.compile("^right|^refused"), "none", 0, ["expected right or refused, observed none"]),
        (re.compile(r"^\w*Error: .*shape \(3,\)$"), "none", 0, ["expected …Error: …shape (3,), observed none"]),
        (re.compile("(?#an error)^(?!none)"), "none", 0, ["expected an error, observed none"]),
    ],
)
def test_evidence_is_compared_part_by_part(expected, observed, tolerance, violations):
    assert Evidence(observed, expected, tolerance).violations() == violations


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(1e-3, 1.0))
def test_a_difference_beyond_the_tolerance_is_a_violation(values, tolerance):
    assert not Evidence(values, values).violations()
    moved = [values[0] + 2 * tolerance, *values[1:]]
    assert Evidence(moved, values, tolerance).violations()


def test_evidence_refuses_what_it_cannot_write_down():
    with pytest.raises(TypeError, match="numbers, texts, flags and arrays, not object"):
        Evidence(observed=object())


def test_what_an_action_comes_to():
    assert outcome_of(lambda: 1) == "no error"
    assert outcome_of(lambda: {}["x"]) == "KeyError: 'x'"


def test_long_lists_are_shortened():
    assert text_of(list(range(20))).endswith("11, …]")


def test_contract_by_id():
    assert contract("struct.lazy-read").family == "struct"
