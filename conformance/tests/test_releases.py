"""Which Warp is judged, and the errors on the way to it."""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tapecheck import releases
from tapecheck.releases import NoWarp, nearest, overlay


def test_the_list():
    assert releases.releases()[0] == "1.10.1" and releases.releases()[-1] == "1.19.0"
    assert releases.releases("default") == ("1.12.1", "1.13.0", "1.16.0", "1.19.0")


@pytest.mark.parametrize(
    ("wanted", "closest"), [("1.13.7", "1.13.0"), ("1.99", "1.19.0"), ("0.1", "1.10.1"), ("1.12.9", "1.12.1")]
)
def test_the_nearest_release(wanted, closest):
    assert nearest(wanted, list(releases.releases())) == closest


@pytest.mark.parametrize(
    ("stderr", "problem"),
    [
        (
            "ERROR: no match (from versions: 1.18.0, 1.19.0)",
            "Warp 1.18.7 does not exist; the nearest release is 1.18.0",
        ),
        (
            "ERROR: no match (from versions: none)\nERROR: No matching distribution found",
            "no package index can be reached",
        ),
        ("WARNING: Retrying after connection broken: Temporary failure in name resolution", "no package index"),
        ("ERROR: No space left on device", "cannot be installed:\nERROR: No space left"),
        (
            "retrying: connection broken\nThe conflict resolution failed\nOSError: [Errno 28] No space left on device",
            r"cannot be installed:\n.*\n.*\nOSError: \[Errno 28\] No space left",
        ),
    ],
)
def test_a_release_that_cannot_be_fetched(monkeypatch, tmp_path, stderr, problem):
    failed = subprocess.CompletedProcess([], 1, "", stderr)
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: failed)
    with pytest.raises(NoWarp, match=problem):
        overlay("1.18.7", tmp_path)


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [("newest", "neither a release number, a wheel file nor a folder"), ("gone.whl", "no wheel file gone.whl")],
)
def test_what_is_no_warp(tmp_path, wanted, problem):
    with pytest.raises(NoWarp, match=problem):
        overlay(wanted, tmp_path)


def test_a_store_that_cannot_be_written(monkeypatch, tmp_path):
    monkeypatch.setattr("tapecheck.releases.os.access", lambda path, mode: False)
    with pytest.raises(NoWarp, match="cannot be written, and Warp's kernel cache must be"):
        overlay(None, tmp_path)


def test_two_at_once_fetch_a_release_once(monkeypatch, tmp_path):
    fetched = []

    def install(command, **options):
        if "pip" in command:
            fetched.append(command)
            time.sleep(0.3)
            Path(command[command.index("--target") + 1], "warp").mkdir(parents=True)
            Path(command[command.index("--target") + 1], "warp", "__init__.py").write_text("")
        return subprocess.CompletedProcess(command, 0, "version 1.18.0\n", "")

    monkeypatch.setattr(subprocess, "run", install)
    with ThreadPoolExecutor() as pool:
        versions = list(pool.map(lambda _: overlay("1.18.0", tmp_path).version, range(3)))
    assert versions == ["1.18.0"] * 3
    assert len(fetched) == 1


def test_a_folder_without_a_warp_is_not_the_installed_one(tmp_path):
    (tmp_path / "warp").mkdir()
    with pytest.raises(NoWarp, match="holds no Warp: a folder must contain warp/"):
        overlay(str(tmp_path), tmp_path)


def test_a_warp_that_cannot_be_imported(tmp_path):
    (tmp_path / "warp").mkdir()
    (tmp_path / "warp" / "__init__.py").write_text("raise ImportError('libcuda is broken')")
    with pytest.raises(NoWarp, match="cannot be imported: ImportError: libcuda is broken. Name a release"):
        overlay(str(tmp_path), tmp_path)


def test_a_folder_is_laid_over(tmp_path):
    (tmp_path / "warp").mkdir()
    (tmp_path / "warp" / "__init__.py").write_text("__version__ = '9.9.9'")
    laid = overlay(str(tmp_path), tmp_path)
    assert laid.version == "9.9.9"
    assert laid.environment["WARP_CACHE_PATH"].endswith("kernels/9.9.9")
