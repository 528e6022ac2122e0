"""What a correction is, and how the kernel of a pair is corrected: CRK first, then renormalization."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tapecheck.oracles.pairs import Pairs


@dataclass(frozen=True, eq=False)
class Crk:
    """Coefficients of the reproducing kernel of each query (Frontiere, Raskin & Owen 2017).

    Attributes:
        a: A, shape (N,).
        b: B [1/m], shape (N, d).
        grad_a: ∂A [1/m], shape (N, d).
        grad_b: ∂_g B_c [1/m²], shape (N, d, d), the derivative's index g first.
    """

    a: Tensor
    b: Tensor
    grad_a: Tensor
    grad_b: Tensor


@dataclass(frozen=True, eq=False)
class Corrections:
    """What corrects an operator; each may be left out.

    Attributes:
        crk: the reproducing kernel of each query.
        renormalization: L, shape (N, d, d).
        omega: the grad-h factor Ω of each query, shape (N,).
        reference_omega: the grad-h factor Ω of each reference, shape (M,); only the symmetric scheme reads it.
    """

    crk: Crk | None = None
    renormalization: Tensor | None = None
    omega: Tensor | None = None
    reference_omega: Tensor | None = None


NONE = Corrections()


def corrected_value(pairs: Pairs, crk: Crk | None) -> Tensor:
    """W^R = A (1 + B·x) W [m^-d], shape (N, M); W without CRK."""
    if crk is None:
        return pairs.value()
    linear = 1 + (crk.b[:, None] * pairs.x).sum(-1)
    return crk.a[:, None] * linear * pairs.value()


def corrected_gradient(pairs: Pairs, crk: Crk | None, renormalization: Tensor | None = None) -> Tensor:
    """L ∇W^R [m^-(d+1)], shape (N, M, d), each of the two corrections where it is given.

    ∇W^R = A W B + A (1 + B·x) ∇W + (1 + B·x) W ∂A + A W (∂B·x), (∂B·x)_g = Σ_c ∂_gB_c x_c.
    """
    gradient = pairs.gradient()
    if crk is not None:
        value = pairs.value()[..., None]
        a, b, grad_a = crk.a[:, None, None], crk.b[:, None], crk.grad_a[:, None]
        linear = 1 + (b * pairs.x).sum(-1, keepdim=True)
        grad_b_x = torch.einsum("ngc,nmc->nmg", crk.grad_b, pairs.x)
        gradient = a * value * b + a * linear * gradient + linear * value * grad_a + a * value * grad_b_x
    if renormalization is not None:
        gradient = torch.einsum("nab,nmb->nma", renormalization, gradient)
    return gradient
