"""What the package asks of Warp: a silent start, and types by name. Warp is initialised at the first use."""

from __future__ import annotations

import ctypes
import mmap
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
import warp as wp

COUNTERS: Counter[str] = Counter()
"""What was done since the start, by name; see `sphweft.inspect.counters`."""

LOCK = threading.RLock()
"""Held while kernels are made and while a module loads: two threads that load one compile it twice."""

SCALARS: dict[torch.dtype, Any] = {torch.float32: wp.float32, torch.float64: wp.float64, torch.int32: wp.int32}
DTYPES: dict[Any, torch.dtype] = {scalar: dtype for dtype, scalar in SCALARS.items()}

LARGE = 1 << 25
"""From how many bytes on memory is asked for in large pages: what the C library maps anew each time."""


@contextmanager
def silence() -> Iterator[None]:
    """Warp prints nothing meanwhile; its settings are the user's again afterwards."""
    levels = ("quiet", True) if not hasattr(wp.config, "log_level") else ("log_level", wp.LOG_WARNING)
    name, value = levels
    before = getattr(wp.config, name)
    setattr(wp.config, name, max(before, value))
    try:
        yield
    finally:
        setattr(wp.config, name, before)


@cache
def start() -> None:
    """Initialises Warp, once."""
    with LOCK, silence():
        wp.init()


@cache
def warp_device(device: torch.device) -> Any:
    """The Warp device that a torch device is."""
    start()
    return wp.device_from_torch(device)


def fresh_indices(count: int, device: torch.device) -> torch.Tensor:
    """An int32 tensor of undefined values; where the system has large pages, a large one is faulted in by those."""
    made = torch.empty(count, dtype=torch.int32, device=device)
    if device.type == "cpu" and made.nbytes >= LARGE and sys.platform == "linux":
        begin, page = made.data_ptr(), mmap.PAGESIZE
        ahead = -begin % page
        within = ctypes.c_size_t((made.nbytes - ahead) // page * page)
        ctypes.CDLL(None).madvise(ctypes.c_void_p(begin + ahead), within, mmap.MADV_HUGEPAGE)
    return made


@cache
def element_type(scalar: Any, shape: tuple[int, ...]) -> Any:
    """The Warp type of one entry: a scalar, a vector, or a matrix (last axis the columns)."""
    if not shape:
        return scalar
    if len(shape) == 1:
        return wp.types.vector(length=shape[0], dtype=scalar)
    return wp.types.matrix(shape=shape, dtype=scalar)


@cache
def descriptor_type() -> Any:
    """The class of the descriptor that Warp passes to a kernel for an array."""
    start()
    return type(wp.empty(0, dtype=wp.float32, device="cpu").__ctype__())
