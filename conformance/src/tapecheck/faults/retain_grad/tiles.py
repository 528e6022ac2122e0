"""Faults and near misses of the tile checks."""

from typing import Any

from tapecheck.faults.planting import with_function
from tapecheck.faults.retain_grad.overwrites import seed_is_put_back
from tapecheck.faults.retain_grad.replay import INPUTS, Entries, arrays_of, replays_a_copied_list, with_replay
from tapecheck.subjects.warp import WarpSubject

__all__ = ["replays_a_copied_list", "seed_is_put_back"]


def accumulator_keeps_its_seed(subject: WarpSubject) -> WarpSubject:
    """The store into the accumulator leaves the seed in its gradient, so that S - 1.3 S comes of it."""

    def rewrite(entries: Entries) -> Entries:
        accumulator = arrays_of(entries, INPUTS)[-1]
        seeds: list[Any] = []

        def add_seed() -> None:
            accumulator.grad.assign(accumulator.grad.numpy() + seeds[0])

        return [add_seed, *entries, lambda: seeds.append(accumulator.grad.numpy().copy())]

    return with_replay(subject, rewrite)


def explicit_adjoints_work_on_a_copy(subject: WarpSubject) -> WarpSubject:
    """An explicit adjoint launch gets a copy of the seed."""

    def launch_tiled(original: Any, *args: Any, adj_outputs: Any, **options: Any) -> Any:
        return original(*args, adj_outputs=[subject.clone(seed) for seed in adj_outputs], **options)

    return with_function(subject, "launch_tiled", launch_tiled)


def explicit_dimension_as_tuple(subject: WarpSubject) -> WarpSubject:
    """`launch_tiled` is called with its dimension as a tuple."""

    def launch_tiled(original: Any, *args: Any, dim: Any, **options: Any) -> Any:
        return original(*args, dim=tuple(dim), **options)

    return with_function(subject, "launch_tiled", launch_tiled)
