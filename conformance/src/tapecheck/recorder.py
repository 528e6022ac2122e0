"""Writes the result file of a run, in the process that the user started: a line as each check ends, the footer last."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn

import msgspec
import pytest
from filelock import FileLock, Timeout

from tapecheck import contracts, running
from tapecheck.contract import REGISTRY, catalogue
from tapecheck.expectations import Expectations, unforeseen
from tapecheck.judge import Judgement
from tapecheck.results import Footer, Outcome, Record, blank, header
from tapecheck.subjects import Subject, label


class Recorder:
    """A pytest plugin object, registered where `--tapecheck-results` is given."""

    def __init__(
        self,
        config: pytest.Config,
        subject: Callable[[pytest.Config], Subject],
        expectations: Callable[[pytest.Config], Expectations],
    ) -> None:
        contracts.load()
        self.path = Path(config.getoption("--tapecheck-results"))
        self.device: str = config.getoption("--tapecheck-device")
        self.subject: str = config.getoption("--tapecheck-subject")
        self.judged = subject(config).judged
        self.checks = {check.name: check for check in REGISTRY.values() if check.contract.judged in self.judged}
        self.expectations = expectations(config)
        self.collected: set[str] = set()
        self.records: list[Record] = []
        self.unmet: list[str] = []
        self.start = time.monotonic()
        self.file: BinaryIO | None = None
        self.lock = self._locked()

    @property
    def full(self) -> bool:
        return self.collected >= self.checks.keys()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.collected |= {item.name for item in session.items}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.collected |= {identifier.rpartition("::")[2] for identifier in ids}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.rpartition("::")[2]
        text = dict(report.user_properties).get("tapecheck")
        if report.when == "call" and isinstance(text, str):
            self._add(msgspec.json.decode(text, type=Record))
        elif report.failed and name in self.checks and report.when != "teardown":
            self._add(self._unfinished(name, report))

    def _unfinished(self, name: str, report: pytest.TestReport) -> Record:
        """The record of a check that did not come to its own end: its worker died, or pytest cut it short."""
        text = report.longreprtext.strip()
        outcome: Outcome = "timeout" if "Timeout" in text else "error"
        if report.when not in ("setup", "call"):
            outcome = "crash"
        judgement = Judgement(outcome, text[-2000:])
        return self.expectations.settle(running.record(self.checks[name], self.device, self.subject, judgement))

    def _locked(self) -> FileLock:
        """Held until this process ends: two runs that write one file would leave neither's result."""
        lock = FileLock(self.path.with_name(f".{self.path.stem}.lock"), blocking=False)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            raise pytest.UsageError(f"another run is writing {self.path}; wait, or give another -o") from None
        except OSError as problem:
            raise pytest.UsageError(f"{self.path} cannot be written: {problem.strerror}") from None
        return lock

    def _add(self, record: Record) -> None:
        if any(record.key == earlier.key for earlier in self.records):
            return
        if self.file is None:
            self.file = self._opened()
            self._write(header(subject=self.subject, warp=record.warp, device=self.device, full=self.full))
        self.records.append(record)
        self._write(record)

    def _opened(self) -> BinaryIO:
        try:
            return self.path.open("wb")
        except OSError as problem:
            self._give_up(problem)

    def _give_up(self, problem: OSError) -> NoReturn:
        pytest.exit(f"{self.path} cannot be written: {problem.strerror}", returncode=2)

    def _write(self, line: msgspec.Struct) -> None:
        assert self.file is not None
        try:
            self.file.write(msgspec.json.encode(line) + b"\n")
            self.file.flush()
        except OSError as problem:
            self.file = None
            self._give_up(problem)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self.file is None:
            return
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            for record in self._not_judged():
                self._add(record)
            if self.full:
                self.unmet = self.expectations.unmet(self.records, self.records[0].warp, self.device)
            self._write(Footer(records=len(self.records), seconds=round(time.monotonic() - self.start, 2)))
            if self.unmet:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self.file.close()

    def _not_judged(self) -> Iterator[Record]:
        """Rows of what was planned and did not run, and of what has no check yet."""
        seen = {record.key for record in self.records}
        for check in self.checks.values():
            if check.name in self.collected and (check.contract.id, check.case) not in seen:
                judgement = Judgement("not-run", "collected, but the run ended before it")
                yield running.record(check, self.device, self.subject, judgement)
        checked = {check.contract.id for check in self.checks.values()}
        for row in catalogue().values():
            if self.full and row.judged in self.judged and row.id not in checked:
                message = "no check is registered for this contract yet"
                place = {"subject": label(self.subject), "warp": self.records[0].warp, "device": self.device}
                yield blank(row, "", kind=row.kind, outcome="untested", message=message, **place)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for problem in self.unmet:
            terminalreporter.write_line(f"unexpected: {problem}", red=True)
        for record in unforeseen(self.records):
            terminalreporter.write_line(self.expectations.surprise(record), red=True)
        if self.records:
            terminalreporter.write_line(f"result: {self.path}" + ("" if self.full else " (partial)"))
