"""Slices of a launch, side by side: Warp's CPU kernels run on one thread, and a launch releases the interpreter.

How a launch is cut follows from its size alone, so that no result depends on the number of threads, which is torch's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from typing import NamedTuple

import torch

from sphweft.runtime import LOCK

SMALLEST, MOST = 8192, 8
"""A slice has so many threads at least, a launch so many slices at most: a hand-off costs 0.1 to 0.2 ms, and backward
needs gradient buffers for each slice."""


class Slice(NamedTuple):
    """So many threads of a launch, from the first on."""

    first: int
    threads: int


def slices_of(threads: int) -> list[Slice]:
    """How a launch of so many threads is cut."""
    parts = max(1, min(threads // SMALLEST, MOST))
    edges = [threads * part // parts for part in range(parts + 1)]
    return [Slice(first, last - first) for first, last in pairwise(edges)]


_pools: dict[int, ThreadPoolExecutor] = {}
os.register_at_fork(after_in_child=_pools.clear)  # a child has none of its parent's threads


def side_by_side(tasks: Sequence[Callable[[], None]]) -> None:
    """Runs tasks on as many threads as torch uses, this one among them; what one raises is raised."""
    helpers = min(torch.get_num_threads(), len(tasks)) - 1
    if helpers < 1:
        for task in tasks:
            task()
        return
    with LOCK:
        if helpers not in _pools:
            _pools[helpers] = ThreadPoolExecutor(helpers, thread_name_prefix="sphweft")
        pool = _pools[helpers]
    waiting = iter(tasks)  # whoever is free takes the next one

    def work() -> None:
        for task in waiting:
            task()

    others = [pool.submit(work) for _ in range(helpers)]
    try:
        work()
    finally:
        _wait_out(waiting, others)
    for other in others:
        other.result()


def _wait_out(waiting: Iterator[Callable[[], None]], others: Sequence[Future[None]]) -> None:
    """Waits until nobody works, whoever interrupts: what tasks write to lives as long as the caller waits."""
    try:
        wait(others)
    except BaseException:
        for _ in waiting:
            pass
        _wait_out(waiting, others)
        raise
