"""The two ways into the engine: the declared call, and the positional shim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from sphweft.bridge.function import differentiable_call, jacobian_vector_product
from sphweft.bridge.launch import Launcher
from sphweft.bridge.liveness import tracked_places
from sphweft.bridge.plan import Field, plan_for
from sphweft.bridge.spec import Extras, OperatorSpec, SPHContext, ThreadSpec
from sphweft.errors import InputError, same_device, tensor_of
from sphweft.state import Corrections

STATE_PLACES = (
    *("query", "properties", "domain", "query_volumes", "reference_volumes"),
    *("adjacency", "reference", "crk", "omega", "renormalization"),
)
"""The positional state, in order; None stands for what is absent."""


def launch_operator(spec: OperatorSpec, context: SPHContext, **extras: Any) -> Any:
    """Runs a declared operator under torch.autograd.

    Args:
        spec: the operator.
        context: the state of the call.
        extras: what the operator declares beside it, by name.

    Returns:
        The output, or a tuple of them.

    Raises:
        InputError: something is missing, undeclared or does not fit; nothing has been launched then.
    """
    if torch.compiler.is_compiling():  # a graph break; torch loads its compiler for `disable`, so not at import
        return torch.compiler.disable(_launch)(spec, context, extras)
    return _launch(spec, context, extras)


def _launch(spec: OperatorSpec, context: SPHContext, extras: Extras) -> Any:
    launcher, tensors = _prepared(spec, context, extras)
    places = tracked_places(tensors)
    if places:
        launcher.differentiated = True
        return differentiable_call(launcher, tensors, places)
    made = launcher.run(tensors)
    return made[0] if len(made) == 1 else tuple(made)


def _prepared(spec: OperatorSpec, context: SPHContext, extras: Extras) -> tuple[Launcher, list[torch.Tensor]]:
    """A call, checked, and its tensors, one for each field."""
    spec.check_extras(context, extras)
    plan = plan_for(spec, context, extras)
    outputs = tuple(output.resolve(context, extras) for output in spec.outputs)
    threads = context.query.count if isinstance(spec.threads, ThreadSpec) else spec.threads(context, extras)
    plan.check_outputs(threads, outputs, spec.outputs)
    launcher = Launcher(
        plan=plan,
        scalars=plan.values(context, extras),
        outputs=outputs,
        threads=threads,
        grid=context.grid,
        differentiated=False,
    )
    return launcher, plan.tensors(context, extras)


def launch_tangent(spec: OperatorSpec, context: SPHContext, tangents: Mapping[str, torch.Tensor], **extras: Any) -> Any:
    """The directional derivative of a declared operator, itself differentiable once by tensors and by tangents.

    Args:
        spec: the operator; it has a tangent kernel.
        context: the state of the call.
        tangents: by the name of a field, `query_positions`, or of an extra; each of the shape and dtype of its tensor.
            That of a field which the operator does not read changes nothing.
        extras: what the operator declares beside the context, by name.

    Returns:
        The tangent of the floating output, or a tuple of them.

    Raises:
        InputError: as `launch_operator`, or a tangent that does not fit.
        NotImplementedError: the operator was declared without a tangent kernel.
    """
    launcher, tensors = _prepared(spec, context, extras)
    found = [tangents.get(entry.name) for entry in launcher.plan.fields]
    for entry, tensor, tangent in zip(launcher.plan.fields, tensors, found, strict=True):
        if tangent is not None:
            _check_tangent(entry, tensor, tangent)
    launcher.differentiated = bool(tracked_places([*tensors, *found]))
    made = jacobian_vector_product(launcher, tensors, found, recorded=launcher.differentiated)
    return made[0] if len(made) == 1 else made


def _check_tangent(entry: Field, tensor: torch.Tensor, tangent: torch.Tensor) -> None:
    name = f"{entry.name}_tangent"
    if not entry.differentiable:
        raise InputError(name, f"nothing, since {entry.name} has no derivative", "a tangent")
    tensor_of(name, tangent, (tensor.dtype,), str(tuple(tensor.shape)))
    if tangent.shape != tensor.shape:
        raise InputError(name, f"shape {tuple(tensor.shape)}, that of the tensor", f"shape {tuple(tangent.shape)}")
    same_device(name, tangent, tensor, entry.name)


def launch_positional(spec: OperatorSpec, state: Sequence[Any], additional: Sequence[Any] = ()) -> Any:
    """Runs a declared operator from a positional state of ten places, and extras in the declared order.

    Args:
        spec: the operator.
        state: as `STATE_PLACES` names them, None for what is absent.
        additional: the extras.

    Raises:
        InputError: as `launch_operator`, or a wrong number of places.
    """
    if len(state) != len(STATE_PLACES):
        raise InputError("state", f"{len(STATE_PLACES)} places: {', '.join(STATE_PLACES)}", f"{len(state)}")
    if len(additional) != len(spec.extras):
        raise InputError("additional", f"{len(spec.extras)} extras of {spec.name}", f"{len(additional)}")
    given = dict(zip(STATE_PLACES, state, strict=True))
    context = SPHContext(
        query=given["query"],
        properties=given["properties"],
        domain=given["domain"],
        adjacency=given["adjacency"],
        reference=given["reference"],
        corrections=Corrections(
            query_volumes=given["query_volumes"],
            reference_volumes=given["reference_volumes"],
            query_crk=given["crk"],
            query_omega=given["omega"],
            renormalization=given["renormalization"],
        ),
    )
    return launch_operator(spec, context, **{extra.name: v for extra, v in zip(spec.extras, additional, strict=True)})
