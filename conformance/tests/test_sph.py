"""Contracts of SPH implementations: the oracle keeps all of them, and what is plainly wrong keeps few."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from tapecheck import oracles, running
from tapecheck.contract import REGISTRY
from tapecheck.contracts import sphing
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


def one(place: tuple[float, float], support: float) -> oracles.Particles:
    weights = torch.tensor([3.0], dtype=torch.float64)
    positions = torch.tensor([place], dtype=torch.float64)
    return oracles.Particles(positions, weights * support / 3, weights, torch.zeros(1, dtype=torch.int32), weights)


def test_what_cancels_within_a_pair_is_held_against_its_terms() -> None:
    """As the fuzz found it: of a curl whose field is nearly along the pair little is left, and less of it is exact."""
    core = find("sphweft").operators
    call = sphing.call_of(core, "curl", one((0.0, 0.0), 0.7), one((0.3, 0.4), 0.9))
    call = replace(call, reference_field=torch.tensor([[0.3, 0.4 + 1e-7]], dtype=torch.float64))
    call = replace(call, query_field=torch.zeros(1, 2, dtype=torch.float64))
    observed, everybody = sphing.results(core.run, call), torch.ones(1, dtype=torch.bool)
    said = sphing.compared(observed, call, everybody, everybody)
    assert all(what.startswith("right") for what in said.values()), said
    off = {name: found * (1 + 1e-4) for name, found in observed.items() if name != "query_field"}
    said = sphing.compared(observed | off, call, everybody, everybody)
    assert not any(said[name].startswith("right") for name, found in off.items() if found.any()), said
