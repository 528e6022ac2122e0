"""Overwritten arrays: only the last write of an element passes its gradient on."""

from tapecheck.contract import Evidence, check
from tapecheck.contracts.retain_grad import kernels
from tapecheck.faults.retain_grad import overwrites as faults
from tapecheck.subjects.warp import WarpSubject


@check(
    "retain.last-write-wins",
    faults=[faults.zeros_like_always_retains],
    near_misses=[faults.zeros_like_by_cloning],
)
def last_write_wins(wp: WarpSubject) -> Evidence:
    x_a, x_b = (wp.ones(4, dtype=float, requires_grad=True) for _ in "ab")
    y = wp.zeros_like(x_b)
    with wp.Tape() as tape:
        wp.launch(kernels.double, dim=4, inputs=[x_a, y])
        wp.launch(kernels.triple, dim=4, inputs=[x_b, y])
    y.grad = wp.ones_like(y)
    tape.backward()
    return Evidence(
        observed={"y": y, "x_a.grad": x_a.grad, "x_b.grad": x_b.grad, "y.grad": y.grad},
        expected={"y": [3.0] * 4, "x_a.grad": [0.0] * 4, "x_b.grad": [3.0] * 4, "y.grad": [0.0] * 4},
    )
