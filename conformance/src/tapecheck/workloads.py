"""What is timed: one table of operations of Warp, used by the paired comparison and by `pytest benchmarks` alike.

Arrays are short, so that what is timed is Warp's own work around a kernel, not the kernel; `backward-components` is the
exception, there the generated code is the subject.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import warp as wp

Operation: TypeAlias = Callable[[], object]

LENGTH = 64
LAUNCHES = 8
WIDE_FIELDS = 36


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """One operation to be timed.

    Attributes:
        name: the benchmark's name, the same in every report.
        what: what one call does.
        make: sets up on a device; the returned operation is what is timed.
        before: undoes the last call, untimed; given where a call cannot simply be repeated, which is then timed alone.
        slow: a call takes seconds, so few are made, and CPU time of the process is taken instead of the clock's.
        needs: a package without which it cannot run.
    """

    name: str
    what: str
    make: Callable[[str], Operation]
    before: Operation | None = None
    slow: bool = False
    needs: str = ""


# Annotations as values: the module's own are strings, and a class of 36 lines would say no more.
Wide: Any = wp.struct(
    type(
        "Wide",
        (),
        {
            "__module__": __name__,
            "__annotations__": {f"f{at:02}": wp.array(dtype=float) for at in range(WIDE_FIELDS)},
        },
    )
)
COLD = wp.get_module("tapecheck_speed_cold")
WARM = wp.get_module("tapecheck_speed_warm")


@wp.kernel
def combine(
    a: wp.array(dtype=float),
    b: wp.array(dtype=float),
    c: wp.array(dtype=float),
    d: wp.array(dtype=float),
    e: wp.array(dtype=float),
    f: wp.array(dtype=float),
    g: wp.array(dtype=float),
    y: wp.array(dtype=float),
):
    i = wp.tid()
    y[i] = a[i] * b[i] + c[i] * d[i] + e[i] * f[i] + g[i]


@wp.kernel
def combine_fields(wide: Wide, y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wide.f00[i] * wide.f07[i] + wide.f14[i] * wide.f21[i] + wide.f28[i] * wide.f35[i]


@wp.kernel
def relax(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 0.5 * x[i] + 0.5


@wp.kernel
def write_components(x: wp.array(dtype=wp.mat44), y: wp.array(dtype=wp.mat44)):
    i = wp.tid()
    m = x[i]
    product = wp.mat44()
    for row in range(4):
        for column in range(4):
            product[row, column] = m[column, row] * m[row, column]
    y[i] = product


def load_me(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.sin(x[i]) * x[i]


# Not by decorator: Warp 1.12 reads one that names a module as part of the kernel, and never ends.
for module in (COLD, WARM):
    wp.kernel(module=module)(load_me)


def _arrays(device: str, count: int, *, differentiable: bool = False) -> list[Any]:
    return [wp.full(LENGTH, 0.5, dtype=float, device=device, requires_grad=differentiable) for _ in range(count)]


def _wide(device: str, *, differentiable: bool = False) -> Any:
    wide = Wide()
    for at, array in enumerate(_arrays(device, WIDE_FIELDS, differentiable=differentiable)):
        setattr(wide, f"f{at:02}", array)
    return wide


def launch(device: str) -> Operation:
    arrays = _arrays(device, 8)
    return lambda: wp.launch(combine, dim=LENGTH, inputs=arrays[:7], outputs=arrays[7:], device=device)


def launch_struct(device: str) -> Operation:
    wide, outputs = _wide(device), _arrays(device, 1)
    return lambda: wp.launch(combine_fields, dim=LENGTH, inputs=[wide], outputs=outputs, device=device)


def recorded(device: str) -> Operation:
    arrays = _arrays(device, 8)
    command = wp.launch(combine, dim=LENGTH, inputs=arrays[:7], outputs=arrays[7:], device=device, record_cmd=True)
    return lambda keep=arrays: command.launch()  # a command holds addresses, and keeps no array alive


def _chain(device: str) -> tuple[list[Any], Operation]:
    """The arrays of a chain of launches, and what launches it."""
    arrays = _arrays(device, LAUNCHES + 1, differentiable=True)

    def forward() -> None:
        for x, y in pairwise(arrays):
            wp.launch(relax, dim=LENGTH, inputs=[x], outputs=[y], device=device)

    return arrays, forward


def tape_record(device: str) -> Operation:
    _, forward = _chain(device)

    def operation() -> None:
        with wp.Tape():
            forward()

    return operation


def _backward(forward: Operation, output: Any, device: str) -> Operation:
    """Backward through a recorded tape, and its gradients zeroed: what one step of a training loop does with a tape."""
    with wp.Tape() as tape:
        forward()
    seed = wp.full_like(output, 1.0, requires_grad=False)

    def operation() -> None:
        tape.backward(grads={output: seed})
        tape.zero()

    return operation


def tape_backward(device: str) -> Operation:
    arrays, forward = _chain(device)
    return _backward(forward, arrays[-1], device)


def backward_struct(device: str) -> Operation:
    wide, (output,) = _wide(device, differentiable=True), _arrays(device, 1, differentiable=True)
    return _backward(
        lambda: wp.launch(combine_fields, dim=LENGTH, inputs=[wide], outputs=[output], device=device), output, device
    )


def backward_components(device: str) -> Operation:
    x, y = (wp.full(64 * LENGTH, 0.5, dtype=wp.mat44, device=device, requires_grad=True) for _ in range(2))
    return _backward(
        lambda: wp.launch(write_components, dim=64 * LENGTH, inputs=[x], outputs=[y], device=device), y, device
    )


def from_torch(device: str) -> Operation:
    import torch

    tensor = torch.full((LENGTH,), 0.5, device=device)
    return lambda: wp.from_torch(tensor)


def to_torch(device: str) -> Operation:
    (array,) = _arrays(device, 1)
    return lambda: wp.to_torch(array)


def load_cold(device: str) -> Operation:
    return lambda: wp.load_module(COLD, device=device)


def load_warm(device: str) -> Operation:
    wp.load_module(WARM, device=device)
    return lambda: wp.load_module(WARM, device=device)


def cold_folders() -> list[Path]:
    """Where this process's kernel cache holds the module that is built anew each time."""
    return sorted(Path(wp.config.kernel_cache_dir).glob(f"wp_{COLD.name}_*"))


def forget_cold() -> None:
    """Unloads that module and deletes what was built of it, nothing else."""
    COLD.unload()
    for folder in cold_folders():
        shutil.rmtree(folder)


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(name="launch", what="one launch, eight arrays", make=launch),
        Workload(name="launch-struct", what="one launch, a struct of 36 arrays", make=launch_struct),
        Workload(name="recorded", what="one launch of a recorded command, eight arrays", make=recorded),
        Workload(name="tape-record", what="a tape that records eight launches", make=tape_record),
        Workload(name="backward", what="backward through eight launches, gradients zeroed", make=tape_backward),
        Workload(
            name="backward-struct",
            what="backward through one launch with a struct of 36 arrays, gradients zeroed",
            make=backward_struct,
        ),
        Workload(
            name="backward-components",
            what="backward through 4096 threads that each write 16 components, gradients zeroed",
            make=backward_components,
        ),
        Workload(name="from-torch", what="one tensor seen as an array", make=from_torch, needs="torch"),
        Workload(name="to-torch", what="one array seen as a tensor", make=to_torch, needs="torch"),
        Workload(
            name="load-warm",
            what="a module of one kernel loaded from the kernel cache",
            make=load_warm,
            before=lambda: WARM.unload(),
        ),
        Workload(
            name="load-cold",
            what="a module of one kernel built and loaded, not the first of its process",
            make=load_cold,
            before=forget_cold,
            slow=True,
        ),
    )
}
