"""Faults and near misses of the checks of seeds."""

from typing import Any

from tapecheck.faults.bridge.wrapping import with_seeds
from tapecheck.lazy import torch
from tapecheck.subjects.probe import BridgeSubject


def seed_wiped(subject: BridgeSubject) -> BridgeSubject:
    """The seed is zeroed in place once it has been used."""

    def used(seed: Any) -> Any:
        kept = seed.clone()
        if seed.is_contiguous():
            seed.zero_()
        return kept

    return with_seeds(subject, used)


def own_copy_wiped(subject: BridgeSubject) -> BridgeSubject:
    """A copy of the seed is zeroed once it has been used."""

    def used(seed: Any) -> Any:
        own = seed.clone()
        kept = own.clone()
        own.zero_()
        return kept

    return with_seeds(subject, used)


def seed_read_as_if_contiguous(subject: BridgeSubject) -> BridgeSubject:
    """The memory of a seed is read from its beginning, element by element, whatever its strides."""

    def read(seed: Any) -> Any:
        memory = seed.new_empty(0).set_(seed.untyped_storage())
        return torch.cat([memory, memory.new_zeros(seed.numel())])[: seed.numel()].reshape(seed.shape)

    return with_seeds(subject, read)


def seed_copied(subject: BridgeSubject) -> BridgeSubject:
    """Backward works on a copy of the seed with canonical strides."""
    return with_seeds(subject, lambda seed: seed.clone(memory_format=torch.contiguous_format))


def columns_misread(subject: BridgeSubject) -> BridgeSubject:
    """A seed whose strides are not those of its shape is read as zero, although `contiguous` leaves it alone."""

    def read(seed: Any) -> Any:
        return (
            seed * 0.0
            if seed.stride() != torch.empty_like(seed, memory_format=torch.contiguous_format).stride()
            else seed
        )

    return with_seeds(subject, read)
