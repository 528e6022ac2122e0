"""How an idiom is judged: the adjoint that Warp generates, against differences of the kernel's own values in double."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tapecheck.contract import Evidence, check
from tapecheck.subjects.warp import WarpSubject

check_idiom = partial(check, seconds=240.0, safe=lambda form=None: isinstance(form, Idiom))
"""A check whose time limit allows for the family's kernels, which the first one to run compiles.

A case of a hazard that is no `Trap` is the safe form of its idiom.
"""


@dataclass(frozen=True)
class Idiom:
    """A kernel of one idiom, and what it is launched on.

    The kernel takes `fixed` arguments, then the differentiable arrays, then the output array.

    Attributes:
        kernel: the kernel; its source is what a reader is shown.
        inputs: name and values of each differentiable array; the trailing axes are those of its dtype.
        output: shape of the output.
        fixed: arguments that are not differentiated (integers, index lists as NumPy arrays).
        dim: threads of the launch; left out, the output's first axis.
        dtypes: Warp dtype of an array by its name (`output` for the output); left out, double.
    """

    kernel: Any
    inputs: dict[str, Any]
    output: tuple[int, ...] = (1,)
    fixed: tuple[Any, ...] = ()
    dim: int | tuple[int, ...] | None = None
    dtypes: dict[str, Any] = field(default_factory=dict)

    def arrays(self, wp: WarpSubject, inputs: dict[str, np.ndarray]) -> tuple[list[Any], dict[str, Any], Any]:
        """Fixed arguments, differentiable arrays and output, ready for a launch."""
        fixed = [wp.array(a) if isinstance(a, np.ndarray) else a for a in self.fixed]
        arrays = {
            name: wp.array(values, dtype=self.dtypes.get(name, wp.float64), requires_grad=True)
            for name, values in inputs.items()
        }
        output = wp.zeros(self.output, dtype=self.dtypes.get("output", wp.float64), requires_grad=True)
        return fixed, arrays, output

    def launch(self, wp: WarpSubject, fixed: list[Any], arrays: dict[str, Any], output: Any) -> None:
        dim = self.output[0] if self.dim is None else self.dim
        wp.launch(self.kernel, dim=dim, inputs=[*fixed, *arrays.values()], outputs=[output])

    def values(self) -> dict[str, np.ndarray]:
        return {name: np.asarray(values, dtype=float) for name, values in self.inputs.items()}


def seed_for(shape: tuple[int, ...]) -> np.ndarray:
    """An incoming gradient without symmetries: 1, 1.3, 1.6, …"""
    return (1.0 + 0.3 * np.arange(np.prod(shape))).reshape(shape)


def adjoint(wp: WarpSubject, idiom: Idiom) -> dict[str, np.ndarray]:
    """The gradients of ⟨seed, output⟩ that the tape gives."""
    fixed, arrays, output = idiom.arrays(wp, idiom.values())
    with wp.Tape() as tape:
        idiom.launch(wp, fixed, arrays, output)
    seed = wp.array(seed_for(output.numpy().shape), dtype=output.dtype)
    tape.backward(grads={output: seed})
    return {f"{name}.grad": array.grad.numpy() for name, array in arrays.items()}


def derivative(wp: WarpSubject, idiom: Idiom, step: float = 1e-3) -> dict[str, np.ndarray]:
    """The same gradients by Richardson-extrapolated central differences of forward launches (error about step⁴)."""

    def loss(inputs: dict[str, np.ndarray]) -> float:
        fixed, arrays, output = idiom.arrays(wp, inputs)
        idiom.launch(wp, fixed, arrays, output)
        values = output.numpy()
        return float((seed_for(values.shape) * values).sum())

    return {f"{name}.grad": _richardson(loss, idiom.values(), name, step) for name in idiom.inputs}


def _richardson(
    loss: Callable[[dict[str, np.ndarray]], float], inputs: dict[str, np.ndarray], name: str, step: float
) -> np.ndarray:
    gradient = np.zeros_like(inputs[name])
    for index in np.ndindex(gradient.shape):

        def central(width: float, index: tuple[int, ...] = index) -> float:
            sides = []
            for sign in (1, -1):
                moved = inputs[name].copy()
                moved[index] += sign * width
                sides.append(loss({**inputs, name: moved}))
            return (sides[0] - sides[1]) / (2 * width)

        gradient[index] = (4 * central(step / 2) - central(step)) / 3
    return gradient


def gradients(wp: WarpSubject, idiom: Idiom, tolerance: float = 1e-7) -> Evidence:
    """Evidence of a smooth idiom: the tape's gradients beside the derivative.

    Where the inputs sit at a kink or a singularity, or the derivative is known in closed form, a check gives the
    expected numbers itself.
    """
    return Evidence(observed=adjoint(wp, idiom), expected=derivative(wp, idiom), tolerance=tolerance)


def beside_the_truth(
    wp: WarpSubject, idiom: Idiom, wrong: dict[str, Any], true: dict[str, Any], tolerance: float = 1e-7
) -> Evidence:
    """Evidence of a trap: the wrong gradients that the tape is expected to give, and the derivative beside them.

    Only the arrays that are named as wrong are judged.
    """
    seen = adjoint(wp, idiom) | {f"true {name}": values for name, values in derivative(wp, idiom).items()}
    expected = wrong | {f"true {name}": values for name, values in true.items()}
    return Evidence(observed={name: seen[name] for name in expected}, expected=expected, tolerance=tolerance)


class Trap(NamedTuple):
    """An idiom whose gradients are wrong: those that the tape gives, and the true ones, by the name of their array."""

    idiom: Idiom
    wrong: dict[str, Any]
    true: dict[str, Any]


def trapped(wp: WarpSubject, trap: Trap) -> Evidence:
    """Evidence that a trap is there."""
    return beside_the_truth(wp, *trap)
