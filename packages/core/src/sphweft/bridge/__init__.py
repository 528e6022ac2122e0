"""How torch.autograd sees a Warp kernel; what an author of further operators needs is named here."""

from sphweft.bridge.operator import STATE_PLACES, launch_operator, launch_positional, launch_tangent
from sphweft.bridge.spec import (
    Build,
    ExtraKind,
    ExtraSpec,
    OperatorSpec,
    OutputSpec,
    SPHContext,
    ThreadSpec,
    entry_type,
)

__all__ = [
    "STATE_PLACES",
    "Build",
    "ExtraKind",
    "ExtraSpec",
    "OperatorSpec",
    "OutputSpec",
    "SPHContext",
    "ThreadSpec",
    "entry_type",
    "launch_operator",
    "launch_positional",
    "launch_tangent",
]
