"""A pytest plugin: runs the Python blocks of a page in order, in one namespace."""

from pathlib import Path

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

pytest_collect_file = Sybil(
    path=str(Path(__file__).parents[1]), patterns=["**/*.md"], parsers=[PythonCodeBlockParser(), SkipParser()]
).pytest()
