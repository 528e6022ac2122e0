"""The pytest plugin: collects registered checks as items named `contract[case]` and writes their result file.

Selection, time limits, parallel runs and debugging stay pytest's own. It imports nothing of the package, and no Warp,
until a module of checks is collected, so that having tapecheck installed costs other test suites nothing.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tapecheck.contract import Check
    from tapecheck.expectations import Expectations
    from tapecheck.results import Record
    from tapecheck.subjects import Subject

CONTRACTS = Path(__file__).parent / "contracts"
EXPECTATIONS = pytest.StashKey["Expectations"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tapecheck", "executable contracts")
    group.addoption("--tapecheck-subject", default="warp", metavar="NAME", help="what to judge: warp, module:attribute")
    group.addoption("--tapecheck-device", default="cpu", metavar="DEVICE", help="Warp device to judge on (cpu)")
    group.addoption("--tapecheck-results", default=None, metavar="FILE", help="write the result file of this cell")
    group.addoption("--tapecheck-expectations", default=None, metavar="FILE", help="expectation file to hold against")
    group.addoption("--tapecheck-faults", action="store_true", help="plant the faults and near misses instead")
    group.addoption("--tapecheck-only", default="", metavar="NAMES", help="families and contract ids, by commas")


def pytest_configure(config: pytest.Config) -> None:
    for kind in ("guarantee", "hazard", "observation"):
        config.addinivalue_line("markers", f"{kind}: contracts of that kind")
    if hasattr(config, "workerinput"):
        return
    if keyword := config.getoption("keyword"):
        _compiled(keyword)  # here, because a worker that refuses it ends the whole run without saying why
    if config.getoption("--tapecheck-results"):
        from tapecheck.recorder import Recorder

        config.pluginmanager.register(Recorder(config, subject_of, load_expectations), "tapecheck-results")


def _compiled(keyword: str) -> None:
    from _pytest.mark.expression import Expression

    try:
        Expression.compile(keyword)
    except SyntaxError as problem:
        raise pytest.UsageError(f"wrong expression for -k: {keyword}: {problem}") from None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".py" and CONTRACTS in file_path.parents and file_path.name != "__init__.py":
        return ContractFile.from_parent(parent, path=file_path)
    return None


class ContractFile(pytest.File):
    """A module of checks."""

    def collect(self) -> Iterator[pytest.Item]:
        from tapecheck import contracts, running
        from tapecheck.contract import REGISTRY

        if EXPECTATIONS not in self.config.stash:
            contracts.load()
            running.prepare(os.environ.get("PYTEST_XDIST_WORKER"))
            self.config.stash[EXPECTATIONS] = load_expectations(self.config)
        relative = self.path.relative_to(CONTRACTS.parent).with_suffix("")
        module = ".".join(("tapecheck", *relative.parts))
        faults = self.config.getoption("--tapecheck-faults")
        judged = () if faults else subject_of(self.config).judged
        only = set(filter(None, self.config.getoption("--tapecheck-only").split(",")))
        for check in REGISTRY.values():
            if check.function.__module__ != module or (only and not only & {check.contract.family, check.contract.id}):
                continue
            if faults:
                for plant in running.planted(check):
                    yield FaultItem.from_parent(self, name=f"{check.name}/{plant}", check=check, plant=plant)
            elif check.contract.judged in judged:
                yield ContractItem.from_parent(self, name=check.name, check=check)


def subject_of(config: pytest.Config) -> Subject:
    """What this run judges; one that cannot be found is a usage error."""
    from tapecheck import subjects

    try:
        return subjects.find(config.getoption("--tapecheck-subject"))
    except LookupError as problem:
        raise pytest.UsageError(problem.args[0]) from None


def load_expectations(config: pytest.Config) -> Expectations:
    """The expectations of this run; a wrong file is a usage error."""
    from tapecheck import expectations

    given = config.getoption("--tapecheck-expectations")
    try:
        return expectations.of(config.getoption("--tapecheck-subject"), Path(given) if given else None)
    except expectations.BadExpectations as problem:
        raise pytest.UsageError(str(problem)) from None


class Unforeseen(Exception):
    """An outcome that the expectations did not foresee."""


class ContractItem(pytest.Item):
    """One check on one device."""

    plant = ""

    def __init__(self, *, check: Check, plant: str = "", **others: Any) -> None:
        super().__init__(**others)
        self.check, self.plant = check, plant
        self.extra_keyword_matches |= {check.contract.family, check.contract.id}
        self.add_marker(check.kind)
        self.add_marker(pytest.mark.timeout(check.seconds + (30 if check.isolated else 0)))

    def record(self) -> Record:
        """Runs the check; what became of it, with the expectation held against it."""
        from tapecheck import running

        device = self.config.getoption("--tapecheck-device")
        entry = "" if self.plant else self.config.getoption("--tapecheck-subject")
        judgement = running.run(self.check, device, entry, self.plant)
        settled: Record = self.config.stash[EXPECTATIONS].settle(running.record(self.check, device, entry, judgement))
        return settled

    def runtest(self) -> None:
        import msgspec

        record = self.record()
        self.user_properties.append(("tapecheck", msgspec.json.encode(record).decode()))
        if record.expectation in ("unexpected", "new") or (record.expectation == "none" and record.bad):
            statement = self.check.contract.statement
            standing = "" if record.expectation == "none" else f"{record.expectation} "
            raise Unforeseen(f"{statement}\n{standing}{record.outcome}: {record.message}")
        if record.outcome == "unsupported":
            pytest.skip(record.message)
        if record.outcome != "pass":
            pytest.xfail(record.message)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Unforeseen):
            return f"{self.check.name}\n{excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, inspect.unwrap(self.check.function).__code__.co_firstlineno - 1, self.name


class FaultItem(ContractItem):
    """One check against a subject with something planted in it: a fault must be a violation, anything else a pass."""

    def runtest(self) -> None:
        record = self.record()
        wanted = "fail" if self.plant.startswith("fault:") else "pass"
        if record.outcome != wanted:
            raise Unforeseen(f"{self.plant}: {wanted} is due, got {record.outcome}: {record.message}")
