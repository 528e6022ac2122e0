"""A plan: everything about an operator's launch that does not change from call to call, made once a specialisation."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import torch
import warp as wp

from sphweft.bridge.layout import INDEX, LAYOUT, READERS, Kind
from sphweft.bridge.spec import NO_CORRECTIONS, Build, ExtraKind, Extras, OperatorSpec, OutputSpec, SPHContext
from sphweft.directions import selection
from sphweft.errors import InputError
from sphweft.runtime import COUNTERS, LOCK, SCALARS, element_type, silence, warp_device

Outputs: TypeAlias = tuple[tuple[Any, tuple[int, ...]], ...]
"""Of each output the Warp type of an entry, and the torch shape."""


@dataclass(frozen=True)
class Field:
    """A tensor field of a state struct.

    Attributes:
        name: of the field.
        element: Warp type of an entry.
        shape: of an entry.
        differentiable: whether a gradient can flow into it.
        read: takes the tensor out of a call's context; None for an extra.
    """

    name: str
    element: Any
    shape: tuple[int, ...]
    differentiable: bool
    read: Callable[[SPHContext], Any] | None


@dataclass(eq=False)
class Plan:
    """A kernel of one specialisation, its state struct, and what fills it.

    Attributes:
        spec: the operator.
        make: `(state struct type, build) -> kernel`, the operator's own or that of its tangent.
        build: what the kernel is specialised for.
        fields: the tensor fields, layout first, then extras, in the order in which tensors are handed over.
        scalars: the scalar fields and their types: the first thread of a slice, the kinds that are selected, where any
            are, and the scalar extras.
        device: the Warp device.
        reused: structs that calls without gradient fill again, one a thread.
        struct: the state struct's type.
        kernel: the Warp kernel; its module is loaded.
        no_adjoint: an empty struct, the adjoint that a launch must be given for the state.
        fitting: the number of threads and the outputs that were last found to fit the kernel.
    """

    spec: OperatorSpec
    make: Callable[[Any, Build], Any]
    build: Build
    fields: tuple[Field, ...]
    scalars: dict[str, Any]
    device: Any
    reused: threading.local = field(default_factory=threading.local)
    fitting: tuple[int, Outputs] | None = None

    def __post_init__(self) -> None:
        self.filling = tuple((entry.name, entry.element, entry.shape) for entry in self.fields)
        arrays = {name: wp.array(dtype=element) for name, element, _ in self.filling}
        self.struct = wp.struct(type("State", (), {"__annotations__": arrays | self.scalars, "__module__": __name__}))
        self.no_adjoint = self.struct()
        COUNTERS["kernels_made"] += 1
        self.kernel = self.make(self.struct, self.build)
        with silence():
            # the block size that a launch asks for: before Warp 1.18 another one here builds the module twice
            wp.load_module(self.kernel.module, device=self.device, block_dim=1 if self.device.is_cpu else 256)

    @cached_property
    def differentiable(self) -> tuple[int, ...]:
        """The places of the fields that a gradient and a tangent can have."""
        return tuple(place for place, entry in enumerate(self.fields) if entry.differentiable)

    @cached_property
    def tangent(self) -> Plan:
        """The plan of the directional derivative: the same fields, then the tangents of those that can have one.

        Raises:
            NotImplementedError: the operator was declared without a tangent kernel.
        """
        if self.spec.tangent_kernel is None:
            what = "forward mode and second derivatives are not available"
            raise NotImplementedError(f"{self.spec.name} has no tangent kernel: {what}")
        twins = (
            replace(self.fields[place], name=f"{self.fields[place].name}_tangent") for place in self.differentiable
        )
        with LOCK:
            return Plan(
                self.spec, self.spec.tangent_kernel, self.build, (*self.fields, *twins), self.scalars, self.device
            )

    def check_outputs(self, threads: int, outputs: Outputs, declared: Sequence[OutputSpec]) -> None:
        """Refuses outputs in which the kernel would write what they are not, or behind their ends.

        Raises:
            InputError: naming the output.
        """
        if self.fitting == (threads, outputs):
            return
        arguments = self.kernel.adj.args[1:]
        if len(arguments) != len(outputs):
            raise InputError(f"outputs of {self.spec.name}", f"{len(arguments)}, as the kernel has", f"{len(outputs)}")
        for argument, (element, shape), output in zip(arguments, outputs, declared, strict=True):
            name, entry = f"output {argument.label} of {self.spec.name}", _entry(argument.type.dtype)
            if _entry(element) != entry:
                wanted, given = (getattr(kind, "__name__", kind) for kind in (argument.type.dtype, element))
                raise InputError(name, f"entries of {wanted}, as the kernel has", f"{given}")
            if not shape or math.prod(shape[1:]) != math.prod(entry[1]):
                raise InputError(name, f"a shape (rows, …) of {math.prod(entry[1])} numbers a row", f"{shape}")
            if output.rows == "threads" and shape[0] < threads:
                remedy = "OutputSpec(…, rows='any') for a kernel that writes elsewhere"
                raise InputError(name, f"{threads} rows or more, one a thread", f"shape {shape}", remedy)
        self.fitting = threads, outputs

    def tensors(self, context: SPHContext, extras: Extras) -> list[torch.Tensor]:
        """The tensors of a call in the order of the fields.

        Raises:
            InputError: one is missing.
        """
        if context.corrections is not NO_CORRECTIONS:
            self._refuse_unread(context)
        found: list[torch.Tensor] = []
        for entry in self.fields:
            value = extras[entry.name] if entry.read is None else entry.read(context)
            if value is None:
                remedy = "they are ParticleState's fifth argument" if entry.name.endswith("_densities") else ""
                raise InputError(entry.name, f"a tensor, which {self.spec.name} reads", "nothing", remedy)
            found.append(value)
        return found

    def values(self, context: SPHContext, extras: Extras) -> tuple[Any, ...]:
        """The scalars of a call in the order of their fields."""
        first = (0,) if self.spec.sliced else ()
        selected = selection(context.properties.direction) if self.build.masked else ()
        grid = () if context.grid is None else (context.grid.struct.__ctype__(),)
        own = list(self.scalars)[len(first) + len(selected) + len(grid) :]
        return *first, *selected, *grid, *(float(extras[name]) for name in own)

    def _refuse_unread(self, context: SPHContext) -> None:
        """A correction that changes the result elsewhere is never silently dropped."""
        read = {LAYOUT[INDEX[entry.name]].source for entry in self.fields if entry.read is not None}
        for name in ("reference_volumes", "query_crk", "query_omega", "reference_omega", "renormalization"):
            used = any(source.startswith(f"corrections.{name}") for source in read)
            if getattr(context.corrections, name) is not None and not used:
                raise InputError(name, f"nothing, since {self.spec.name} does not use it here", "a correction")


_PLANS: dict[Any, Plan] = {}


def plan_for(spec: OperatorSpec, context: SPHContext, extras: Extras) -> Plan:
    """The plan of an operator for a call; made, and its module loaded, at the first call of its kind."""
    positions = context.query.positions
    tensors = tuple(extras[extra.name].shape[1:] for extra in spec.extras if extra.kind is ExtraKind.TENSOR)
    volumes = context.corrections.reference_volumes is not None
    chosen = context.properties.specialisation
    key = (
        *(spec, positions.shape[1], positions.dtype, positions.device, chosen, context.periodic, volumes, tensors),
        context.grid is not None,
    )
    plan = _PLANS.get(key)
    if plan is None:
        with LOCK:
            plan = _PLANS.get(key) or _make(spec, context, extras)
            _PLANS[key] = plan
    return plan


def _make(spec: OperatorSpec, context: SPHContext, extras: Extras) -> Plan:
    positions = context.query.positions
    dimension, scalar, device = context.query.dimension, SCALARS[positions.dtype], warp_device(positions.device)
    shapes = {extra.name: _entry_shape(extras[extra.name], extra.vectors) for extra in _tensor_extras(spec)}
    build = Build(
        dimension=dimension,
        scalar=scalar,
        smoothing_function=context.properties.smoothing_function,
        support_mode=context.properties.support_mode,
        gradient_scheme=context.properties.gradient_scheme,
        masked=context.properties.masked,
        periodic=context.periodic,
        supplied_volumes=context.corrections.reference_volumes is not None,
        traversal=context.grid is not None,
        elements=tuple((name, element_type(scalar, shape)) for name, shape in shapes.items()),
    )
    reads = spec.reads(build) if callable(spec.reads) else spec.reads
    for extra in spec.extras:
        if extra.name in {*INDEX, "first", "receiving", "contributing", "grid"}:
            raise InputError(extra.name, f"an extra of {spec.name} whose name is no field of the state", "one that is")
    fields = [_layout_field(name, build) for name in reads]
    fields += [Field(name, element_type(scalar, shape), shape, True, None) for name, shape in shapes.items()]
    scalars: dict[str, Any] = {"first": wp.int32} if spec.sliced else {}
    scalars |= {name: wp.int32 for name in ("receiving", "contributing") if build.masked}
    scalars |= {"grid": context.grid.functions.Grid} if context.grid is not None else {}
    scalars |= {extra.name: scalar for extra in spec.extras if extra.kind is ExtraKind.SCALAR}
    return Plan(spec, spec.kernel, build, tuple(fields), scalars, device)


def _entry(element: Any) -> tuple[Any, tuple[int, ...]]:
    """Scalar type and shape of a Warp type of an entry."""
    return getattr(element, "_wp_scalar_type_", element), getattr(element, "_shape_", ())


def _tensor_extras(spec: OperatorSpec) -> Sequence[Any]:
    return [extra for extra in spec.extras if extra.kind is ExtraKind.TENSOR]


def _entry_shape(tensor: torch.Tensor, vectors: bool) -> tuple[int, ...]:
    """Trailing axes are one vector to the kernel, whatever their rank, or a matrix whose rows are the last of them."""
    trailing = tensor.shape[1:]
    if vectors:
        return (trailing[:-1].numel(), trailing[-1])
    return (trailing.numel(),) if trailing else ()


def _layout_field(name: str, build: Build) -> Field:
    if name not in INDEX:
        raise InputError("reads", "names of the layout", repr(name))
    slot = LAYOUT[INDEX[name]]
    shapes: dict[Kind, tuple[int, ...]] = {Kind.VECTOR: (build.dimension,), Kind.MATRIX: (build.dimension,) * 2}
    shape = shapes.get(slot.kind, ())
    scalar = wp.int32 if slot.kind is Kind.INTEGER else build.scalar
    return Field(name, element_type(scalar, shape), shape, slot.differentiable, READERS[INDEX[name]])
