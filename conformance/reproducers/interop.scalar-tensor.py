"""`warp.from_torch` of a tensor of dimension zero ends in an IndexError that says nothing of dimensions.

Prints the error; exits with 0 while it is that one, with 1 once the tensor is converted or refused clearly.
"""

import sys

import torch
import warp as wp

with wp.ScopedDevice("cpu"):
    try:
        outcome = f"an array with the values {wp.from_torch(torch.tensor(3.0)).numpy().tolist()}"
    except Exception as problem:  # noqa: BLE001
        outcome = f"{type(problem).__name__}: {problem}"
print(f"Warp {wp.__version__}: {outcome}")
sys.exit(0 if outcome == "IndexError: list assignment index out of range" else 1)
