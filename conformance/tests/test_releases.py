"""Which Warp is judged, and the errors on the way to it."""

import subprocess

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
