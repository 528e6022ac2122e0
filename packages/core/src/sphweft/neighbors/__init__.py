"""Who is near whom."""

from sphweft.neighbors.adjacency import AdjacencyList

__all__ = ["AdjacencyList"]
