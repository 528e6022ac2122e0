"""Constructs that not every release compiles."""

import re
from collections.abc import Callable
from typing import Any

from tapecheck.contract import outcome_of


def refusal(action: Callable[[], Any]) -> str:
    """The outcome of an action; of a compile error what is wrong, without the place in the source."""
    return re.sub(r"Error while parsing function .*?\n\s*;", "", outcome_of(action), flags=re.DOTALL)
