"""Launches: the forward pass of a kernel, and its adjoint, launched explicitly.

No tape is entered and none is left behind: the adjoint kernel is launched with the seed as its output's adjoint, which
Warp then only reads, and with gradient buffers that live as long as the call. Sources: Warp's differentiability guide
and the contracts `retain.output-zeroed`, `struct.lazy-read`, `struct.grad-pointer-frozen`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import warp as wp

from sphweft.bridge.plan import Outputs, Plan
from sphweft.cache.bundles import StateBundle
from sphweft.cache.views import View, array_over
from sphweft.runtime import COUNTERS, DTYPES, descriptor_type
from sphweft.slices import Slice, side_by_side, slices_of
from sphweft.transforms import refuse_batches, refuse_tracing


def switch(name: str, default: str) -> bool:
    """An environment switch, read at every call."""
    return os.environ.get(name, default) not in ("", "0")


@dataclass(eq=False, slots=True)
class Launcher:
    """One call of an operator, without its tensors.

    Attributes:
        plan: what to launch.
        scalars: one for each scalar field.
        outputs: type and shape of each output.
        threads: how many.
        grid: what the walk through cells reads; it lives as long as the call can be differentiated.
        differentiated: whether a gradient may be asked for; the state struct is then this call's own.
    """

    plan: Plan
    scalars: tuple[Any, ...]
    outputs: Outputs
    threads: int
    grid: Any
    differentiated: bool

    @property
    def floating(self) -> tuple[bool, ...]:
        """Which outputs can have a gradient and a tangent."""
        return tuple(scalar_dtype(element).is_floating_point for element, _ in self.outputs)

    @property
    def tangent(self) -> Launcher:
        """The same call of the directional derivative: its tensors are followed by a tangent or None for each
        differentiable field, its outputs are those that are floating.

        Raises:
            NotImplementedError: the operator has no tangent kernel.
        """
        places = [at for at, floating in enumerate(self.floating) if floating]
        outputs, plan = tuple(self.outputs[at] for at in places), self.plan.tangent
        plan.check_outputs(self.threads, outputs, [plan.spec.outputs[at] for at in places])
        return Launcher(plan, self.scalars, outputs, self.threads, self.grid, self.differentiated)

    def run(self, tensors: Sequence[torch.Tensor | None]) -> list[torch.Tensor]:
        """Launches the kernel on one tensor for each field of the plan; gives back its outputs."""
        refuse_tracing()
        device = _device_of(tensors)
        made = [torch.empty(shape, dtype=scalar_dtype(element), device=device) for element, shape in self.outputs]
        if self.threads:
            bundle, _views = self._filled(tensors)
            outputs, stream = [_descriptor(tensor) for tensor in made], _stream(device)
            slices = self._slices() if torch.get_num_threads() > 1 else [Slice(0, self.threads)]
            if len(slices) == 1:
                self._forward(bundle, self.threads, outputs, stream)
            else:
                parts = [(bundle.starting_at(part.first), part.threads) for part in slices]
                side_by_side([partial(self._forward, *part, outputs, stream) for part in parts])
            if not self.differentiated:
                self.plan.reused.bundle = bundle
        return made

    def _slices(self) -> list[Slice]:
        cut = self.plan.spec.sliced and self.plan.device.is_cpu
        return slices_of(self.threads) if cut else [Slice(0, self.threads)]

    def _forward(self, state: StateBundle, threads: int, outputs: Sequence[Any], stream: Any) -> None:
        COUNTERS["launches"] += 1
        with self._command(state, threads, outputs, False) as command:
            for place, output in enumerate(outputs, 1):
                command.set_param_at_index_from_ctype(place, output)
            command.launch(stream)

    @contextmanager
    def _command(self, state: StateBundle, threads: int, outputs: Sequence[Any], adjoint: bool) -> Iterator[Any]:
        """The thread's recorded launch, set to this struct and number of threads: it takes half the time of a new one.

        It is taken out meanwhile: a signal handler or a finaliser that calls the operator in between gets its own. A
        command keeps descriptors, not tensors; what it holds between calls is never read.
        """
        kept, name = self.plan.reused.__dict__, "adjoint" if adjoint else "forward"
        command = kept.pop(name, None)
        if command is None:
            adjoints = {"adj_inputs": (self.plan.no_adjoint,), "adj_outputs": outputs} if adjoint else {}
            command = wp.launch(
                self.plan.kernel,
                threads,
                inputs=(state,),
                outputs=outputs,
                **adjoints,
                adjoint=adjoint,
                device=self.plan.device,
                record_tape=False,
                record_cmd=True,
            )
        if command.bounds.size != threads:
            command.set_dim(threads)
        command.set_param_at_index_from_ctype(0, state.content)
        yield command
        kept[name] = command

    def run_adjoint(
        self, tensors: Sequence[torch.Tensor | None], seeds: Sequence[torch.Tensor | None], owners: Sequence[int]
    ) -> list[torch.Tensor]:
        """Launches the adjoint of the kernel.

        Args:
            tensors: one for each field of the plan.
            seeds: the gradient of each output; None counts as zero.
            owners: for each field the number of its gradient among those given back, -1 where none is asked for. A
                tensor in two fields has one gradient, the sum of both roles.

        Returns:
            The gradients, of their tensors' shapes.
        """
        refuse_tracing()
        first = [owners.index(number) for number in range(max(owners, default=-1) + 1)]
        wanted = [tensor for tensor in (tensors[place] for place in first) if tensor is not None]
        if not self.threads or all(seed is None for seed in seeds):
            return [torch.zeros_like(tensor, memory_format=torch.contiguous_format) for tensor in wanted]
        taped = switch("SPHWEFT_TAPE_BACKWARD", "0")
        slices = [Slice(0, self.threads)] if taped else self._slices()
        bundle, _views = self._filled(tensors)
        for seed in seeds:
            if seed is not None:
                refuse_batches(seed)
        held = [None if seed is None else seed.resolve_neg().contiguous() for seed in seeds]
        stream = _stream(_device_of(tensors))
        if len(slices) == 1:
            gradients = [torch.zeros_like(tensor, memory_format=torch.contiguous_format) for tensor in wanted]
            self._collect(bundle, owners, gradients)
            (_through_tape if taped else _directly)(self, bundle, held, stream, self.threads)
            return gradients
        buffers = [tensor.new_zeros((len(slices), *tensor.shape)) for tensor in wanted]
        tasks = []
        for at, part in enumerate(slices):
            state = bundle.starting_at(part.first)
            self._collect(state, owners, [buffer[at] for buffer in buffers])
            tasks.append(partial(_directly, self, state, held, stream, part.threads))
        side_by_side(tasks)
        return [buffer.sum(0) for buffer in buffers]

    def _collect(self, bundle: StateBundle, owners: Sequence[int], gradients: Sequence[torch.Tensor]) -> None:
        """Gradients of the fields go into these buffers."""
        for entry, owner in zip(self.plan.fields, owners, strict=True):
            if owner >= 0:
                getattr(bundle.content, entry.name).grad = gradients[owner].data_ptr()

    def _filled(self, tensors: Sequence[torch.Tensor | None]) -> tuple[StateBundle, list[View]]:
        plan, keep, bundle = self.plan, True, None
        if self.differentiated:
            keep = switch("SPHWEFT_FIELD_CACHE_GRAD", "1")
        elif not switch("SPHWEFT_DISABLE_BUNDLE", "0"):
            bundle = plan.reused.__dict__.pop(
                "bundle", None
            )  # put back after the launch: nobody else fills it till then
        if bundle is None:
            COUNTERS["structs_built"] += 1
            bundle = StateBundle(plan.struct, plan.filling, tuple(plan.scalars), plan.device.alias)
        else:
            COUNTERS["structs_reused"] += 1
        return bundle, bundle.fill(tensors, self.scalars, keep=keep)

    def adjoint(self, state: StateBundle, adjoints: Sequence[Any], stream: Any, threads: int) -> None:
        """Launches the adjoint kernel alone."""
        COUNTERS["adjoint_launches"] += 1
        with self._command(state, threads, [_nothing()] * len(adjoints), True) as command:
            for place, adjoint in enumerate(adjoints, 1):
                command.set_param_at_index(place, adjoint, adjoint=True)
            command.launch(stream)


def _directly(launcher: Launcher, state: Any, seeds: Sequence[torch.Tensor | None], stream: Any, threads: int) -> None:
    launcher.adjoint(state, [_nothing() if seed is None else _descriptor(seed) for seed in seeds], stream, threads)


def _through_tape(
    launcher: Launcher, state: Any, seeds: Sequence[torch.Tensor | None], stream: Any, threads: int
) -> None:
    """The documented way, seeds through `tape.backward(grads=…)`: the same launch, so equal to the bit, if in one."""
    adjoints: list[Any] = []
    grads: dict[Any, Any] = {}
    for seed, (element, _) in zip(seeds, launcher.outputs, strict=True):
        if seed is None:
            adjoints.append(_nothing())
            continue
        shape = () if element in DTYPES else element._shape_
        output = array_over(torch.zeros_like(seed), element, shape)
        output.requires_grad = True
        adjoints.append(output.grad.__ctype__())
        grads[output] = array_over(seed, element, shape)
    tape = wp.Tape()
    tape.record_func(lambda: launcher.adjoint(state, adjoints, stream, threads), list(grads))
    tape.backward(grads=grads)


def scalar_dtype(element: Any) -> torch.dtype:
    """The torch dtype of a Warp type's scalars."""
    return DTYPES[element] if element in DTYPES else DTYPES[element._wp_scalar_type_]


def _device_of(tensors: Sequence[torch.Tensor | None]) -> torch.device:
    first = tensors[0]
    assert first is not None  # tangents come last
    return first.device


def _nothing() -> Any:
    return descriptor_type()()


def _descriptor(tensor: torch.Tensor) -> Any:
    """What Warp passes to a kernel for a contiguous tensor seen as one axis of entries."""
    entry = tensor.element_size() * math.prod(tensor.shape[1:])
    return descriptor_type()(tensor.data_ptr(), 0, 1, (tensor.shape[0],), (entry,))


def _stream(device: torch.device) -> Any:
    """Torch's current stream as Warp knows it; None on the CPU."""
    return None if device.type == "cpu" else wp.stream_from_torch(torch.cuda.current_stream(device))
