"""The examples print what they claim."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"


def output_of(example: str, kernels: Path, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / example), *arguments]
    environment = {**os.environ, "WARP_CACHE_PATH": str(kernels)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_quickstart(tmp_path):
    pairs = re.findall(r": ([\d.]+), analytic ([\d.]+)", output_of("quickstart.py", tmp_path))
    assert len(pairs) == 3
    for found, analytic in pairs:
        assert abs(float(found) / float(analytic) - 1) < 0.03


def test_pairwise_force(tmp_path):
    printed = output_of("pairwise_force.py", tmp_path)
    found, expected, difference, potential, twice, change, by_hessian = map(
        float, re.findall(r": ([\d.e+-]+)", printed)
    )
    assert found == expected
    assert difference < 1e-12
    assert abs(potential / twice - 1) < 1e-6
    assert change == by_hessian


def test_newton_krylov(tmp_path):
    printed = output_of("newton_krylov.py", tmp_path)
    exact, differences = (
        list(map(float, re.findall(r"\|∇E\| ([\d.e+-]+)", part))) for part in printed.split("Hessian ")[1:]
    )
    for history in (exact, differences):
        assert history[-1] < 1e-8 * history[0]
        assert history[-1] / history[-2] < 0.1 * history[2] / history[1]
    assert float(re.search(r"→ ([\d.e+-]+)", printed)[1]) < 1e-10


@pytest.mark.parametrize("example", ["inverse", "network"])
def test_what_an_example_asserts_holds(example, tmp_path):
    assert f"{example}.png" in output_of(f"{example}.py", tmp_path)


def test_dam_break(tmp_path):
    picture = tmp_path / "dam.png"
    shorter = ("--spacing", "0.025", "--seconds", "0.2", "--picture", str(picture))
    printed = output_of("dam_break.py", tmp_path, *shorter)
    inside, count = map(int, re.search(r"in the tank: (\d+) of (\d+)", printed).groups())
    energy, front = (float(re.search(rf"{word}: ([\d.]+)", printed)[1]) for word in ("energy", "front"))
    assert inside == count == 384
    assert 0.9 < energy < 1.001  # some is lost to viscosity, none is won
    assert 0.6 < front < 0.9  # a free fall of the front would be at 0.4 + 2 (g H)^½ t = 1.37
    assert picture.stat().st_size > 10_000
