"""Peak memory of search, forward and backward of a gradient with ten million pairs, in a process of its own."""

import resource

import torch
from particles import particle_tensors, state_of

import sphweft

COUNT = 210_000
"""Of particles, with some fifty neighbours each, fewer at the sides of the cube."""
LIMIT = 4.0
"""GiB."""


def resident() -> float:
    """Memory now [GiB]."""
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * resource.getpagesize() / 2**30


def main() -> None:
    """Prints the number of pairs, and in GiB the memory after the imports and the peak."""
    torch.set_num_threads(1)
    before = resident()
    tensors = particle_tensors(COUNT, grad=True)
    state = state_of(tensors)
    adjacency = sphweft.neighbor_list(state)
    sphweft.gradient(state, tensors["values"], adjacency).sum().backward()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # of KiB
    print(len(adjacency.neighbors), before, peak)


if __name__ == "__main__":
    main()
