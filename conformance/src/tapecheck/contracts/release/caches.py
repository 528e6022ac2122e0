"""The kernel cache: kernels that do not compile, damaged files, several processes at once."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tapecheck.contract import Evidence, check
from tapecheck.contracts.release.processes import SECONDS, Running, built_cache, empty_cache, finished
from tapecheck.faults.release import caches as faults
from tapecheck.subjects.warp import WarpSubject

DOUBLED = "values [2.0, 4.0]"
SLOW: dict[str, Any] = {"seconds": 2 * SECONDS}


@check(
    "release.compile-error-loud",
    case="translation",
    faults=[faults.launch_swallows_the_second_error],
    near_misses=[faults.launch_introduces_its_errors],
    **SLOW,
)
def untranslatable(wp: WarpSubject) -> Evidence:
    with built_cache(wp) as kernel_cache:
        cold, warm = (finished(wp, "broken.py", kernel_cache) for _ in range(2))
    error = re.compile("undefined_function")
    sound_or_loud = re.compile(r"^values \[7\.0, 7\.0\]$|undefined_function")
    each = {
        "broken kernel": [error] * 3,
        "sound kernel of its module": [sound_or_loud] * 2,
        "kernel of another module": DOUBLED,
    }
    return Evidence({"cold": _shortened(cold.report), "warm": _shortened(warm.report)}, {"cold": each, "warm": each})


def _shortened(report: dict[str, Any]) -> dict[str, Any]:
    """The report with each error's path left out, which varies between machines."""
    return {
        key: [_first_and_cause(text) for text in value] if isinstance(value, list) else value
        for key, value in report.items()
    }


def _first_and_cause(text: str) -> str:
    kind, _, message = text.partition(": ")
    found = re.search(r"undefined_function|build failed with error code -?\d+", message)
    return f"{kind}: {found[0]}" if message and found else text


@check(
    "release.compile-error-loud",
    case="compiler",
    faults=[faults.launch_swallows_the_second_error],
    near_misses=[faults.launch_introduces_its_errors],
    **SLOW,
)
def uncompilable(wp: WarpSubject) -> Evidence:
    with built_cache(wp) as kernel_cache:
        report = finished(wp, "broken_natively.py", kernel_cache).report
    return Evidence(
        observed=_shortened(report),
        expected={"broken kernel": [re.compile("build failed")] * 3, "kernel of another module": DOUBLED},
    )


class Damage(NamedTuple):
    """Which files of a cache are damaged, and what is left of their content."""

    suffixes: tuple[str, ...]
    left: Callable[[bytes], bytes]

    def strike(self, kernel_cache: Path) -> None:
        for file in kernel_cache.rglob("*"):
            if file.suffix in self.suffixes:
                file.write_bytes(self.left(file.read_bytes()))


BINARIES = (".o", ".cubin", ".ptx")
DAMAGES = {
    "object-truncated": Damage(BINARIES, lambda content: content[: len(content) // 2]),
    "object-empty": Damage(BINARIES, lambda content: b""),
    "object-garbled": Damage(BINARIES, lambda content: b"x" * len(content)),
    "description-truncated": Damage((".meta",), lambda content: content[: len(content) // 2]),
    "description-empty": Damage((".meta",), lambda content: b""),
}


@check(
    "release.corrupt-cache",
    cases=DAMAGES,
    oracle=faults.launch_names_the_cache,
    faults=[faults.launch_swallows_every_error],
    near_misses=[faults.launch_introduces_its_errors],
    **SLOW,
)
def corrupt_cache(wp: WarpSubject, damage: Damage) -> Evidence:
    with built_cache(wp) as kernel_cache:
        damage.strike(kernel_cache)
        done = finished(wp, "sound.py", kernel_cache)
    rebuilt_or_loud = re.compile(rf"^{re.escape(DOUBLED)}$|(load|kernel).* module|kernel cache")
    return Evidence(
        observed={"ending": done.ending, "launches": _without_device(done.report)},
        expected={"ending": "status 0", "launches": [rebuilt_or_loud] * 2},
    )


def _without_device(report: list[str] | None) -> list[str] | None:
    """Errors without device and hash, which vary."""
    return report and [re.sub(r" \(device=.*?\)| on device.*", "", text) for text in report]


@check(
    "release.parallel-cache",
    faults=[faults.builds_hold_a_lock_file],
    near_misses=[faults.launch_introduces_its_errors],
    **SLOW,
)
def parallel_cache(wp: WarpSubject) -> Evidence:
    with empty_cache() as kernel_cache:
        together = [process.finish() for process in [Running(wp, "sound.py", kernel_cache) for _ in range(2)]]
        afterwards = finished(wp, "sound.py", kernel_cache)
    return Evidence(
        observed={
            "at once": [[done.ending, done.report] for done in together],
            "afterwards": [afterwards.ending, afterwards.report],
        },
        expected={"at once": [["status 0", [DOUBLED] * 2]] * 2, "afterwards": ["status 0", [DOUBLED] * 2]},
    )


DRIVER_NOTICE = "Warp CUDA "
"""How the notice of a machine without a CUDA driver begins: it comes from the driver's loader, whatever is set."""


@check(
    "release.quiet",
    case="quiet",
    needs=("config.quiet",),
    oracle=faults.quiet_sets_the_log_level,
    faults=[faults.settings_fall_on_deaf_ears],
    near_misses=[faults.launch_introduces_its_errors],
    **SLOW,
)
def quiet(wp: WarpSubject) -> Evidence:
    return silenced_by(wp, "quiet")


@check(
    "release.quiet",
    case="log_level",
    needs=("config.log_level",),
    faults=[faults.settings_fall_on_deaf_ears],
    near_misses=[faults.launch_introduces_its_errors],
    **SLOW,
)
def log_level(wp: WarpSubject) -> Evidence:
    return silenced_by(wp, "log_level")


def silenced_by(wp: WarpSubject, setting: str) -> Evidence:
    """What Warp prints with that setting, and that it prints something without."""
    with built_cache(wp) as kernel_cache:
        done = finished(wp, "silenced.py", kernel_cache, setting, start=False)
        unset = finished(wp, "silenced.py", kernel_cache, "nothing", start=False)
    complaints = [line for line in done.stderr.splitlines() if not line.startswith(DRIVER_NOTICE)]
    return Evidence(
        observed={
            "result": done.report,
            "printed": len(done.stdout.splitlines()),
            "on standard error": complaints,
            "speaks when nothing is set": "initialized" in unset.stdout,
        },
        expected={"result": DOUBLED, "printed": 0, "on standard error": [], "speaks when nothing is set": True},
    )


@check(
    "release.preload",
    faults=[faults.nothing_is_loaded_ahead, faults.launches_with_other_options],
    near_misses=[faults.loaded_ahead_twice],
    **SLOW,
)
def preload(wp: WarpSubject) -> Evidence:
    with empty_cache() as kernel_cache:
        done = finished(wp, "preloaded.py", kernel_cache)
    return Evidence(done.report, {"result": DOUBLED, "built ahead": 1, "built at the launch": 0})
