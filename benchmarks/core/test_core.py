"""The core timed by pytest-benchmark, for the history: `pytest benchmarks/core/test_core.py`."""

import pytest
from workloads import LARGE, WORKLOADS

from tapecheck.running import prepare
from tapecheck.workloads import Workload


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
def test_core(benchmark, workload: Workload) -> None:
    prepare()
    operation = workload.make("cpu")
    for _ in range(3):
        operation()
    benchmark.pedantic(operation, rounds=15, iterations=1 if workload.name.endswith(f"-{LARGE}") else 20)
