"""Contracts of SPH implementations: the oracle keeps all of them, and what is plainly wrong keeps few."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tapecheck import running
from tapecheck.contract import REGISTRY
from tapecheck.judge import judge
from tapecheck.subjects import find
from tapecheck.subjects.oracle import run
from tapecheck.subjects.sph import Call, Operators, SphSubject

running.load()
CHECKS = {name: check for name, check in REGISTRY.items() if check.contract.judged == "sph"}


def outcomes(subject: SphSubject) -> dict[str, str]:
    return {name: judge(check, subject).outcome for name, check in CHECKS.items()}


def test_the_oracle_keeps_every_contract() -> None:
    assert set(outcomes(find("oracle")).values()) == {"pass"}


@pytest.mark.parametrize("value", [0.0, float("nan")])
def test_what_gives_one_number_is_found_out(value: float) -> None:
    def constant(call: Call) -> torch.Tensor:
        return torch.full_like(run(call), value) + 0 * run(call)

    found = outcomes(SphSubject(Operators(constant)))
    assert all(found[f"kinds.direction-table[{name}]"] == "fail" for name in ("unmasked", "fluid_to_all"))
    assert found["kinds.masked-primal[reverse]"] == found["empty.isolated[query]"] == "fail"


def test_what_refuses_everything_violates_what_it_refuses() -> None:
    def refuse(call: Call) -> torch.Tensor:
        raise RuntimeError("not implemented")

    def refuse_all(*given: object) -> Any:
        raise RuntimeError("not implemented")

    found = outcomes(SphSubject(Operators(refuse, hessian_product=refuse_all, search=refuse_all, walks=True)))
    assert set(found.values()) == {"fail"}


def test_what_is_not_offered_is_unsupported() -> None:
    found = outcomes(SphSubject(Operators(run)))
    assert {found[name] for name in CHECKS if name.startswith(("neighbors.", "hvp.", "empty.neighbors"))} == {
        "unsupported"
    }


def test_what_an_implementation_lacks_is_unsupported() -> None:
    found = outcomes(SphSubject(Operators(run, lacks=frozenset({"fluid_to_ghost"}))))
    assert found["kinds.direction-table[fluid_to_ghost]"] == "unsupported"
    assert found["kinds.direction-table[ghost_to_fluid]"] == "pass"
