"""The declared interface of an operator: what its kernel reads, takes beside it, and gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, TypeAlias

import torch

from sphweft.enums import ExecutionMode, GradientScheme, SmoothingFunction, SupportMode
from sphweft.errors import InputError, of_type, same_device
from sphweft.neighbors.adjacency import AdjacencyList
from sphweft.neighbors.grid import HashGrid
from sphweft.neighbors.search import NeighborList
from sphweft.runtime import SCALARS, element_type
from sphweft.state import Corrections, DomainDescription, OperationProperties, ParticleState, check_together

Extras: TypeAlias = Mapping[str, Any]
NO_CORRECTIONS = Corrections()


@dataclass(frozen=True, eq=False)
class SPHContext:
    """The state of one call, by name.

    Attributes:
        query: the particles that receive.
        properties: the discretisation.
        domain: the box; None where space is unbounded.
        adjacency: who is near whom.
        grid: the references by cell; instead of a list.
        reference: the particles that contribute; None where they are the query's.
        corrections: volumes and corrections.
        mode: how the call is differentiated; FORWARD is rejected.

    Raises:
        InputError: parts that do not fit together.
    """

    query: ParticleState
    properties: OperationProperties = field(default_factory=OperationProperties)
    domain: DomainDescription | None = None
    adjacency: AdjacencyList | None = None
    grid: HashGrid | None = None
    reference: ParticleState | None = None
    corrections: Corrections = NO_CORRECTIONS
    mode: ExecutionMode = ExecutionMode.AUTO

    def __post_init__(self) -> None:
        query, source = self.query, self.source
        of_type("properties", self.properties, OperationProperties)
        check_together(query, source, self.domain)
        adjacency = self.adjacency
        if adjacency is not None:
            of_type("adjacency", adjacency, AdjacencyList)
            made_for = f"made for {adjacency.query_count} queries and {adjacency.reference_count} references"
            if adjacency.query_count != query.count or adjacency.reference_count != source.count:
                raise InputError("adjacency", f"a list for {query.count} queries, {source.count} references", made_for)
            same_device("adjacency", adjacency.offsets, query.positions, "query")
            if isinstance(adjacency, NeighborList):
                adjacency.check_made_for(self.properties.support_mode, self.domain)
        if self.mode is not ExecutionMode.AUTO:
            remedy = "use torch's dual tensors for forward mode"
            raise InputError("mode", "ExecutionMode.AUTO", f"{self.mode!r}, which is not implemented", remedy)

    @property
    def source(self) -> ParticleState:
        """The particles that contribute."""
        return self.query if self.reference is None else self.reference

    @property
    def periodic(self) -> bool:
        """Whether any axis is."""
        return self.domain is not None and any(self.domain.periodic)

    @property
    def domain_tensors(self) -> tuple[torch.Tensor, ...] | None:
        """Minimum, maximum and periodicity in the precision of the particles."""
        if self.domain is None:
            return None
        return self.domain.tensors(self.query.positions.dtype, self.query.positions.device)


def entry_type(context: SPHContext, shape: tuple[int, ...] = ()) -> Any:
    """The Warp type of an output's entry in the precision of the particles: a scalar, a vector, or a matrix."""
    return element_type(SCALARS[context.query.positions.dtype], shape)


class ExtraKind(Enum):
    """What an extra argument is."""

    TENSOR = "tensor"
    SCALAR = "scalar"


@dataclass(frozen=True)
class ExtraSpec:
    """One further argument of an operator; it becomes a field of the kernel's state struct.

    Attributes:
        name: the keyword of the call, and the field.
        kind: a floating tensor of shape (n, …), whose entries become scalars or vectors, or a Python number.
        rows: which population the tensor's first axis belongs to, `"query"` or `"reference"`, which is checked at each
            call, or `"any"`: the kernel then must not read behind the tensor's end. Empty for a number.
        axes: how many trailing axes it must have; None for any number.
        vectors: whether the last axis is a vector of the particles' dimension: an entry is then a matrix of such rows.

    Raises:
        InputError: a tensor whose rows are not said, or a number that has some.
    """

    name: str
    kind: ExtraKind = ExtraKind.TENSOR
    rows: str = ""
    axes: int | None = None
    vectors: bool = False

    def __post_init__(self) -> None:
        of_type(f"kind of {self.name}", self.kind, ExtraKind)
        known = ("query", "reference", "any") if self.kind is ExtraKind.TENSOR else ("",)
        if self.rows not in known:
            remedy = "without it a tensor that is too short would be read, and in backward written, behind its end"
            raise InputError(f"rows of {self.name}", f"one of {known}", repr(self.rows), remedy if known[0] else "")


@dataclass(frozen=True)
class OutputSpec:
    """One output of a kernel.

    Attributes:
        dtype: Warp type of an entry, or a function of `(context, extras)` that gives it.
        shape: torch shape, or a function of `(context, extras)` that gives it; its trailing axes are the entry's.
        rows: `"threads"`: there must be a row a thread; or `"any"`: the kernel then must not write behind the last one.

    Raises:
        InputError: a type or a shape that is none, or other `rows`.
    """

    dtype: Any
    shape: tuple[int, ...] | Callable[[SPHContext, Extras], tuple[int, ...]]
    rows: str = "threads"

    def __post_init__(self) -> None:
        if not callable(self.dtype):
            raise InputError("dtype", "a Warp type, or a function that gives one", repr(self.dtype))
        if not (callable(self.shape) or isinstance(self.shape, (tuple, list))):
            raise InputError("shape", "a tuple, or a function that gives one", repr(self.shape))
        if self.rows not in ("threads", "any"):
            raise InputError("rows", "'threads' or 'any'", repr(self.rows))

    def resolve(self, context: SPHContext, extras: Extras) -> tuple[Any, tuple[int, ...]]:
        """Type and shape for one call; a type is taken as it is, not called."""
        dtype = self.dtype if isinstance(self.dtype, type) else self.dtype(context, extras)
        shape = self.shape(context, extras) if callable(self.shape) else self.shape
        return dtype, tuple(shape)


class ThreadSpec(Enum):
    """How many threads a kernel is launched with."""

    QUERY_COUNT = "a thread a query particle"


@dataclass(frozen=True)
class Build:
    """What a kernel is specialised for.

    Attributes:
        dimension: 1, 2 or 3.
        scalar: Warp's float32 or float64.
        smoothing_function: of the discretisation, as the next two.
        support_mode: whose support radius a pair uses.
        gradient_scheme: the coefficient of gradients.
        masked: whether the direction leaves any kind of particle out. Which kinds then receive and contribute stands in
            the state struct, `receiving` and `contributing`, a bit a kind, so that a kernel serves every direction.
        periodic: whether any axis of the domain is.
        supplied_volumes: whether reference volumes are given.
        traversal: whether there is no list, so that the loop walks through the cells of `state.grid`.
        elements: Warp type of an entry of each extra tensor.
    """

    dimension: int
    scalar: Any
    smoothing_function: SmoothingFunction
    support_mode: SupportMode
    gradient_scheme: GradientScheme
    masked: bool
    periodic: bool
    supplied_volumes: bool
    traversal: bool
    elements: tuple[tuple[str, Any], ...]

    @cached_property
    def vector(self) -> Any:
        """The Warp type of a position."""
        return element_type(self.scalar, (self.dimension,))

    def element(self, extra: str) -> Any:
        """The Warp type of an entry of an extra tensor."""
        return dict(self.elements)[extra]


@dataclass(frozen=True)
class OperatorSpec:
    """An operator: a kernel and what it takes.

    The kernel takes the state struct, whose fields are what `reads` names and the extras, and then its outputs. Put a
    neighbour loop into a function of its own that returns the sums (see the contract `codegen.nonlinear-after-loop`).

    Attributes:
        name: for error messages.
        kernel: `(state struct type, build) -> kernel`; called once for each specialisation.
        tangent_kernel: the same for the directional derivative: its state holds, beside each field that can have one,
            the tangent, `query_positions_tangent` beside `query_positions`; its outputs are the tangents of the
            floating outputs. None where there is no more than first derivatives by reverse mode.
        reads: fields of the layout that the kernel reads, or a function of a `Build` that names them.
        outputs: what it writes.
        extras: what it takes beside the layout.
        threads: a thread a query, or a function of `(context, extras)` that gives the number.
        sliced: whether the kernels count their threads from `state.first`, an integer, so that a large launch on the
            CPU can be cut into slices that run side by side. They may write to the outputs of their own thread alone.
    """

    name: str
    kernel: Callable[[Any, Build], Any]
    reads: tuple[str, ...] | Callable[[Build], tuple[str, ...]]
    outputs: tuple[OutputSpec, ...]
    extras: tuple[ExtraSpec, ...] = ()
    threads: ThreadSpec | Callable[[SPHContext, Extras], int] = ThreadSpec.QUERY_COUNT
    tangent_kernel: Callable[[Any, Build], Any] | None = None
    sliced: bool = False

    def __post_init__(self) -> None:
        names = [extra.name for extra in self.extras]
        if len(set(names)) < len(names):
            raise InputError("extras", "a name for each", f"{', '.join(names)}")

    def __hash__(self) -> int:
        return hash(self.kernel)  # looked up at every call; equality compares the rest

    def check_extras(self, context: SPHContext, extras: Extras) -> None:
        """Refuses extras that are missing, undeclared or of the wrong kind.

        Raises:
            InputError: naming the extra.
        """
        declared = {extra.name: extra for extra in self.extras}
        for name in extras:
            if name not in declared:
                known = ", ".join(declared) or "none"
                raise InputError(name, f"an extra of {self.name} ({known})", "an undeclared one")
        positions = context.query.positions
        for name, extra in declared.items():
            if name not in extras:
                raise InputError(name, f"an argument, which {self.name} needs", "nothing")
            value = extras[name]
            if extra.kind is ExtraKind.SCALAR:
                if isinstance(value, bool) or not isinstance(value, (int, float)):
                    raise InputError(name, "a Python number", type(value).__name__)
                continue
            if not isinstance(value, torch.Tensor):
                raise InputError(name, "a tensor", type(value).__name__)
            if value.dtype != positions.dtype or value.layout != torch.strided or value.ndim == 0:
                expected = f"a dense tensor of dtype {positions.dtype} with at least one axis"
                raise InputError(name, expected, f"dtype {value.dtype}, {value.layout}, {value.ndim} axes")
            same_device(name, value, positions, "positions")
            if 0 in value.shape[1:]:
                raise InputError(name, "trailing axes of size one or more", f"shape {tuple(value.shape)}")
            if extra.axes is not None and value.ndim - 1 != extra.axes:
                raise InputError(name, f"{extra.axes + 1} axes", f"shape {tuple(value.shape)}")
            if extra.vectors and (value.ndim < 2 or value.shape[-1] != context.query.dimension):
                expected = f"vectors of {context.query.dimension} components on the last axis"
                raise InputError(name, expected, f"shape {tuple(value.shape)}")
            if extra.rows != "any":
                count = (context.query if extra.rows == "query" else context.source).count
                if value.shape[0] != count:
                    expected = f"{count} rows, one a {extra.rows} particle"
                    raise InputError(name, expected, f"shape {tuple(value.shape)}")
