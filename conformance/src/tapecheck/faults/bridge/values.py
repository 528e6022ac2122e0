"""Faults and near misses of the checks of one call's values and derivatives."""

from tapecheck.faults.bridge.wrapping import with_outputs
from tapecheck.subjects.probe import BridgeSubject


def sums_in_single_precision(subject: BridgeSubject) -> BridgeSubject:
    """Outputs have the type of the inputs and the precision of float32."""
    return with_outputs(subject, lambda output: output.float().to(output.dtype))


def rounds_otherwise(subject: BridgeSubject) -> BridgeSubject:
    """Outputs differ in the last digits."""
    return with_outputs(subject, lambda output: output * (1.0 + 1e-15))
