"""The pairs within reach, found without a search."""

import torch

import sphweft


def near(positions: torch.Tensor, supports: torch.Tensor) -> sphweft.AdjacencyList:
    """Every pair within the larger support radius."""
    distance = torch.cdist(positions, positions)
    query, reference = (distance <= torch.maximum(supports[:, None], supports[None])).nonzero().T
    return sphweft.AdjacencyList.from_pairs(query, reference, len(positions), len(positions))
