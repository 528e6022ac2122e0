"""The stand-alone programs: what every release gets wrong, and the example of the reference, in plain Warp."""

import subprocess
import sys
from pathlib import Path

import pytest

from tapecheck.expectations import default_path, load
from tapecheck.releases import releases

FOLDER = Path(__file__).parents[1] / "reproducers"
PROGRAMS = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_reproducer_still_reproduces(program):
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tapecheck" not in program.read_text()


def test_every_contract_that_no_release_keeps_has_one():
    entries = load(default_path()).deviation
    failed: dict[tuple[str, str], set[str]] = {}
    for entry in entries:
        if entry.outcome == "fail":
            covered = {version for version in releases() if entry.covers(version, "cpu")}
            failed.setdefault((entry.contract, entry.case), set()).update(covered)
    always = {contract for (contract, _), versions in failed.items() if versions == set(releases())}
    assert always <= {program.stem for program in PROGRAMS}


@pytest.mark.parametrize(
    ("example", "printed"),
    [
        ("overwritten_array", "[3. 3. 3. 3.]\n[0. 0. 0. 0.]\n[3. 3. 3. 3.]\n[0. 0. 0. 0.]\n"),
        ("retained_gradient", "[2. 2. 2.] [1. 1. 1.]\n[2. 2. 2.] [0. 0. 0.]\n"),
    ],
)
def test_the_documented_examples_print_the_documented_numbers(example, printed):
    program = Path(__file__).parents[2] / "examples" / f"{example}.py"
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True)
    assert done.stdout.endswith(printed)
