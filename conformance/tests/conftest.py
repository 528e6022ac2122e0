"""What the tests share: records and cells made by hand."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tapecheck import contracts
from tapecheck.contract import catalogue
from tapecheck.results import Cell, Footer, Record, catalogue_version, header

settings.register_profile("here", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("here")


@pytest.fixture(scope="session", autouse=True)
def registry() -> None:
    contracts.load()


@pytest.fixture
def make_record():
    """Builds a record of some contract that has a check, `retain.last-write-wins` unless said otherwise."""

    def make(contract: str = "retain.last-write-wins", **changes: Any) -> Record:
        row = catalogue()[contract]
        blank: dict[str, Any] = {
            "case": "",
            "subject": "warp",
            "warp": "1.19.0",
            "torch": None,
            "device": "cpu",
            "outcome": "pass",
        }
        return Record(contract=contract, family=row.family, **{"kind": row.kind, **blank, **changes})

    return make


@pytest.fixture
def make_cell(make_record):
    """Builds a complete cell of some records."""

    def make(*records: Record, warp: str = "1.19.0", full: bool = True, path: str = "cell.jsonl") -> Cell:
        head = header(subject="warp", warp=warp, device="cpu", full=full)
        assert head.catalogue == catalogue_version()
        return Cell(Path(path), head, list(records), Footer(records=len(records), seconds=1.0))

    return make
