"""A small bridge that keeps every contract: in it the faults of the families bridge and sync are planted.

Two operations: a sum over all pairs of particles, without forward mode, and a product of two fields with two outputs
and forward mode. Second derivatives are refused, clearly.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import warp as wp
from torch.utils.weak import WeakIdKeyDictionary

from tapecheck.subjects import miniature_kernels as kernels
from tapecheck.subjects import plain
from tapecheck.subjects.plain import Arguments
from tapecheck.subjects.probe import BridgeSubject, Probe, is_floating

SCALARS = {torch.float32: wp.float32, torch.float64: wp.float64}
ELEMENTS = {**SCALARS, torch.int32: wp.int32}


@dataclass(frozen=True)
class Operation:
    """What the bridge knows of an operation.

    Attributes:
        kernel: its arguments are those of the call, then the outputs.
        tangent: the same for the derivative along tangents of all tensors, where there is one.
        arguments: the tensors.
        outputs: the shapes of the outputs, as the arguments name them.
    """

    name: str
    kernel: Any
    tangent: Any
    arguments: Arguments
    outputs: tuple[tuple[str | int, ...], ...]


class _Views:
    """Warp's views of tensors, for as long as these live."""

    def __init__(self) -> None:
        self.on = True
        self.kept: Any = WeakIdKeyDictionary()

    def __call__(self, tensor: torch.Tensor) -> Any:
        view = self.kept.get(tensor) if self.on else None
        if view is None or view.ptr != tensor.data_ptr() or not tensor.is_contiguous():
            view = wp.from_torch(canonical(tensor.detach()), dtype=ELEMENTS[tensor.dtype])
            if self.on and tensor.is_contiguous():
                self.kept[tensor] = view
        return view

    @contextmanager
    def off(self) -> Iterator[None]:
        """The context in which every view is made anew."""
        self.on = False
        try:
            yield
        finally:
            self.on = True


views = _Views()


def canonical(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor with the strides of its shape: `contiguous()` leaves those of axes of size one alone."""
    return tensor.clone(memory_format=torch.contiguous_format) if odd(tensor) else tensor


def odd(tensor: torch.Tensor) -> bool:
    """Whether the strides are not those of the shape."""
    return tensor.stride() != torch.empty(tensor.shape, device="meta").stride()


def launch(kernel: Any, arguments: Sequence[Any], outputs: Sequence[torch.Tensor], **adjoint: Any) -> None:
    """Launches a kernel over the first axis of its outputs; arguments are tensors and numbers."""
    if outputs[0].shape[0] == 0:
        return
    scalar = SCALARS[arguments[0].dtype]
    inputs = [views(a) if isinstance(a, torch.Tensor) else scalar(a) for a in arguments]
    results = [wp.from_torch(output) for output in outputs]
    device = wp.device_from_torch(arguments[0].device)
    wp.launch(kernel, outputs[0].shape[0], inputs, results, record_tape=False, device=device, **adjoint)


def output_shapes(operation: Operation, arguments: Sequence[Any]) -> list[list[int]]:
    """The shapes of the outputs for these arguments."""
    sizes = dict(zip(next(iter(operation.arguments.shapes.values())), arguments[0].shape, strict=True))
    return [[sizes[axis] if isinstance(axis, str) else axis for axis in shape] for shape in operation.outputs]


def run(operation: Operation, kernel: Any, arguments: Sequence[Any]) -> tuple[torch.Tensor, ...]:
    """The outputs of a kernel, allocated by torch."""
    outputs = tuple(arguments[0].new_zeros(shape) for shape in output_shapes(operation, arguments))
    launch(kernel, arguments, outputs)
    return outputs


def batched(function: Any, info: Any, in_dims: Sequence[int | None], *arguments: Any) -> tuple[Any, Any]:
    """One call a sample, stacked: the `vmap` of each Function."""
    samples = [
        function.apply(*(a if d is None else a.select(d, at) for a, d in zip(arguments, in_dims, strict=True)))
        for at in range(info.batch_size)
    ]
    stacked = tuple(torch.stack(outputs) for outputs in zip(*samples, strict=True))
    return stacked, (0,) * len(stacked)


def save(ctx: Any, arguments: Sequence[Any]) -> None:
    """Keeps the tensors where torch watches their versions, and the constants."""
    ctx.constants = [None if isinstance(a, torch.Tensor) else a for a in arguments]
    tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
    ctx.save_for_backward(*tensors)
    if ctx.operation.tangent is not None:
        ctx.save_for_forward(*tensors)


def saved(ctx: Any) -> list[Any]:
    """The arguments as they were."""
    tensors = iter(ctx.saved_tensors)
    return [next(tensors) if constant is None else constant for constant in ctx.constants]


class Primal(torch.autograd.Function):
    """The operation."""

    @staticmethod
    def forward(operation: Operation, *arguments: Any) -> Any:
        return run(operation, operation.kernel, arguments)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.operation, *arguments = inputs
        ctx.set_materialize_grads(False)
        save(ctx, arguments)

    @staticmethod
    def backward(ctx: Any, *seeds: Any) -> Any:
        arguments = saved(ctx)
        shapes = output_shapes(ctx.operation, arguments)
        full = [arguments[0].new_zeros(shape) if g is None else g for g, shape in zip(seeds, shapes, strict=True)]
        found = iter(Adjoint.apply(ctx.operation, *full, *arguments))
        grads = [next(found) if is_floating(argument) else None for argument in arguments]
        return None, *(g if needed else None for g, needed in zip(grads, ctx.needs_input_grad[1:], strict=True))

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        if ctx.operation.tangent is None:
            raise NotImplementedError(f"{ctx.operation.name} has no forward mode")
        return tangent(ctx.operation, saved(ctx), tangents)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        return batched(Primal, info, in_dims, *arguments)


class _OfFirstOrder(torch.autograd.Function):
    """A derivative that has none itself, and says so."""

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.operation = inputs[0]

    @staticmethod
    def backward(ctx: Any, *seeds: Any) -> Any:
        raise NotImplementedError(f"{ctx.operation.name} has no second derivatives")

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise NotImplementedError(f"{ctx.operation.name} has no second derivatives")


class Adjoint(_OfFirstOrder):
    """The gradients of the operation's floating tensors for some seeds: an explicit launch, which no tape sees."""

    @staticmethod
    def forward(operation: Operation, *seeds_and_arguments: Any) -> Any:
        count = len(operation.outputs)
        seeds, arguments = seeds_and_arguments[:count], seeds_and_arguments[count:]
        grads = [torch.zeros(a.shape, dtype=a.dtype, device=a.device) if is_floating(a) else None for a in arguments]
        scalar = SCALARS[arguments[0].dtype]
        adjoints = [
            None if isinstance(a, torch.Tensor) and g is None else scalar(0.0) if g is None else wp.from_torch(g)
            for a, g in zip(arguments, grads, strict=True)
        ]
        outputs = [torch.zeros_like(canonical(seed)) for seed in seeds]
        wanted = [wp.from_torch(canonical(seed.detach())) for seed in seeds]
        launch(operation.kernel, arguments, outputs, adjoint=True, adj_inputs=adjoints, adj_outputs=wanted)
        return tuple(grad for grad in grads if grad is not None)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        return batched(Adjoint, info, in_dims, *arguments)


class Tangent(_OfFirstOrder):
    """The derivative of the operation along tangents of all its tensors."""

    @staticmethod
    def forward(operation: Operation, *arguments_and_tangents: Any) -> Any:
        return run(operation, operation.tangent, arguments_and_tangents)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        return batched(Tangent, info, in_dims, *arguments)


def tangent(operation: Operation, arguments: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The derivative along a direction; None is a tangent that is not there."""
    full = [torch.zeros_like(a) if t is None else t for a, t in zip(arguments, tangents, strict=True)]
    return Tangent.apply(operation, *arguments, *full)


def evaluate(operation: Operation, *arguments: Any) -> Any:
    """The operation under autograd; without it where nothing needs a gradient."""
    operation.arguments.check([a for a in arguments if not isinstance(a, float)])
    outputs = Primal.apply(operation, *arguments)
    return outputs if len(outputs) > 1 else outputs[0]


PAIR_SUM = Operation("pair_sum", kernels.pair_sum, None, plain.PARTICLES, (("n",),))
PRODUCT = Operation("product", kernels.product, kernels.product_tangent, plain.FIELDS, (("n", 2), ("n",)))


def pair_sum(
    query: torch.Tensor, reference: torch.Tensor, masses: torch.Tensor, kinds: torch.Tensor, softening: float
) -> Any:
    """The square of the mass around each query point, twice as large a sum for points of kind 1."""
    if not (isinstance(softening, float) and math.isfinite(softening) and softening > 0.0):
        raise ValueError(f"softening must be a positive number, not {softening!r}")
    return evaluate(PAIR_SUM, query, reference, masses, kinds, softening)


def product(field: torch.Tensor, weight: torch.Tensor) -> Any:
    """The weighted sine of a field, and the weighted sum of its squares."""
    return evaluate(PRODUCT, field, weight)


def subject() -> BridgeSubject:
    """The whole bridge."""
    return BridgeSubject(
        (
            Probe(
                call=pair_sum,
                inputs=plain.particles,
                reference=plain.pair_sum,
                finite=("softening",),
                forward_mode=False,
            ),
            Probe(
                call=product,
                inputs=plain.fields,
                reference=plain.product,
                values=("field",),
                tangent=functools.partial(tangent, PRODUCT),
            ),
        ),
        without_cache=views.off,
        counters=lambda: {"views": len(views.kept)},
    )
