"""`python -m sphweft --version`: what a report of a problem should name."""

import argparse
from importlib.metadata import version

from sphweft import __doc__, __version__

parser = argparse.ArgumentParser(prog="python -m sphweft", description=__doc__)
installed = f"sphweft {__version__}, Warp {version('warp-lang')}, torch {version('torch')}"
parser.add_argument("--version", action="version", version=installed)
parser.parse_args()
parser.print_help()
