"""State structs and what was last written into them.

A call without gradient fills its thread's struct again and writes only the fields that changed. A call that may be
differentiated always gets a struct of its own: whoever reads a struct later reads what it holds then (contract
`struct.lazy-read`). A struct holds descriptors, not arrays, so that it keeps nobody's memory alive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from sphweft.cache.views import View, view, zeros_without_end
from sphweft.runtime import COUNTERS


class StateBundle:
    """A state struct that knows what it holds. A launch takes it as it takes an instance of the struct.

    Args:
        struct: the struct's type.
        fields: name, Warp type and entry shape of each tensor field.
        scalars: names of the scalar fields.
        device: name of the Warp device.
    """

    __slots__ = ("_device", "_fields", "_scalars", "_values", "_written", "content")

    def __init__(
        self, struct: Any, fields: Sequence[tuple[str, Any, tuple[int, ...]]], scalars: Sequence[str], device: str
    ) -> None:
        self.content = struct.ctype()  # without the attributes of an instance, which cost more to make than to pass
        self._fields, self._scalars, self._device = fields, scalars, device
        self._written: list[tuple[int | None, int] | None] = [None] * len(fields)
        self._values: Sequence[float] = ()

    def __ctype__(self) -> Any:
        return self.content

    def starting_at(self, thread: int) -> StateBundle:
        """A copy whose threads count from that one."""
        other = StateBundle.__new__(StateBundle)
        other.content = type(self.content).from_buffer_copy(self.content)
        other.content.first = thread
        return other

    def fill(self, tensors: Sequence[torch.Tensor | None], values: Sequence[float], *, keep: bool) -> list[View]:
        """Writes the fields that changed.

        Args:
            tensors: one for each tensor field; None for a tangent that is not there.
            values: one for each scalar field.
            keep: whether views come from the view cache.

        Returns:
            The views, which must live until the launch.
        """
        target, written, changed, built = self.content, self._written, 0, COUNTERS["views_built"]
        views: list[View] = []
        for at, (tensor, (name, element, shape)) in enumerate(zip(tensors, self._fields, strict=True)):
            if tensor is None:
                each = zeros_without_end(element, self._device)
            elif at and tensor is tensors[at - 1] and views[-1].element is element:
                each = views[-1]  # one population in both roles, side by side in the layout
            else:
                each = view(tensor, element, shape, keep)
            views.append(each)
            if written[at] != each.content:
                setattr(target, name, each.descriptor)
                written[at] = each.content
                changed += 1
        COUNTERS["views_reused"] += len(views) - (COUNTERS["views_built"] - built)
        COUNTERS["fields_written"] += changed
        if values != self._values:
            for name, value in zip(self._scalars, values, strict=True):
                setattr(target, name, value)
            self._values = values
        return views
