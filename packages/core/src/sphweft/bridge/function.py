"""The autograd Functions: an operator's value, its two products with the Jacobian, and the derivative of these.

    A  StateAwareWarpFunction   f(x)                backward: B          forward mode: C
    B  VectorJacobianProduct    Jᵀ g                backward: C and D    forward mode: D and B
    C  JacobianVectorProduct    J v                 backward: D
    D  SecondDerivative         ∂⟨g, J v⟩/∂x and Jᵀ g   backward, for v alone: D

A graph holds saved tensors and nothing else: no array, no struct, no tape. Everything that a derivative reads is saved,
tracked by torch or not, so that torch notices when somebody changes it in between. ∂⟨g, J v⟩/∂x is H v with a
symmetric H, so that its derivative by v is H again; by x and g it is of third order, and a barrier in front of them
says so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch

from sphweft.bridge.launch import Launcher
from sphweft.bridge.liveness import recorded_further, tracked_places
from sphweft.transforms import may_vary

Tensors = Sequence["torch.Tensor | None"]
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


class _Function(torch.autograd.Function):
    """What the Functions share: tensors are saved for both modes, absent gradients stay absent."""

    @staticmethod
    def saved(ctx: Any, tensors: Tensors) -> None:
        ctx.save_for_backward(*tensors)
        if may_vary():
            ctx.save_for_forward(*tensors)
        ctx.set_materialize_grads(False)


class StateAwareWarpFunction(_Function):
    """An operator under torch.autograd.

    `apply(jvp_fn, build_fn, launcher, kernel, output_shape, output_dtype, *tensors)`: six arguments that are no
    tensors, then the tensors that torch tracks. Kernel, shapes and types are the launcher's own; `jvp_fn` tells whether
    there is a tangent kernel.
    """

    @staticmethod
    def forward(*arguments: Any) -> Any:
        _, build, launcher, *_ = arguments[:LEADING]
        made = launcher.run(build(arguments[LEADING:]))
        return made[0] if len(made) == 1 else tuple(made)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        jvp, build, ctx.launcher, *_ = inputs[:LEADING]
        ctx.places, ctx.others = build.places, tuple(build.inert)
        tensors = (*inputs[LEADING:], *build.inert.values())
        ctx.save_for_backward(*tensors)
        if jvp is not None and may_vary():
            ctx.save_for_forward(*tensors)
        ctx.set_materialize_grads(False)
        made = output if isinstance(output, tuple) else (output,)
        ctx.mark_non_differentiable(*(tensor for tensor in made if not tensor.is_floating_point()))

    @staticmethod
    def tensors(ctx: Any) -> list[torch.Tensor]:
        """The tensors of the call, one for each field."""
        saved, count = ctx.saved_tensors, len(ctx.places)  # once: a second read fails under non-reentrant checkpointing
        return merged(ctx.places, saved[:count], ctx.others, saved[count:])

    @staticmethod
    def backward(ctx: Any, *seeds: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        tensors = StateAwareWarpFunction.tensors(ctx)
        needed = dict(zip(ctx.places, ctx.needs_input_grad[LEADING:], strict=True))
        owners, firsts = owners_of(ctx.launcher, tensors, [needed.get(place, False) for place in range(len(tensors))])
        gradients: dict[int, torch.Tensor] = {}
        if firsts and any(seed is not None for seed in seeds):
            product = VectorJacobianProduct
            call: Callable[..., Any] = product.apply if tracked_places([*seeds, *tensors]) else product.forward
            gradients = dict(zip(firsts, call(ctx.launcher, owners, len(seeds), *seeds, *tensors), strict=True))
        return *(None,) * LEADING, *(gradients.get(place) for place in ctx.places)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        launcher = ctx.launcher
        _ = launcher.plan.tangent  # raises where there is none
        others = [None] * len(ctx.others)
        found = merged(ctx.places, tangents[LEADING:], ctx.others, others)
        tensors = StateAwareWarpFunction.tensors(ctx)
        made = iter(jacobian_vector_product(launcher, tensors, found, recorded=recorded_further([*tensors, *found])))
        outputs = [next(made) if floating else None for floating in launcher.floating]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> Any:
        return _looped(StateAwareWarpFunction, info.batch_size, in_dims, arguments)


class VectorJacobianProduct(_Function):
    """Jᵀ g of an operator: `apply(launcher, owners, seed_count, *seeds, *tensors)`, a gradient for each owner."""

    @staticmethod
    def forward(*arguments: Any) -> tuple[torch.Tensor, ...]:
        launcher, owners, count, *tensors = arguments
        return tuple(launcher.run_adjoint(tensors[count:], tensors[:count], owners))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.launcher, ctx.owners, ctx.count, *tensors = inputs
        _Function.saved(ctx, tensors)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        seeds, tensors = ctx.saved_tensors[: ctx.count], ctx.saved_tensors[ctx.count :]
        tangents = [None if owner < 0 else cotangents[owner] for owner in ctx.owners]
        needs = ctx.needs_input_grad[3:]
        of_seeds: list[Any] = [None] * ctx.count
        if any(needs[: ctx.count]):
            derivatives = iter(jacobian_vector_product(ctx.launcher, tensors, tangents))
            of_seeds = [next(derivatives) if floating else None for floating in ctx.launcher.floating]
            of_seeds = [one if need else None for one, need in zip(of_seeds, needs, strict=False)]
        owners, firsts = owners_of(ctx.launcher, tensors, needs[ctx.count :])
        found: dict[int, Any] = {}
        if firsts:
            made = second_derivative(ctx.launcher, _floating(ctx.launcher, seeds), tensors, tangents, owners)
            found = dict(zip(firsts, made, strict=True))
        return None, None, None, *of_seeds, *(found.get(place) for place in range(len(tensors)))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        seeds, tensors = ctx.saved_tensors[: ctx.count], ctx.saved_tensors[ctx.count :]
        of_seeds, of_tensors = tangents[3 : 3 + ctx.count], tangents[3 + ctx.count :]
        floating = _floating(ctx.launcher, seeds)
        made = second_derivative(ctx.launcher, floating, tensors, of_tensors, ctx.owners)
        if any(tangent is not None for tangent in of_seeds):
            more = VectorJacobianProduct.apply(ctx.launcher, ctx.owners, ctx.count, *of_seeds, *tensors)
            made = tuple(a + b for a, b in zip(made, more, strict=True))
        return made

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> Any:
        return _looped(VectorJacobianProduct, info.batch_size, in_dims, arguments)


class JacobianVectorProduct(_Function):
    """J v of an operator: `apply(launcher, places, *tensors, *tangents)`, a tangent for each floating output.

    Tangents are those of the fields at these places; the others are zero.
    """

    @staticmethod
    def forward(*arguments: Any) -> tuple[torch.Tensor, ...]:
        launcher, places, *tensors = arguments
        count = len(launcher.plan.fields)
        tangents = dict(zip(places, tensors[count:], strict=True))
        return tuple(launcher.tangent.run([*tensors[:count], *map(tangents.get, launcher.plan.differentiable)]))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.launcher, ctx.places, *tensors = inputs
        _Function.saved(ctx, tensors)

    @staticmethod
    def backward(ctx: Any, *seeds: Any) -> Any:
        count = len(ctx.launcher.plan.fields)
        tensors, given = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        tangents = dict(zip(ctx.places, given, strict=True))
        needs = ctx.needs_input_grad[2:]
        owners, firsts = owners_of(ctx.launcher, tensors, needs[:count])
        needed = dict(zip(ctx.places, needs[count:], strict=True))
        own = [place for place in ctx.launcher.plan.differentiable if needed.get(place)]
        made = second_derivative(
            ctx.launcher, seeds, tensors, [tangents.get(place) for place in range(count)], owners, own
        )
        of_tensors = dict(zip(firsts, made, strict=False))
        of_tangents = dict(zip(own, made[len(firsts) :], strict=True))
        return None, None, *(of_tensors.get(n) for n in range(count)), *(of_tangents.get(n) for n in ctx.places)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise NotImplementedError(f"{ctx.launcher.plan.spec.name}: forward mode over forward mode; {SECOND}")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> Any:
        return _looped(JacobianVectorProduct, info.batch_size, in_dims, arguments)


SECOND = "take one of two derivatives in reverse mode, as torch.func.hessian or jacrev(jacfwd(f)) do"
THIRD = "third derivatives are not available"


class SecondDerivative(_Function):
    """∂⟨g, J v⟩/∂x, and Jᵀ g as the derivative by v, from one launch.

    `apply(launcher, owners, own, places, seed_count, *seeds, *tensors, *tangents)`: a gradient for each owner, then one
    for each field in `own`. Differentiable by the tangents alone.
    """

    @staticmethod
    def forward(*arguments: Any) -> tuple[torch.Tensor, ...]:
        launcher, owners, own, places, count, *rest = arguments
        fields, first = count + len(launcher.plan.fields), max(owners, default=-1) + 1
        seeds, tensors, given = rest[:count], rest[count:fields], rest[fields:]
        tangents = dict(zip(places, given, strict=True))
        numbers = {place: first + number for number, place in enumerate(own)}
        differentiable = launcher.plan.differentiable
        everything = [*tensors, *(tangents.get(place) for place in differentiable)]
        everyone = [*owners, *(numbers.get(place, -1) for place in differentiable)]
        return tuple(launcher.tangent.run_adjoint(everything, seeds, everyone))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.launcher, ctx.owners, ctx.own, ctx.places, ctx.count, *tensors = inputs
        _Function.saved(ctx, tensors)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        saved, fields = ctx.saved_tensors, len(ctx.launcher.plan.fields)
        seeds, tensors = saved[: ctx.count], saved[ctx.count : ctx.count + fields]
        needs = ctx.needs_input_grad[5 + ctx.count + fields :]
        wanted = [place for place, need in zip(ctx.places, needs, strict=True) if need]
        owners = [wanted.index(place) if place in wanted else -1 for place in range(fields)]
        tangents = [None if owner < 0 else cotangents[owner] for owner in ctx.owners]
        made = second_derivative(ctx.launcher, seeds, tensors, tangents, owners)
        found = dict(zip(wanted, made, strict=True))
        return *(None,) * (5 + ctx.count + fields), *(found.get(place) for place in ctx.places)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise NotImplementedError(f"{ctx.launcher.plan.spec.name}: {THIRD}")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> Any:
        return _looped(SecondDerivative, info.batch_size, in_dims, arguments)


class Barrier(_Function):
    """The tensor itself, which nothing can be differentiated through: beyond it derivatives are of third order."""

    @staticmethod
    def forward(*arguments: Any) -> Any:
        return arguments[0].view_as(arguments[0])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *seeds: Any) -> Any:
        raise NotImplementedError(THIRD)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise NotImplementedError(THIRD)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> Any:
        return Barrier.apply(*arguments), in_dims[0]


def _floating(launcher: Launcher, seeds: Tensors) -> list[Any]:
    """Those of the outputs' seeds that belong to floating ones."""
    return [seed for seed, floating in zip(seeds, launcher.floating, strict=True) if floating]


def owners_of(launcher: Launcher, tensors: Tensors, needed: Sequence[bool]) -> tuple[tuple[int, ...], list[int]]:
    """For each field the number of its gradient, -1 where none is needed; and the first field of each gradient.

    A tensor in two fields has one gradient.
    """
    owners = [-1] * len(tensors)
    owner_of: dict[int, int] = {}
    firsts: list[int] = []
    for place in launcher.plan.differentiable:
        if needed[place]:
            key = id(tensors[place])
            if key not in owner_of:
                owner_of[key] = len(firsts)
                firsts.append(place)
            owners[place] = owner_of[key]
    return tuple(owners), firsts


def jacobian_vector_product(
    launcher: Launcher, tensors: Tensors, tangents: Tensors, recorded: bool = True
) -> tuple[torch.Tensor, ...]:
    """J v, a tangent for each floating output; None is a tangent that is not there.

    Args:
        launcher: of the operator.
        tensors: one for each field, as are the tangents.
        tangents: those of the tensors.
        recorded: whether it may be differentiated further.
    """
    places = tuple(place for place in launcher.plan.differentiable if tangents[place] is not None)
    arguments = launcher, places, *tensors, *(tangents[place] for place in places)
    call: Callable[..., Any] = JacobianVectorProduct.apply if recorded else JacobianVectorProduct.forward
    made: tuple[torch.Tensor, ...] = call(*arguments)
    return made


def second_derivative(
    launcher: Launcher,
    seeds: Tensors,
    tensors: Tensors,
    tangents: Tensors,
    owners: Sequence[int],
    own: Sequence[int] = (),
) -> tuple[torch.Tensor, ...]:
    """∂⟨g, J v⟩/∂x for each owner, then Jᵀ g for each field in `own`."""
    places = tuple(place for place in launcher.plan.differentiable if tangents[place] is not None)
    given = [tangents[place] for place in places]
    behind, call = [*seeds, *tensors], SecondDerivative.forward
    if recorded_further([*behind, *given]):
        behind = [Barrier.apply(tensor) if recorded_further([tensor]) else tensor for tensor in behind]
        call = SecondDerivative.apply
    made: tuple[torch.Tensor, ...] = call(launcher, tuple(owners), tuple(own), places, len(seeds), *behind, *given)
    return made


def _looped(function: Any, size: int, in_dims: Sequence[Any], arguments: Sequence[Any]) -> Any:
    """A batch, item by item.

    Raises:
        NotImplementedError: the batch is empty, so that nothing tells the shape of a result.
    """
    if not size:
        raise NotImplementedError("torch.func.vmap over a batch of size zero")

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


def differentiable_call(launcher: Launcher, tensors: Sequence[torch.Tensor], places: Sequence[int]) -> Any:
    """Calls an operator whose tensors at these places take part in differentiation."""
    tracked = set(places)
    inert = {place: tensor for place, tensor in enumerate(tensors) if place not in tracked}
    plan = launcher.plan
    shapes, types = zip(*((shape, element) for element, shape in launcher.outputs), strict=True)
    leading = (plan.spec.tangent_kernel, BuildFunction(places, inert), launcher, plan.kernel, shapes, types)
    apply: Any = StateAwareWarpFunction.apply
    return apply(*leading, *(tensors[place] for place in places))


# torch inspects the signature of forward at every call; given ready-made, that costs microseconds instead of tens
_SIGNATURE = inspect.Signature([inspect.Parameter("arguments", inspect.Parameter.VAR_POSITIONAL)])
for _function in (StateAwareWarpFunction, VectorJacobianProduct, JacobianVectorProduct, SecondDerivative, Barrier):
    setattr(_function.forward, "__signature__", _SIGNATURE)  # noqa: B010  (a function's type knows no such attribute)
