"""The autograd Functions: an operator's value, and its vector-Jacobian product.

A graph holds saved tensors and nothing else: no array, no struct, no tape. Everything that backward reads is saved,
tracked by torch or not, so that torch notices when somebody changes it in between.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd import forward_ad

from sphweft.bridge.launch import Launcher

LEADING = 6
"""Arguments of `StateAwareWarpFunction` before its tensors."""


class BuildFunction:
    """Puts the tensors that torch tracks and those that it need not see back into one list.

    Attributes:
        places: for each tensor handed to torch its place in the list.
        inert: the others, by place.
    """

    def __init__(self, places: Sequence[int], inert: dict[int, torch.Tensor]) -> None:
        self.places, self.inert = tuple(places), inert

    def __call__(self, tracked: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        return merged(self.places, tracked, tuple(self.inert), tuple(self.inert.values()))


def merged(places: Sequence[int], tracked: Sequence[Any], others: Sequence[int], rest: Sequence[Any]) -> list[Any]:
    """One list from two, by places."""
    whole: list[Any] = [None] * (len(places) + len(others))
    for place, value in zip(places, tracked, strict=True):
        whole[place] = value
    for place, value in zip(others, rest, strict=True):
        whole[place] = value
    return whole


class StateAwareWarpFunction(torch.autograd.Function):
    """An operator under torch.autograd.

    `apply(jvp_fn, build_fn, launcher, kernel, output_shape, output_dtype, *tensors)`: six arguments that are no
    tensors, then the tensors that torch tracks. Kernel, shapes and types are the launcher's own.
    """

    @staticmethod
    def forward(*arguments: Any) -> Any:
        _, build, launcher, *_ = arguments[:LEADING]
        made = launcher.run(build(arguments[LEADING:]))
        return made[0] if len(made) == 1 else tuple(made)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _, build, ctx.launcher, *_ = inputs[:LEADING]
        ctx.places, ctx.others = build.places, tuple(build.inert)
        ctx.save_for_backward(*inputs[LEADING:], *build.inert.values())
        ctx.set_materialize_grads(False)
        made = output if isinstance(output, tuple) else (output,)
        ctx.mark_non_differentiable(*(tensor for tensor in made if not tensor.is_floating_point()))

    @staticmethod
    def backward(ctx: Any, *seeds: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        count = len(ctx.places)
        saved = ctx.saved_tensors  # once: a second read fails under non-reentrant checkpointing
        tensors = merged(ctx.places, saved[:count], ctx.others, saved[count:])
        owners = [-1] * len(tensors)
        owner_of: dict[int, int] = {}
        fields = ctx.launcher.plan.fields
        firsts: list[int] = []
        for number, place in enumerate(ctx.places):
            if ctx.needs_input_grad[LEADING + number] and fields[place].differentiable:
                key = id(tensors[place])
                if key not in owner_of:
                    owner_of[key] = len(firsts)
                    firsts.append(number)
                owners[place] = owner_of[key]
        result: list[torch.Tensor | None] = [None] * (LEADING + count)
        if firsts and any(seed is not None for seed in seeds):
            product = VectorJacobianProduct
            call: Callable[..., Any] = product.apply if tracked_places([*seeds, *tensors]) else product.forward
            gradients = call(ctx.launcher, tuple(owners), len(seeds), *seeds, *tensors)
            for number, gradient in zip(firsts, gradients, strict=True):
                result[LEADING + number] = gradient
        return tuple(result)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise NotImplementedError(f"{ctx.launcher.plan.spec.name} has no tangent kernel: forward mode is not available")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> Any:
        return _looped(StateAwareWarpFunction, info.batch_size, in_dims, arguments)


class VectorJacobianProduct(torch.autograd.Function):
    """Jᵀ g of an operator: `apply(launcher, owners, seed_count, *seeds, *tensors)`, a gradient for each owner."""

    @staticmethod
    def forward(*arguments: Any) -> tuple[torch.Tensor, ...]:
        launcher, owners, count, *tensors = arguments
        return tuple(launcher.run_adjoint(tensors[count:], tensors[:count], owners))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.name = inputs[0].plan.spec.name

    @staticmethod
    def backward(ctx: Any, *seeds: Any) -> Any:
        raise NotImplementedError(f"{ctx.name} has no tangent kernel: second derivatives are not available")

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise NotImplementedError(f"{ctx.name} has no tangent kernel: forward over reverse is not available")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> Any:
        return _looped(VectorJacobianProduct, info.batch_size, in_dims, arguments)


def _looped(function: Any, size: int, in_dims: Sequence[Any], arguments: Sequence[Any]) -> Any:
    """A batch, item by item."""

    def item(argument: Any, dim: Any, index: int) -> Any:
        return argument.select(dim, index) if isinstance(argument, torch.Tensor) and dim is not None else argument

    results = [
        function.apply(*(item(argument, dim, index) for argument, dim in zip(arguments, in_dims, strict=True)))
        for index in range(size)
    ]
    if isinstance(results[0], tuple):
        stacked = tuple(torch.stack(column) for column in zip(*results, strict=True))
        return stacked, (0,) * len(stacked)
    return torch.stack(results), 0


def tracked_places(tensors: Sequence[torch.Tensor | None]) -> list[int]:
    """The places of the tensors through which something can be pushed, in either direction; metadata alone tells.

    A tensor wrapped by a function transform always counts: what it hides is not known here.
    """
    grad = torch.is_grad_enabled()
    if torch._C._functorch.peek_interpreter_stack() is None and forward_ad._current_level < 0:
        return [n for n, t in enumerate(tensors) if grad and t is not None and t.requires_grad]
    return [n for n, t in enumerate(tensors) if t is not None and ((grad and t.requires_grad) or _transformed(t))]


def _transformed(tensor: torch.Tensor) -> bool:
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return True
    return forward_ad._current_level >= 0 and forward_ad.unpack_dual(tensor).tangent is not None


def differentiable_call(launcher: Launcher, tensors: Sequence[torch.Tensor], places: Sequence[int]) -> Any:
    """Calls an operator whose tensors at these places take part in differentiation."""
    tracked = set(places)
    inert = {place: tensor for place, tensor in enumerate(tensors) if place not in tracked}
    plan = launcher.plan
    shapes, types = zip(*((shape, element) for element, shape in launcher.outputs), strict=True)
    leading = (None, BuildFunction(places, inert), launcher, plan.kernel, shapes, types)
    apply: Any = StateAwareWarpFunction.apply
    return apply(*leading, *(tensors[place] for place in places))


# torch inspects the signature of forward at every call; given ready-made, that costs microseconds instead of tens
_SIGNATURE = inspect.Signature([inspect.Parameter("arguments", inspect.Parameter.VAR_POSITIONAL)])
for _forward in (StateAwareWarpFunction.forward, VectorJacobianProduct.forward):
    setattr(_forward, "__signature__", _SIGNATURE)  # noqa: B010  (a function's type knows no such attribute)
