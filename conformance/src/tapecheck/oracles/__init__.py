"""The slow, trusted side: smoothed-particle operators in plain torch, dense and in double precision.

Written to be compared with the formulas by eye. No neighbour lists, no Warp. Every result is differentiable by torch:
backward, twice, and forward. Names of schemes, modes, functions and directions are lower-case strings.
"""

from tapecheck.oracles.corrected import Corrections, Crk
from tapecheck.oracles.corrections import crk_correction, crk_density, crk_volume, lattice_calibration, renormalization
from tapecheck.oracles.geometry import Domain, minimum_image
from tapecheck.oracles.hvp import density_hvp
from tapecheck.oracles.kinds import DIRECTIONS, pair_mask
from tapecheck.oracles.operators import (
    covariance,
    curl,
    density,
    divergence,
    grad_h,
    gradient,
    interpolate,
    laplacian,
)
from tapecheck.oracles.pairs import Particles, Rules, near, pair_up
from tapecheck.oracles.smoothing import SMOOTHING_FUNCTIONS

__all__ = [
    "DIRECTIONS",
    "SMOOTHING_FUNCTIONS",
    "Corrections",
    "Crk",
    "Domain",
    "Particles",
    "Rules",
    "covariance",
    "crk_correction",
    "crk_density",
    "crk_volume",
    "curl",
    "density",
    "density_hvp",
    "divergence",
    "grad_h",
    "gradient",
    "interpolate",
    "laplacian",
    "lattice_calibration",
    "minimum_image",
    "near",
    "pair_mask",
    "pair_up",
    "renormalization",
]
