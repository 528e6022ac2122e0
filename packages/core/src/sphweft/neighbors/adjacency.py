"""The adjacency list: for every query particle the reference particles that may be in its support."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from sphweft.errors import InputError, same_device, tensor_of


@dataclass(frozen=True, eq=False, repr=False)
class AdjacencyList:
    """Compressed rows: the references of query i are `neighbors[offsets[i] : offsets[i] + counts[i]]`.

    Pairs outside the support radius may be listed, they contribute nothing; a pair that is not listed is not seen.
    Values are checked once, here; whoever changes the tensors in place afterwards answers for them.

    Attributes:
        neighbors: reference indices, int32, shape (pairs,).
        offsets: start of each query's row, int32, shape (N,).
        counts: length of each query's row, int32, shape (N,).
        reference_count: the number of reference particles M.

    Raises:
        InputError: wrong dtype, shape or device, a row outside the list, or an index outside the references.
    """

    neighbors: torch.Tensor
    offsets: torch.Tensor
    counts: torch.Tensor
    reference_count: int

    def __post_init__(self) -> None:
        for name in ("neighbors", "offsets", "counts"):
            value = tensor_of(name, getattr(self, name), (torch.int32,), "(pairs,)" if name == "neighbors" else "(N,)")
            if value.ndim != 1 or not value.is_contiguous():
                raise InputError(name, "one contiguous axis", f"shape {tuple(value.shape)}, strides {value.stride()}")
            same_device(name, value, self.neighbors, "neighbors")
        if self.counts.shape != self.offsets.shape:
            raise InputError("counts", f"shape {tuple(self.offsets.shape)}", f"shape {tuple(self.counts.shape)}")
        self._check_values()

    def __repr__(self) -> str:
        sizes = f"query_count={self.query_count}, reference_count={self.reference_count}, pairs={len(self.neighbors)}"
        return f"{type(self).__name__}({sizes}, {self._further()}device={self.neighbors.device})"

    def _further(self) -> str:
        """What a kind of list has to say of itself besides."""
        return ""

    def _check_values(self) -> None:
        pairs = self.neighbors.shape[0]
        if pairs and not (int(self.neighbors.min()) >= 0 and int(self.neighbors.max()) < self.reference_count):
            found = f"{int(self.neighbors.min())} to {int(self.neighbors.max())}"
            raise InputError("neighbors", f"indices from 0 to {self.reference_count - 1}", found)
        if self.offsets.shape[0]:
            ends = self.offsets.long() + self.counts
            if int(self.counts.min()) < 0 or int(self.offsets.min()) < 0 or int(ends.max()) > pairs:
                raise InputError("offsets, counts", f"rows inside the {pairs} pairs", "a row outside of them")

    @classmethod
    def from_pairs(
        cls, query: torch.Tensor, reference: torch.Tensor, query_count: int, reference_count: int
    ) -> AdjacencyList:
        """Makes the list from pairs of indices, in any order; rows come out sorted by reference.

        Args:
            query: query index of each pair, integer, shape (pairs,).
            reference: reference index of each pair, integer, shape (pairs,).
            query_count: the number of query particles N.
            reference_count: the number of reference particles M.

        Raises:
            InputError: an index is outside, or there are 2³¹ pairs or more.
        """
        if query.shape != reference.shape or query.ndim != 1:
            raise InputError("query, reference", "two tensors of shape (pairs,)", f"{query.shape}, {reference.shape}")
        if query.shape[0] >= 2**31:
            raise InputError("query", "fewer than 2³¹ pairs", str(query.shape[0]))
        if query.numel() and not (int(query.min()) >= 0 and int(query.max()) < query_count):
            found = f"{int(query.min())} to {int(query.max())}"
            raise InputError("query", f"indices from 0 to {query_count - 1}", found)
        order = torch.argsort(query.long() * max(reference_count, 1) + reference.long())
        counts = torch.bincount(query.long(), minlength=query_count)
        offsets = counts.cumsum(0) - counts
        return cls(reference[order].int(), offsets.int(), counts.int(), reference_count)

    @classmethod
    def empty(cls, query_count: int, reference_count: int, device: torch.device) -> AdjacencyList:
        """The list without a pair."""
        nobody = torch.zeros(query_count, dtype=torch.int32, device=device)
        return cls(nobody[:0], nobody, nobody.clone(), reference_count)

    @property
    def query_count(self) -> int:
        """The number of query particles N."""
        return self.offsets.shape[0]
