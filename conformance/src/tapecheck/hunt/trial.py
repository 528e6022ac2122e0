"""What a trial of the hunt is: a small kernel, what it is launched on, and the table that holds them all."""

from __future__ import annotations

import importlib
import inspect
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import warp

from tapecheck.contracts.codegen.idiom import Idiom
from tapecheck.subjects.warp import WarpSubject

GROUPS = (
    *("loops", "boundary", "locals", "functions", "atomics", "views", "vectors", "matrices"),
    *("grids", "particles", "meshes", "hashgrid", "tiles", "recent"),
)
"""The files of kernels, one Warp module each."""

SEED = 20250

ALONE = [False]
"""Whether each kernel gets a Warp module of its own; set before the kernels are imported."""

NEIGHBOURS = np.array([1, 2, 4, 0, 3, 5, 1, 0, 2, 4, 3, 5], dtype=np.int32)
ROWS = np.array([0, 3, 5, 9, 12], dtype=np.int32)
CSR = (ROWS, NEIGHBOURS)
"""Four rows of neighbours among six particles: row i holds NEIGHBOURS[ROWS[i]:ROWS[i + 1]]."""

Draw = Callable[[np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Trial(Idiom):
    """An idiom with a name; the kernel takes fixed arguments, scratch arrays, differentiable arrays, the output.

    Attributes:
        name: the kernel's name.
        group: the file it stands in.
        summary: what it does, one line.
        draws: how each differentiable array is drawn.
        scratch: shapes of the arrays that the kernel both writes and reads.
        prepare: makes the fixed arguments that need Warp itself (a hash grid), from the inputs.
        tile: threads of a block, for kernels on tiles; 0 for an ordinary launch.
    """

    name: str = ""
    group: str = ""
    summary: str = ""
    draws: dict[str, Draw] = field(default_factory=dict)
    scratch: dict[str, tuple[int, ...]] = field(default_factory=dict)
    prepare: Callable[[WarpSubject, dict[str, Any]], tuple[Any, ...]] | None = None
    tile: int = 0

    def drawn(self) -> Trial:
        """The trial with its inputs drawn: the same ones in every process."""
        rng = np.random.default_rng([SEED, zlib.crc32(self.name.encode())])
        return replace(self, inputs={name: draw(rng) for name, draw in self.draws.items()})

    def arrays(self, wp: WarpSubject, inputs: dict[str, np.ndarray]) -> tuple[list[Any], dict[str, Any], Any]:
        fixed, arrays, output = super().arrays(wp, inputs)
        if self.prepare:
            fixed = [*self.prepare(wp, inputs), *fixed]
        for name, shape in self.scratch.items():
            fixed.append(wp.zeros(shape, dtype=self.dtypes[name], requires_grad=True))
        return fixed, arrays, output

    def launch(self, wp: WarpSubject, fixed: list[Any], arrays: dict[str, Any], output: Any) -> None:
        if not self.tile:
            super().launch(wp, fixed, arrays, output)
            return
        inputs = [*fixed, *arrays.values()]
        wp.launch_tiled(self.kernel, dim=self.dim or 1, inputs=inputs, outputs=[output], block_dim=self.tile)


TABLE: dict[str, Trial] = {}
"""Every trial by name."""


def uniform(*shape: int, low: float = 0.3, high: float = 1.7) -> Draw:
    """Numbers of one sign, away from zero."""
    return lambda rng: rng.uniform(low, high, shape)


def signed(*shape: int) -> Draw:
    """Numbers of both signs, none near zero."""
    return lambda rng: rng.uniform(0.3, 1.7, shape) * rng.choice([-1.0, 1.0], shape)


def trial(summary: str, output: tuple[int, ...] = (4,), **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Makes the decorated function a kernel, and puts it into the table.

    Args:
        summary: what it does, one line.
        output: shape of the output.
        options: `fixed`, `dim`, `dtypes`, `scratch`, `prepare`, `tile` as in `Trial`; everything else is a
            differentiable array: its shape, or how it is drawn.
    """
    known = {key: options.pop(key) for key in Trial.__dataclass_fields__ if key in options}

    def declare(function: Callable[..., Any]) -> Any:
        kernel = warp.kernel(function, module="unique") if ALONE[0] else warp.kernel(function)
        annotated = inspect.get_annotations(function)
        declared = {name: kind.dtype for name, kind in annotated.items() if isinstance(kind, warp.array)}
        name = function.__name__.strip("_").replace("_", "-")
        if name in TABLE:
            raise ValueError(f"two trials are called {name}")
        known["dtypes"] = {**declared, "output": declared[list(annotated)[-1]], **known.get("dtypes", {})}
        TABLE[name] = Trial(
            kernel=kernel,
            inputs={},
            output=output,
            name=name,
            group=function.__module__.rpartition(".")[2],
            summary=summary,
            draws={key: draw if callable(draw) else uniform(*draw) for key, draw in options.items()},
            **known,
        )
        return kernel

    return declare


def load(group: str) -> list[Trial]:
    """The trials of one group, their inputs drawn."""
    importlib.import_module(f"tapecheck.hunt.{group}")
    return [entry.drawn() for entry in TABLE.values() if entry.group == group]
