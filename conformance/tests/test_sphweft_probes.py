"""What the probes of the core cover, and that what their names say is in effect forward and backward."""

from __future__ import annotations

import re

import pytest
import warp

from sphweft.inspect import counters
from tapecheck.contracts.probing import calls_counted, gradients
from tapecheck.subjects.sph import LAPLACIANS, OPERATORS
from tapecheck.subjects.sphweft import subject

PROBES = {probe.name: probe for probe in subject().probes}


def test_every_operator_and_every_dimension() -> None:
    names = " ".join(PROBES)
    assert all(operator in names for operator in (*OPERATORS, *(f"laplacian-{scheme}" for scheme in LAPLACIANS)))
    assert all(len(re.findall(rf"-{dimension}d\b", names)) > 4 for dimension in (1, 2, 3))


@pytest.mark.parametrize("operator", ["gradient", "covariance"])
@pytest.mark.parametrize(("variant", "launches", "tapes"), [("", 1, 0), ("-taped", 1, 1), ("-sliced", 3, 0)])
def test_the_variants(operator: str, variant: str, launches: int, tapes: int) -> None:
    probe = PROBES[f"{operator}{variant}-2d"]
    before = counters()
    with probe.within(), calls_counted(warp.Tape, "backward") as counted:
        gradients(probe, probe.example(6))
    made = {name: counters()[name] - before.get(name, 0) for name in ("launches", "adjoint_launches")}
    assert made == dict.fromkeys(made, launches)
    assert counted["backward"] == tapes
