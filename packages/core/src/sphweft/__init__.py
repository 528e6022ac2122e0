"""Differentiable Smoothed Particle Hydrodynamics operators: NVIDIA Warp kernels under torch.autograd."""

from sphweft.enums import (
    ExecutionMode,
    GradientScheme,
    InteractionDirection,
    LaplacianScheme,
    Operation,
    ParticleKind,
    SmoothingFunction,
    SupportMode,
)
from sphweft.errors import InputError, SphweftError

__version__ = "0.1.0"

__all__ = [
    "ExecutionMode",
    "GradientScheme",
    "InputError",
    "InteractionDirection",
    "LaplacianScheme",
    "Operation",
    "ParticleKind",
    "SmoothingFunction",
    "SphweftError",
    "SupportMode",
]
