"""Where particles are: the domain, and the minimum image of the vector between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd import forward_ad


@dataclass(frozen=True, eq=False)
class Domain:
    """A box.

    Attributes:
        minimum: lower corner [m], one number an axis.
        maximum: upper corner [m], one number an axis.
        periodic: whether an axis is periodic, one truth value an axis.
    """

    minimum: Sequence[float] | Tensor
    maximum: Sequence[float] | Tensor
    periodic: Sequence[bool] | Tensor


def box(domain: Domain, like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Lower corner [m], upper corner [m] and periodicity of a domain, tensors of shape (d,).

    Raises:
        ValueError: a corner is a tensor that something is differentiated by; no operator has such a derivative.
    """
    for name, corner in (("minimum", domain.minimum), ("maximum", domain.maximum)):
        if isinstance(corner, Tensor) and (corner.requires_grad or forward_ad.unpack_dual(corner).tangent is not None):
            raise ValueError(f"domain.{name} is differentiated by, which no operator knows a derivative for: detach it")
    minimum = torch.as_tensor(domain.minimum, dtype=like.dtype, device=like.device)
    maximum = torch.as_tensor(domain.maximum, dtype=like.dtype, device=like.device)
    return minimum, maximum, torch.as_tensor(domain.periodic, dtype=torch.bool, device=like.device)


def wrapped(positions: Tensor, domain: Domain) -> Tensor:
    """Positions moved by whole periods into [minimum, maximum), for each periodic axis.

    Args:
        positions: [m], shape (n, d).
        domain: the box.

    Returns:
        Positions [m], shape (n, d), without derivative. One inside the box is unchanged to the bit.
    """
    positions = positions.detach()
    minimum, maximum, periodic = box(domain, positions)
    folded = minimum + torch.remainder(positions - minimum, maximum - minimum)
    # One just below the box rounds up to the upper corner, which is the lower one.
    folded = torch.where(folded >= maximum, minimum, folded)
    inside = (minimum <= positions) & (positions < maximum)
    return torch.where(periodic & ~inside, folded, positions)


def minimum_image(query: Tensor, reference: Tensor, domain: Domain) -> Tensor:
    """x_ij: the nearest image of x_i - x_j, each periodic component within [-L/2, L/2).

    Its derivative is that of x_i - x_j: wrapping has none.

    Args:
        query: positions x_i [m], shape (N, d), wrapped or not.
        reference: positions x_j [m], shape (M, d), wrapped or not.
        domain: the box.

    Returns:
        Vectors [m], shape (N, M, d).
    """
    minimum, maximum, periodic = box(domain, query)
    period = maximum - minimum
    nearest = wrapped(query, domain)[:, None] - wrapped(reference, domain)[None]
    nearest = torch.where(periodic & (nearest < -period / 2), nearest + period, nearest)
    nearest = torch.where(periodic & (nearest >= period / 2), nearest - period, nearest)
    difference = query[:, None] - reference[None]
    return nearest + (difference - difference.detach())  # the bracket is zero, and carries the derivative


def require_nearest_image(radius: Tensor, domain: Domain) -> None:
    """Sees to it that the nearest image is the only one in reach.

    Args:
        radius: search radii [m], any shape.
        domain: the box.

    Raises:
        ValueError: a radius is larger than half the period of an axis.
    """
    minimum, maximum, periodic = box(domain, radius)
    for axis, (length, wraps) in enumerate(zip((maximum - minimum).tolist(), periodic.tolist(), strict=True)):
        if wraps and bool((radius > length / 2).any()):
            raise ValueError(
                f"a support of {float(radius.max()):g} is larger than half the period of axis {axis}, {length / 2:g}: "
                "a pair could meet through two images; use smaller supports or a larger domain"
            )
