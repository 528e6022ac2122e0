"""`warp.from_torch` overlooks torch's negative bit and reads the values without their sign.

Prints tensor and array; exits with 0 while the signs differ, with 1 once they agree or the tensor is refused.
"""

import sys

import torch
import warp as wp

parts = torch.tensor([1.0, 2.0, 3.0])
tensor = torch.complex(parts, parts).conj().imag
with wp.ScopedDevice("cpu"):
    array = wp.from_torch(tensor)
print(f"Warp {wp.__version__}: tensor {tensor.tolist()}, array {array.numpy().tolist()}")
sys.exit(0 if array.numpy().tolist() == [1.0, 2.0, 3.0] else 1)
