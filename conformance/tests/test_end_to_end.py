"""Whole runs of a copy of the package that somebody has changed: what goes wrong is said, and the rest is whole.

The copy keeps the family struct alone, so that a full run is short. Each test changes one thing in it.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock

import tapecheck
from tapecheck.contract import full_name
from tapecheck.results import read

SOURCE = Path(tapecheck.__file__).parent
OTHERS = (
    "tape",
    "retain_grad",
    "codegen",
    "interop",
    "release",
    "bridge",
    "sync",
    "cache",
    "abi",
    "jvp",
    "hvp",
    "kinds",
    "empty",
    "hunt",
)
CHECK = "struct.plain-args-eager"


class Copy:
    """A copy of the package in a folder of its own, and the commands run on it."""

    def __init__(self, root: Path, kernels: Path) -> None:
        self.root, self.package = root, root / "tapecheck"
        shutil.copytree(SOURCE, self.package, ignore=shutil.ignore_patterns("__pycache__", *OTHERS))
        self.environment = {**os.environ, "PYTHONPATH": self._path(), "WARP_CACHE_PATH": str(kernels)}
        self.result = root / "cell.jsonl"
        own = r"(?ms)^\[\[(deviation|pin)\]\]\ncontract = \"(?!struct\.).*?(?=^\[\[|\Z)"
        self.change("expectations/warp.toml", lambda text: re.sub(own, "", text))

    def _path(self) -> str:
        return os.pathsep.join(filter(None, (str(self.root), os.environ.get("PYTHONPATH"))))

    def change(self, name: str, how) -> None:
        path = self.package / name
        before = path.read_text()
        path.write_text(how(before))

    def command(self, *arguments: str) -> list[str]:
        options = ["-q", "-p", "no:cacheprovider", "-n", "1", f"--tapecheck-results={self.result}", *arguments]
        return [sys.executable, "-m", "pytest", "--pyargs", "tapecheck", *options]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = self.command(*arguments)
        done = subprocess.run(command, env=self.environment, cwd=self.root, capture_output=True, text=True)
        return subprocess.CompletedProcess(command, done.returncode, done.stdout + done.stderr, "")

    def outcomes(self) -> dict[str, str]:
        return {full_name(r.contract, r.case): r.outcome for r in read(self.result).records}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def copy(tmp_path, kernels) -> Copy:
    return Copy(tmp_path, kernels)


def add_check(body: str, isolated: bool = False) -> str:
    """The source of a check, in a module of its own, for a contract that has none in the copy."""
    return f"""
import os, signal
from tapecheck.contract import Evidence, check
def plant(subject): return subject
@check("tape.zero", faults=[plant], near_misses=[plant], isolated={isolated}, seconds=3)
def planted(wp):
    {body}
    return Evidence(observed=1, expected=1)
"""


def test_an_unchanged_copy_passes_and_is_whole(copy):
    done = copy.run()
    assert done.returncode == 0, done.stdout
    cell = read(copy.result)
    assert cell.header.full
    assert cell.footer
    outcomes = copy.outcomes()
    assert outcomes[CHECK] == "pass"
    assert outcomes["codegen.while"] == "untested"
    assert not set(outcomes.values()) & {"error", "crash", "timeout", "not-run"}


def test_a_part_is_marked_as_partial(copy):
    assert copy.run("-k", "eager").returncode == 0
    assert not read(copy.result).header.full


def test_a_deleted_expectation_is_missed(copy):
    copy.change("expectations/warp.toml", lambda text: re.sub(r"(?ms)^\[\[pin\]\]\n.*?(?=^\[\[|\Z)", "", text))
    done = copy.run()
    assert done.returncode == 1
    assert re.search(r"unexpected: struct\.scalar-fields.*: fail: no value is pinned for Warp", done.stdout)


def test_a_false_expectation_is_caught(copy):
    entry = f'\n[[deviation]]\ncontract = "{CHECK}"\noutcome = "fail"\nmessage = "x"\nreason = "invented"\n'
    copy.change("expectations/warp.toml", lambda text: text + entry)
    done = copy.run()
    assert done.returncode == 1
    assert re.search(rf"unexpected: {CHECK} on Warp .*: pass \(expected: fail, x, by the entry {CHECK}\)", done.stdout)


def test_a_misspelt_id_is_caught(copy):
    copy.change("expectations/warp.toml", lambda text: text.replace('"struct.scalar-fields"', '"struct.scalar-feilds"'))
    done = copy.run()
    assert done.returncode not in (0, 1)
    assert "struct.scalar-feilds" in done.stdout
    assert "did you mean struct.scalar-fields" in done.stdout


def test_a_misspelt_check_is_caught(copy):
    (copy.package / "contracts/struct/planted.py").write_text(add_check("pass").replace("tape.zero", "tape.zerro"))
    done = copy.run()
    assert done.returncode not in (0, 1)
    assert "unknown contract 'tape.zerro'; did you mean tape.zero" in done.stdout


@pytest.mark.parametrize(
    ("body", "isolated", "outcome", "message"),
    [
        ("raise ZeroDivisionError('oh')", False, "error", "ZeroDivisionError: oh"),
        ("os._exit(7)", False, "crash", "crashed"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", False, "crash", "crashed"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", True, "crash", "ended by SIGSEGV"),
        ("while True: pass", False, "timeout", "Timeout"),
        ("while True: pass", True, "timeout", "no answer within 3 s"),
    ],
)
def test_a_check_that_ends_badly_leaves_the_rest_whole(copy, body, isolated, outcome, message):
    (copy.package / "contracts/struct/planted.py").write_text(add_check(body, isolated))
    done = copy.run()
    assert done.returncode == 1, done.stdout
    cell = read(copy.result)
    assert cell.footer
    assert cell.header.full
    planted = next(record for record in cell.records if record.contract == "tape.zero")
    assert (planted.outcome, planted.expectation) == (outcome, "unexpected")
    assert message in planted.message
    others = {name: got for name, got in copy.outcomes().items() if not name.startswith("tape.zero")}
    assert others[CHECK] == "pass"
    assert not set(others.values()) & {"error", "crash", "timeout", "not-run"}


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_check_that_ends_its_process_among_others_of_its_module(copy, workers):
    module = next(path for path in (copy.package / "contracts/struct").glob("*.py") if CHECK in path.read_text())
    module.write_text(module.read_text() + add_check("os._exit(7)"))
    done = copy.run("-n", workers, "--dist", "worksteal")
    assert done.returncode == 1, done.stdout
    cell = read(copy.result)
    assert cell.footer
    assert [record.contract for record in cell.records if record.outcome == "crash"] == ["tape.zero"]
    assert len({record.key for record in cell.records}) == len(cell.records)
    assert copy.outcomes()[CHECK] == "pass"


def test_a_second_run_into_one_file_is_refused(copy):
    with FileLock(copy.result.with_name(f".{copy.result.stem}.lock")):
        done = copy.run()
    assert done.returncode not in (0, 1)
    assert f"another run is writing {copy.result}" in done.stdout
    assert not copy.result.exists()


def test_a_broken_check_fails_the_run(copy):
    module = next(path for path in (copy.package / "contracts/struct").glob("*.py") if CHECK in path.read_text())
    head = rf'(?s)("{re.escape(CHECK)}".*?def \w+\(.*?\).*?:\n)'
    module.write_text(re.sub(head, r"\1    wp.no_such_name\n", module.read_text(), count=1))
    done = copy.run()
    assert done.returncode == 1
    assert re.search(rf"unexpected: {re.escape(CHECK)}.*: error:", done.stdout)


def test_a_killed_run_leaves_an_incomplete_result(copy):
    (copy.package / "contracts/struct/planted.py").write_text(
        add_check("import time; time.sleep(60)").replace("seconds=3", "seconds=99")
    )
    running = subprocess.Popen(copy.command(), env=copy.environment, cwd=copy.root, start_new_session=True)
    while running.poll() is None and not (copy.result.is_file() and len(copy.result.read_bytes().splitlines()) > 3):
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert read(copy.result).footer is None


def test_a_fault_that_is_not_caught_fails_the_faults(copy):
    (copy.package / "contracts/struct/planted.py").write_text(add_check("pass"))
    done = copy.run("--tapecheck-faults", "-k", "tape.zero")
    assert done.returncode == 1
    assert "fault:plant: fail is due, got pass" in done.stdout
