"""Who is near whom."""

from sphweft.neighbors.adjacency import AdjacencyList
from sphweft.neighbors.grid import HashGrid
from sphweft.neighbors.search import NeighborList, neighbor_list

__all__ = ["AdjacencyList", "HashGrid", "NeighborList", "neighbor_list"]
