"""What one call does, counted from outside: patched functions of Warp, and the operations that torch dispatches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest import mock

import torch
import warp as wp
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from sphweft.bridge import launch

READBACKS = ("aten::_local_scalar_dense", "aten::nonzero", "aten::equal", "aten::is_nonzero")


class Operations(TorchDispatchMode):
    """The operations that torch dispatches meanwhile, views and all, and the bytes that they allocate."""

    def __init__(self) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()
        self.bytes = 0

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        self.names[function._schema.name] += 1
        made = function(*arguments, **(options or {}))
        known = {place(tensor) for tensor in tree_leaves((arguments, options)) if isinstance(tensor, torch.Tensor)}
        fresh = {place(tensor): tensor for tensor in tree_leaves(made) if isinstance(tensor, torch.Tensor)}
        self.bytes += sum(t.untyped_storage().nbytes() for where, t in fresh.items() if where not in known)
        return made


def place(tensor: torch.Tensor) -> int:
    """Where its memory is."""
    return tensor.untyped_storage().data_ptr()


def pairs_of(state: Any) -> int:
    """How many neighbours the list in a state struct holds."""
    neighbors = getattr(state, "neighbors", None)
    return 0 if neighbors is None else int(neighbors.shape[0])


def counted(call: Callable[[], object]) -> dict[str, int]:
    """What a later call does.

    Returns:
        `launches` (adjoint ones too) and `pairs` that they were given, `modules` loaded, `views` and `structs` built,
        `torch operations`, their `bytes`, and `readbacks`.
    """
    call()
    pairs: list[int] = []
    once, again = wp.launch, wp.Launch.launch

    def launched(kernel: Any, dim: Any, inputs: Any = (), *arguments: Any, **options: Any) -> Any:
        if not options.get("record_cmd"):
            pairs.append(pairs_of(getattr(inputs[0], "content", None)))
        return once(kernel, dim, inputs, *arguments, **options)

    def replayed(command: Any, *arguments: Any) -> None:
        pairs.append(pairs_of(command.params[1]))
        again(command, *arguments)

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(wp, "launch", launched))
        stack.enter_context(mock.patch.object(wp.Launch, "launch", replayed))
        watched = {
            "modules": mock.patch.object(wp, "load_module", wraps=wp.load_module),
            "views": mock.patch.object(wp, "from_torch", wraps=wp.from_torch),
            "structs": mock.patch.object(launch, "StateBundle", wraps=launch.StateBundle),
        }
        calls = {name: stack.enter_context(patch) for name, patch in watched.items()}
        operations = stack.enter_context(Operations())
        call()
    return {
        "launches": len(pairs),
        "pairs": sum(pairs),
        **{name: each.call_count for name, each in calls.items()},
        "torch operations": operations.names.total(),
        "bytes": operations.bytes,
        "readbacks": sum(operations.names[name] for name in READBACKS),
    }
