"""Faults and near misses of the checks of tapes, memory and threads."""

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import warp

from tapecheck.faults.bridge.wrapping import with_outputs, with_seeds
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject


def _copy(requires_grad: bool) -> None:
    """A copy from one Warp array to another, which an open tape records where they require a gradient."""
    warp.copy(*(warp.zeros(1, dtype=float, requires_grad=requires_grad) for _ in range(2)))


def _copying_backward(subject: BridgeSubject, requires_grad: bool) -> BridgeSubject:
    def used(seed: Any) -> Any:
        _copy(requires_grad)
        return seed

    return with_seeds(subject, used)


def backward_is_recorded(subject: BridgeSubject) -> BridgeSubject:
    """Backward does something that an open tape records."""
    return _copying_backward(subject, requires_grad=True)


def backward_copies_quietly(subject: BridgeSubject) -> BridgeSubject:
    """Backward copies arrays that no tape is interested in."""
    return _copying_backward(subject, requires_grad=False)


def forward_is_recorded(subject: BridgeSubject) -> BridgeSubject:
    """Forward does something that a tape open anywhere in the process records."""

    def made(output: Any) -> Any:
        _copy(requires_grad=True)
        return output

    return with_outputs(subject, made)


def _through(keep: Callable[[Any, Any], None]) -> Callable[[Any], Any]:
    class Keeping(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, value: Any) -> Any:
            output = value.clone()
            keep(ctx, output)
            return output

        @staticmethod
        def backward(ctx: Any, seed: Any) -> Any:
            return seed

    return Keeping.apply


def output_kept_on_the_context(subject: BridgeSubject) -> BridgeSubject:
    """The context of a call holds its output."""
    return with_outputs(subject, _through(lambda ctx, output: setattr(ctx, "output", output)))


def output_saved_for_backward(subject: BridgeSubject) -> BridgeSubject:
    """A call saves its output with `save_for_backward`."""
    return with_outputs(subject, _through(lambda ctx, output: ctx.save_for_backward(output)))


def _remembering(subject: BridgeSubject, count: int) -> BridgeSubject:
    remembered: list[Any] = []

    def kept(output: Any) -> Any:
        remembered.append(output.detach())
        del remembered[:-count]
        return output

    return with_outputs(subject, kept)


def every_output_remembered(subject: BridgeSubject) -> BridgeSubject:
    """A list in a module keeps every output."""
    return _remembering(subject, 10**9)


def last_output_remembered(subject: BridgeSubject) -> BridgeSubject:
    """A list in a module keeps the last output."""
    return _remembering(subject, 1)


def _buffered(subject: BridgeSubject, buffers: Any) -> BridgeSubject:
    def used(seed: Any) -> Any:
        key = str(tuple(seed.shape))
        if getattr(buffers, key, None) is None:
            setattr(buffers, key, torch.empty_like(seed))
        buffer = getattr(buffers, key)
        buffer.copy_(seed)
        time.sleep(1e-4)
        return buffer.clone()

    return with_seeds(subject, used)


def seed_buffer_of_all_threads(subject: BridgeSubject) -> BridgeSubject:
    """Seeds of one shape are copied into one buffer, whichever thread they are in."""
    return _buffered(subject, SimpleNamespace())


def seed_buffer_of_each_thread(subject: BridgeSubject) -> BridgeSubject:
    """Seeds of one shape are copied into a buffer of their thread."""
    return _buffered(subject, threading.local())
