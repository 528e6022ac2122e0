"""The vocabulary: operations, schemes, support modes, smoothing functions, particle kinds and directions.

Integer values are stable: kernels and saved files know a member by its value.
"""

from enum import IntEnum


class Operation(IntEnum):
    """What is summed over a particle's neighbours."""

    DENSITY = 0
    INTERPOLATE = 1
    GRADIENT = 2
    DIVERGENCE = 3
    CURL = 4
    LAPLACIAN = 5
    COVARIANCE = 6


class GradientScheme(IntEnum):
    """The coefficient c_ij of gradient, divergence and curl (Price 2012), f a field, V = m/ρ a volume.

    NAIVE: V_j f_j. DIFFERENCE: V_j (f_j - f_i). SUMMATION: V_j (f_j + f_i). SYMMETRIC: m_j ρ_i (f_i/ρ_i² + f_j/ρ_j²).
    """

    NAIVE = 0
    DIFFERENCE = 1
    SUMMATION = 2
    SYMMETRIC = 3


class LaplacianScheme(IntEnum):
    """How second derivatives are formed: from the kernel's radial Laplacian (NAIVE), from its gradient (BROOKSHAW,
    Brookshaw 1985), or as the gradient of a divergence (DOT, Español & Revenga 2003)."""

    NAIVE = 0
    BROOKSHAW = 1
    DOT = 2


class SupportMode(IntEnum):
    """Which support radius h a pair uses: the query's (GATHER), the reference's (SCATTER), the mean of both
    (MEAN_SUPPORT), or the mean of the kernel values at both (MEAN_KERNEL)."""

    GATHER = 0
    SCATTER = 1
    MEAN_SUPPORT = 2
    MEAN_KERNEL = 3


class SmoothingFunction(IntEnum):
    """The smoothing function W: Wendland functions (Dehnen & Aly 2012) and B-splines."""

    WENDLAND2 = 0
    WENDLAND4 = 1
    WENDLAND6 = 2
    CUBIC_SPLINE = 3
    QUARTIC_SPLINE = 4
    QUINTIC_SPLINE = 5


class ParticleKind(IntEnum):
    """What a particle is, for the rules of interaction."""

    FLUID = 0
    BOUNDARY = 1
    GHOST = 2
    OTHER = 3


class InteractionDirection(IntEnum):
    """Which kinds of reference particles contribute to which kinds of query particles: `SOURCE_TO_DESTINATION`."""

    UNMASKED = 0
    FLUID_TO_FLUID = 1
    FLUID_TO_BOUNDARY = 2
    BOUNDARY_TO_FLUID = 3
    BOUNDARY_TO_BOUNDARY = 4
    FLUID_TO_GHOST = 5
    GHOST_TO_FLUID = 6
    BOUNDARY_TO_GHOST = 7
    GHOST_TO_BOUNDARY = 8
    ALL_TO_ALL = 9
    ALL_TO_GHOST = 10
    ALL_TO_FLUID = 11
    ALL_TO_BOUNDARY = 12
    FLUID_TO_ALL = 13
    BOUNDARY_TO_ALL = 14


class ExecutionMode(IntEnum):
    """How an operator is differentiated. AUTO follows torch; FORWARD is reserved and rejected."""

    AUTO = 0
    FORWARD = 1
