"""How the checks of this family reach torch: through the subject, on the device that is judged."""

from types import ModuleType
from typing import Any

from tapecheck.subjects.warp import WarpSubject

PLANTED = "torch_in_its_place"
"""The attribute of a subject under which a fault puts something in torch's place."""


def torch_of(wp: WarpSubject) -> ModuleType:
    """The installed torch, or what a fault put in its place."""
    import torch

    return getattr(wp, PLANTED, torch)


def tensor(wp: WarpSubject, values: Any, dtype: str = "float32", requires_grad: bool = False) -> Any:
    """A tensor on the device that is judged."""
    import torch

    device = wp.device_to_torch(wp.get_device())
    return torch.tensor(values, dtype=getattr(torch, dtype), device=device, requires_grad=requires_grad)


def counting(wp: WarpSubject, *shape: int) -> Any:
    """A float tensor of that shape with the values 0, 1, 2, … in memory order."""
    import torch

    size = torch.Size(shape).numel()
    return tensor(wp, list(range(size))).reshape(shape)
