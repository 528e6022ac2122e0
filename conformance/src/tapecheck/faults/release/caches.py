"""Faults and near misses of the checks of the kernel cache: code that runs in each process before the script."""

from types import SimpleNamespace

from tapecheck.contracts.release.processes import PRELUDE
from tapecheck.subjects.warp import WarpSubject

LAUNCH = """
original = wp.launch
failed = set()
def launch(kernel, **options):
    try:
        original(kernel, **options)
    except Exception as problem:
        {mend}
        failed.add(kernel.key)
wp.launch = launch
"""


def with_prelude(subject: WarpSubject, code: str) -> WarpSubject:
    """The subject whose processes run this code before their script."""
    planted = subject.replacing()
    setattr(planted, PRELUDE, getattr(subject, PRELUDE, "") + code)
    return planted


def launch_swallows_the_second_error(subject: WarpSubject) -> WarpSubject:
    """A kernel's error is raised at its first launch only; later ones do nothing."""
    return with_prelude(subject, LAUNCH.format(mend="if kernel.key not in failed: failed.add(kernel.key); raise"))


def launch_swallows_every_error(subject: WarpSubject) -> WarpSubject:
    """A kernel that cannot be loaded is not launched, and nothing is said."""
    return with_prelude(subject, LAUNCH.format(mend="pass"))


def launch_introduces_its_errors(subject: WarpSubject) -> WarpSubject:
    """An error's text has an introduction."""
    return with_prelude(subject, LAUNCH.format(mend='raise RuntimeError(f"at a launch: {problem}") from None'))


def launch_names_the_cache(subject: WarpSubject) -> WarpSubject:
    """An error at a launch names the kernel cache, where the damage may lie."""
    mend = 'raise RuntimeError(f"the kernel cache may be damaged: {problem}") from None'
    return with_prelude(subject, LAUNCH.format(mend=mend))


def builds_hold_a_lock_file(subject: WarpSubject) -> WarpSubject:
    """A process that finds another one at work on the same cache gives up."""
    code = """
import os
os.open(os.path.join(os.environ["WARP_CACHE_PATH"], "lock"), os.O_CREAT | os.O_EXCL)
"""
    return with_prelude(subject, code)


def settings_fall_on_deaf_ears(subject: WarpSubject) -> WarpSubject:
    """What silences Warp is not taken."""
    code = """
class Deaf(type(wp.config)):
    def __setattr__(self, name, value):
        if name not in ("quiet", "log_level"):
            super().__setattr__(name, value)
wp.config.__class__ = Deaf
"""
    return with_prelude(subject, code)


def quiet_sets_the_log_level(subject: WarpSubject) -> WarpSubject:
    """Where there are log levels, `quiet` is one of them, whether the release still has it or not."""
    if not hasattr(subject, "LOG_WARNING"):
        return subject
    code = """
class Quieting(type(wp.config)):
    def __setattr__(self, name, value):
        if name == "quiet":
            name, value = "log_level", wp.LOG_WARNING if value else wp.LOG_INFO
        super().__setattr__(name, value)
wp.config.__class__ = Quieting
"""
    return with_prelude(subject.replacing(config=SimpleNamespace(quiet=False)), code)


def nothing_is_loaded_ahead(subject: WarpSubject) -> WarpSubject:
    """A module waits for its first launch."""
    return with_prelude(subject, "wp.load_module = lambda *arguments, **options: None")


def launches_with_other_options(subject: WarpSubject) -> WarpSubject:
    """A launch sets an option of the module that it needs, so that it is built again."""
    code = """
launch = wp.launch
def with_fast_math(kernel, **options):
    kernel.module.options["fast_math"] = True
    kernel.module.mark_modified()
    return launch(kernel, **options)
wp.launch = with_fast_math
"""
    return with_prelude(subject, code)


def loaded_ahead_twice(subject: WarpSubject) -> WarpSubject:
    """A module is loaded ahead twice."""
    code = """
load = wp.load_module
wp.load_module = lambda *arguments, **options: (load(*arguments, **options), load(*arguments, **options))
"""
    return with_prelude(subject, code)
