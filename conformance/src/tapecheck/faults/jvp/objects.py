"""Faults and near misses of the checks of what reaches a core's forward-mode rule."""

from __future__ import annotations

from typing import Any

from tapecheck.faults.cache.views import particles_copied as particles_copied
from tapecheck.faults.cache.views import with_tensors


def states_made_from_copies(subject: Any) -> Any:
    """The rule works on clones of the tensors."""
    return with_tensors(subject, lambda tensor: tensor.clone())


def supports_detached(subject: Any) -> Any:
    """A tensor without tangent is detached, which makes another object of it."""
    from torch.autograd import forward_ad

    return with_tensors(
        subject, lambda tensor: tensor.detach() if forward_ad.unpack_dual(tensor).tangent is None else tensor
    )
