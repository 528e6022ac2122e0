"""Prints the releases of releases.toml as a list in JSON, or with `newest` the newest one: what hosted CI runs."""

import json
import sys
from pathlib import Path

import tomllib

LIST = Path(__file__).parents[1] / "conformance/src/tapecheck/releases.toml"
versions = [release["version"] for release in tomllib.loads(LIST.read_text())["release"]]
print(versions[-1] if sys.argv[1:] == ["newest"] else json.dumps(versions))
