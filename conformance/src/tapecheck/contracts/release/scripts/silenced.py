# mypy: ignore-errors
"""Sets the named setting that silences Warp, then makes it start and load a module."""

import sys

import warp as wp

if sys.argv[2] == "quiet":
    wp.config.quiet = True
elif sys.argv[2] == "log_level":
    wp.config.log_level = wp.LOG_WARNING

import sound

sound.report(sound.doubled())
