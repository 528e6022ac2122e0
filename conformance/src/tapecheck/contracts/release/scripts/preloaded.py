# mypy: ignore-errors
"""Loads a module ahead, with the named block size where one is given, and counts what each step builds."""

import os
import sys
from pathlib import Path

import sound
import warp as wp


def built():
    return len(list(Path(os.environ["WARP_CACHE_PATH"]).rglob("wp_*/")))


before = built()
options = {"block_dim": int(sys.argv[2])} if len(sys.argv) > 2 else {}
wp.load_module("sound", device=wp.get_device(), **options)
ahead = built()
sound.report({"result": sound.doubled(), "built ahead": ahead - before, "built at the launch": built() - ahead})
