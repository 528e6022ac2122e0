"""Stores of whole tiles."""

from typing import Any

from tapecheck.contract import Evidence, check, outcome_of
from tapecheck.contracts.retain_grad import tile_kernels as kernels
from tapecheck.contracts.retain_grad.arrays import SEED, leaves, output, times
from tapecheck.faults.retain_grad import tiles as faults
from tapecheck.subjects.warp import WarpSubject


@check(
    "retain.tile-accumulator",
    faults=[faults.accumulator_keeps_its_seed],
    near_misses=[faults.replays_a_copied_list],
)
def tile_accumulator(wp: WarpSubject) -> Evidence:
    # Small binary fractions: every product and sum is exact in half precision, except the factor 1.3.
    a, b, c, seed = (
        [[scale * (columns * row + column) for column in range(columns)] for row in range(rows)]
        for rows, columns, scale in ((4, 2, 0.125), (2, 3, 0.25), (4, 3, 0.5), (4, 3, 0.125))
    )
    a_wp = wp.array(a, dtype=wp.float16, requires_grad=True)
    b_wp = wp.array(b, dtype=wp.float32, requires_grad=True)
    c_wp = wp.array(c, dtype=wp.float64, requires_grad=True)
    options = {"inputs": [a_wp, b_wp, c_wp], "block_dim": kernels.BLOCK_DIM}
    with wp.Tape() as tape:
        launched = outcome_of(lambda: wp.launch_tiled(kernels.matmul_in_place, dim=[1], **options))
    if launched != "no error":
        return Evidence(observed={"launch": launched.rpartition(";")[2]}, expected={"launch": "no error"})
    tape.backward(grads={c_wp: wp.array(seed, dtype=wp.float64)})
    rows, inner, columns = range(kernels.ROWS), range(kernels.INNER), range(kernels.COLUMNS)
    return Evidence(
        observed={"c": c_wp, "a.grad": a_wp.grad, "b.grad": b_wp.grad, "c.grad": c_wp.grad},
        expected={
            "c": [[0.5 * sum(a[i][k] * b[k][j] for k in inner) - 1.3 * c[i][j] for j in columns] for i in rows],
            "a.grad": [[0.5 * sum(seed[i][j] * b[k][j] for j in columns) for k in inner] for i in rows],
            "b.grad": [[0.5 * sum(a[i][k] * seed[i][j] for i in rows) for j in columns] for k in inner],
            "c.grad": [[-1.3 * seed[i][j] for j in columns] for i in rows],
        },
        tolerance=1e-6,
    )


@check(
    "retain.tile-store",
    cases={"default": {}, "retain_grad": {"retain_grad": True}},
    needs=lambda options: ("zeros(retain_grad)",) if options else (),
    faults=[faults.seed_is_put_back],
    near_misses=[faults.replays_a_copied_list],
)
def tile_store(wp: WarpSubject, options: dict[str, Any]) -> Evidence:
    (x,), y = leaves(wp, 1), output(wp, **options)
    with wp.Tape() as tape:
        wp.launch_tiled(kernels.double, dim=[1], inputs=[x], outputs=[y], block_dim=kernels.BLOCK_DIM)
    tape.backward(grads={y: wp.array(SEED, dtype=float)})
    return Evidence(
        observed={"x.grad": x.grad, "y.grad": y.grad},
        expected={"x.grad": times(2.0), "y.grad": [0.0] * 4},
    )


@check(
    "retain.tile-store",
    case="explicit-adjoint",
    faults=[faults.explicit_adjoints_work_on_a_copy],
    near_misses=[faults.explicit_dimension_as_tuple],
)
def tile_store_explicit_adjoint(wp: WarpSubject) -> Evidence:
    (x,), y = leaves(wp, 1), output(wp)
    seed, gradient = wp.array(SEED, dtype=float), wp.zeros(4, dtype=float)
    options = {"inputs": [x], "outputs": [y], "adj_inputs": [gradient], "adj_outputs": [seed]}
    wp.launch_tiled(kernels.double, dim=[1], adjoint=True, block_dim=kernels.BLOCK_DIM, **options)
    return Evidence(
        observed={"gradient": gradient, "seed": seed},
        expected={"gradient": times(2.0), "seed": [0.0] * 4},
    )
