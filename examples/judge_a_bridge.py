"""A bridge written as Warp's documentation teaches it, and the ten lines that have it judged.

`tapecheck judge examples.judge_a_bridge:probe` names what it gets wrong.
"""

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
