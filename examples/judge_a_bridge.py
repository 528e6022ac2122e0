"""A bridge written as Warp's documentation teaches it, and the ten lines that have it judged.

`tapecheck judge examples.judge_a_bridge:probe` names what it gets wrong; as a program, this file draws it as well.
"""

import subprocess
import sys
from pathlib import Path

import torch
import warp as wp

from tapecheck.subjects.probe import Probe

wp.init()


@wp.kernel
def wave(x: wp.array(dtype=float), weight: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = weight[i] * wp.sin(x[i])


class Wave(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.x = wp.from_torch(x, requires_grad=True)
        ctx.weight = wp.from_torch(weight, requires_grad=True)
        ctx.y = wp.zeros(len(x), dtype=float, requires_grad=True)
        wp.launch(wave, dim=len(x), inputs=[ctx.x, ctx.weight], outputs=[ctx.y])
        return wp.to_torch(ctx.y)

    @staticmethod
    def backward(ctx, grad_output):
        ctx.y.grad = wp.from_torch(grad_output)
        wp.launch(
            wave,
            dim=len(ctx.y),
            inputs=[ctx.x, ctx.weight],
            outputs=[ctx.y],
            adj_inputs=[ctx.x.grad, ctx.weight.grad],
            adj_outputs=[ctx.y.grad],
            adjoint=True,
        )
        return wp.to_torch(ctx.x.grad), wp.to_torch(ctx.weight.grad)


def weighted_wave(x, weight):
    return Wave.apply(x, weight)


def inputs(size, dtype):
    return torch.linspace(0.2, 2.0, size), torch.linspace(1.0, 3.0, size)


probe = Probe(call=weighted_wave, inputs=inputs, reference=lambda x, weight: weight * torch.sin(x))


def main() -> None:
    """Has the probe judged, and draws a bar for each family, by outcome."""
    import matplotlib
    import numpy as np
    from rich.progress import Progress

    from tapecheck.results import read

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "tapecheck.cli", "judge", "examples.judge_a_bridge:probe", "-o"]
    with Progress() as progress:
        progress.add_task("the bridge is judged", total=None)
        done = subprocess.run([*command, root / "build/examples/judge"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr  # 1: a contract is violated
    print(done.stdout)
    records = [record for record in read(Path(done.stdout.splitlines()[-1])).records if record.outcome != "untested"]
    families = list(dict.fromkeys(record.family for record in records))
    figure, panel = plt.subplots(figsize=(7, 2), layout="constrained")
    left = np.zeros(len(families), int)
    for outcome, color in {"pass": "tab:green", "fail": "tab:red", "unsupported": "0.8"}.items():
        found = [record.family for record in records if record.outcome == outcome]
        widths = np.array([found.count(family) for family in families])
        bars = panel.barh(families, widths, left=left, color=color, label=outcome)
        panel.bar_label(bars, [width or "" for width in widths], label_type="center")
        left += widths
    panel.legend(loc="lower right")
    panel.set(xlabel="checks")
    panel.invert_yaxis()
    figure.savefig(root / "build/examples/judge_a_bridge.png", dpi=100)


if __name__ == "__main__":
    main()
