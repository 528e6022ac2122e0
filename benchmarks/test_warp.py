"""Warp's operations timed by pytest-benchmark, on the installed Warp: `pytest benchmarks`.

The table of operations is `tapecheck.workloads`; `tapecheck bench` times the same ones on two releases by turns.
"""

import pytest

from tapecheck.running import prepare
from tapecheck.speed_worker import counts_of
from tapecheck.workloads import WORKLOADS, Workload


@pytest.fixture(scope="module")
def device(request: pytest.FixtureRequest) -> str:
    prepare()
    return request.config.getoption("--tapecheck-device")


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
def test_warp(benchmark, device: str, workload: Workload) -> None:
    if workload.needs:
        pytest.importorskip(workload.needs)
    import warp

    make_ready, make = workload.before, workload.make(device)

    def operation() -> None:
        make()
        if device != "cpu":
            warp.synchronize_device(device)

    if make_ready is None:
        operation()
        benchmark(operation)
    else:
        make_ready()
        operation()  # the first build of a process also sets the compiler up
        benchmark.pedantic(operation, setup=lambda: (make_ready(), None)[1], rounds=3 if workload.slow else 50)
    benchmark.extra_info.update({"warp": warp.__version__, "device": device, "counts": counts_of(workload, make)})
