"""What a tape records: launches inside its scope, in order."""

from tapecheck.contract import Evidence, check
from tapecheck.contracts.tape import kernels
from tapecheck.faults.tape import recording as faults
from tapecheck.subjects.warp import WarpSubject


@check(
    "tape.records-launches",
    faults=[faults.replays_in_recorded_order],
    near_misses=[faults.backward_through_a_copied_list],
)
def records_launches(wp: WarpSubject) -> Evidence:
    x, a, b, y = (wp.full(3, value, dtype=float, requires_grad=True) for value in (3.0, 0.0, 0.0, 0.0))
    with wp.Tape() as tape:
        wp.launch(kernels.scale, dim=3, inputs=[x, 2.0], outputs=[a])
        wp.launch(kernels.square, dim=3, inputs=[a], outputs=[b])
        wp.launch(kernels.scale, dim=3, inputs=[b, 5.0], outputs=[y])
    tape.backward(grads={y: wp.ones(3, dtype=float)})
    return Evidence(observed={"y": y, "x.grad": x.grad}, expected={"y": [180.0] * 3, "x.grad": [120.0] * 3})
