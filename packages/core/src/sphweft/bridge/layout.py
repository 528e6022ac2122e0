"""The flat layout: 36 places that hold every tensor of an operator's structured arguments, declared once.

Extraction, struct filling, placeholders, pruning and error texts all follow this table; no other place of the package
knows a place's number.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from sphweft.cache.null_fields import NullField, null_field

if TYPE_CHECKING:
    from sphweft.bridge.spec import SPHContext


class Kind(Enum):
    """What one entry of a field is."""

    SCALAR = "scalar"
    VECTOR = "vector"
    MATRIX = "matrix"
    INTEGER = "integer"


class Slot(NamedTuple):
    """One place of the layout.

    Attributes:
        name: the field of the kernel's state struct.
        documented: the name by which the published layout knows it.
        kind: what an entry is.
        source: where the tensor is found in a call's context, as a dotted name.
        differentiable: whether it may carry a gradient and a tangent.
    """

    name: str
    documented: str
    kind: Kind
    source: str
    differentiable: bool = True


def _both(name: str, documented: str, kind: Kind, attribute: str, differentiable: bool = True) -> tuple[Slot, Slot]:
    return (
        Slot(f"query_{name}", f"q{documented}", kind, f"query.{attribute}", differentiable),
        Slot(f"reference_{name}", f"r{documented}", kind, f"source.{attribute}", differentiable),
    )


def _crk(side: str, letter: str) -> tuple[Slot, ...]:
    return tuple(
        Slot(f"{side}_crk_{field}", f"{letter}crk_{documented}", kind, f"corrections.{side}_crk.{field}")
        for field, documented, kind in (
            ("a", "A", Kind.SCALAR),
            ("b", "B", Kind.VECTOR),
            ("gradient_of_a", "gradA", Kind.VECTOR),
            ("gradient_of_b", "gradB", Kind.MATRIX),
        )
    )


def _grid(name: str, documented: str) -> Slot:
    return Slot(f"grid_{name}", f"grid_{documented}", Kind.INTEGER, "", differentiable=False)


LAYOUT: tuple[Slot, ...] = (
    *_both("positions", "Pos", Kind.VECTOR, "positions"),
    *_both("supports", "Sup", Kind.SCALAR, "supports"),
    *_both("masses", "Mas", Kind.SCALAR, "masses"),
    *_both("densities", "Den", Kind.SCALAR, "densities"),
    *_both("kinds", "K", Kind.INTEGER, "kinds", differentiable=False),
    Slot("renormalization", "renormMat", Kind.MATRIX, "corrections.renormalization"),
    Slot("query_omega", "qOmega", Kind.SCALAR, "corrections.query_omega"),
    Slot("reference_omega", "rOmega", Kind.SCALAR, "corrections.reference_omega"),
    Slot("query_volumes", "qVol", Kind.SCALAR, "corrections.query_volumes"),
    Slot("reference_volumes", "rVol", Kind.SCALAR, "corrections.reference_volumes"),
    *_crk("query", "q"),
    *_crk("reference", "r"),
    Slot("neighbors", "adj_neighborList", Kind.INTEGER, "adjacency.neighbors", differentiable=False),
    Slot("row_offsets", "adj_neighborOffsets", Kind.INTEGER, "adjacency.offsets", differentiable=False),
    Slot("row_counts", "adj_numNeighbors", Kind.INTEGER, "adjacency.counts", differentiable=False),
    _grid("sort_index", "sortIndex"),
    _grid("minimum", "qMin"),
    _grid("maximum", "qMax"),
    _grid("cell_counts", "numCells"),
    _grid("hash_table", "hashTable"),
    _grid("cell_table", "cellTable"),
    _grid("cell_offsets", "cellOffsets"),
    Slot("domain_minimum", "domainMin", Kind.VECTOR, "domain_tensors.0", differentiable=False),
    Slot("domain_maximum", "domainMax", Kind.VECTOR, "domain_tensors.1", differentiable=False),
    Slot("periodicity", "periodicity", Kind.VECTOR, "domain_tensors.2", differentiable=False),
)

INDEX: dict[str, int] = {slot.name: index for index, slot in enumerate(LAYOUT)}
"""Where a field is in the layout."""

Entry = torch.Tensor | NullField


def _reader(source: str) -> Callable[[SPHContext], Any]:
    if not source:
        return lambda context: None
    head, _, number = source.partition(".")
    if number.isdigit():
        return lambda context: None if context.domain is None else getattr(context, head)[int(number)]
    path = source.split(".")
    if len(path) == 2 and path[0] in ("query", "source"):
        return attrgetter(source)

    def read(context: SPHContext) -> Any:
        value: Any = context
        for name in path:
            value = getattr(value, name)
            if value is None:
                return None
        return value

    return read


READERS = tuple(_reader(slot.source) for slot in LAYOUT)


def extract_state(context: SPHContext) -> list[Entry]:
    """All 36 places of a call in order: its tensors, and null fields where it has none.

    A missing reference side holds the query's own tensor objects.
    """
    dimension, dtype, device = context.query.dimension, context.query.positions.dtype, context.query.positions.device
    values = (reader(context) for reader in READERS)
    return [
        null_field(slot.kind.value, dimension, device, dtype) if value is None else value
        for slot, value in zip(LAYOUT, values, strict=True)
    ]
