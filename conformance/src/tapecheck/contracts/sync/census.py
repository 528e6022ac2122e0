"""A census of readbacks: every place where the host asks the device for a value, counted by the module that asks."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import warp

from tapecheck.contracts.probing import replaced
from tapecheck.lazy import torch

TENSOR = ("item", "tolist", "numpy", "cpu", "__bool__", "__int__", "__float__", "__index__", "__array__")
ARRAY = ("numpy", "list")
WARP = ("synchronize", "synchronize_device", "synchronize_stream", "synchronize_event")


@contextmanager
def readbacks() -> Iterator[Counter[str]]:
    """Counts readbacks meanwhile, as `module: name`.

    Names of torch tensors and Warp arrays and Warp's synchronization are intercepted, on every device; on CUDA, torch's
    own debug mode finds those that happen inside torch as well.
    """
    counts: Counter[str] = Counter()
    inside = [False]

    def counted(name: str, function: Any) -> Any:
        def asking(*arguments: Any, **options: Any) -> Any:
            if inside[0]:
                return function(*arguments, **options)
            inside[0] = True
            try:
                counts[f"{sys._getframe(1).f_globals.get('__name__', '?')}: {name}"] += 1
                return function(*arguments, **options)
            finally:
                inside[0] = False

        return asking

    with ExitStack() as stack:
        for owner, names in ((torch.Tensor, TENSOR), (warp.array, ARRAY), (warp, WARP)):
            present = [name for name in names if hasattr(owner, name)]
            others = {name: counted(_shown(owner, name), getattr(owner, name)) for name in present}
            stack.enter_context(replaced(owner, others))
        with _debug_mode() as found:
            yield counts
        counts.update(found)


def _shown(owner: Any, name: str) -> str:
    return name.strip("_") if owner is torch.Tensor else f"warp {name}"


@contextmanager
def _debug_mode() -> Iterator[Counter[str]]:
    """What torch's sync debug mode warns of meanwhile; nothing where no CUDA device is judged."""
    found: Counter[str] = Counter()
    if not warp.get_device().is_cuda:
        yield found
        return
    before = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield found
        finally:
            torch.cuda.set_sync_debug_mode(before)
    found.update(f"{warning.filename}: synchronizing" for warning in caught if "synchroniz" in str(warning.message))
