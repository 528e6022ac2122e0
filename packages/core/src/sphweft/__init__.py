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
from sphweft.neighbors import AdjacencyList, NeighborList, neighbor_list
from sphweft.operations import (
    covariance,
    curl,
    density,
    divergence,
    gradient,
    interpolate,
    laplacian,
    warp_operation,
    warp_operation_hvp,
    warp_operation_jvp,
)
from sphweft.state import (
    Corrections,
    CRKState,
    DomainDescription,
    OperationProperties,
    ParticleState,
    ParticleTangents,
)

__version__ = "0.1.0"

__all__ = [
    "AdjacencyList",
    "CRKState",
    "Corrections",
    "DomainDescription",
    "ExecutionMode",
    "GradientScheme",
    "InputError",
    "InteractionDirection",
    "LaplacianScheme",
    "NeighborList",
    "Operation",
    "OperationProperties",
    "ParticleKind",
    "ParticleState",
    "ParticleTangents",
    "SmoothingFunction",
    "SphweftError",
    "SupportMode",
    "covariance",
    "curl",
    "density",
    "divergence",
    "gradient",
    "interpolate",
    "laplacian",
    "neighbor_list",
    "warp_operation",
    "warp_operation_hvp",
    "warp_operation_jvp",
]
