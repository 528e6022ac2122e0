# mypy: ignore-errors
"""Loads a module ahead, and counts what each step builds."""

import os
from pathlib import Path

import sound
import warp as wp


def built():
    return len(list(Path(os.environ["WARP_CACHE_PATH"]).rglob("wp_*/")))


before = built()
wp.load_module("sound", device=wp.get_device())
ahead = built()
sound.report({"result": sound.doubled(), "built ahead": ahead - before, "built at the launch": built() - ahead})
