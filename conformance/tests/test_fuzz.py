"""The core beside the oracle on what hypothesis thinks of, and beside itself with faults planted in it.

nox -s fuzz           # 20,000 examples of each
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import fuzzing
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from tapecheck.faults.bridge import aliasing
from tapecheck.faults.cache import bundles, views
from tapecheck.faults.kinds import table
from tapecheck.faults.neighbors import pairs
from tapecheck.subjects.sph import SphSubject
from tapecheck.subjects.sphweft import subject

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "150"))
FUZZ = settings(
    max_examples=EXAMPLES,
    stateful_step_count=30,
    derandomize="FUZZ_EXAMPLES" not in os.environ,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],  # a failure is printed as it was found: shrinking it can take longer than finding it
)
Check = Callable[[Any, settings], None]


def drawn(check: Callable[[Any, Any], None]) -> Check:
    """The check on as many examples as the settings say."""

    def run(judged: Any, how: settings) -> None:
        @how
        @given(st.data())
        def each(data: Any) -> None:
            check(judged, data.draw)

        each()

    return run


def caches(judged: Any, how: settings) -> None:
    run_state_machine_as_test(lambda: fuzzing.Caches(judged.core), settings=how)


SEARCH = drawn(fuzzing.search_is_exact)
OPERATORS = drawn(fuzzing.operators_are_exact)
ROLES = drawn(fuzzing.roles_have_gradients_of_their_own)
CHECKS = {"search": SEARCH, "operators": OPERATORS, "roles": ROLES, "caches": caches}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_the_core_is_right(check: Check) -> None:
    check(subject(), FUZZ)


FAULTS = [
    (SEARCH, pairs.last_pair_missing),
    (SEARCH, pairs.first_pair_twice),
    (SEARCH, pairs.all_pairs_listed),
    (SEARCH, pairs.positions_clamped_into_the_box),
    (SEARCH, pairs.positions_wrapped_once),
    (SEARCH, pairs.cells_of_32_bits),
    (SEARCH, pairs.rows_reversed),
    (SEARCH, pairs.pairs_by_reference),
    (SEARCH, pairs.largest_support_of_nobody),
    (SEARCH, pairs.never_rebuilt),
    (SEARCH, pairs.positions_not_copied),
    (OPERATORS, pairs.nobody_near_the_last_query_without_a_list),
    (OPERATORS, table.next_entry_of_the_table),
    (OPERATORS, table.last_kind_left_out),
    (OPERATORS, table.masked_queries_receive),
    (OPERATORS, table.mask_in_the_value_alone),
    (ROLES, aliasing.total_at_both_roles),
    (ROLES, aliasing.arrays_keyed_to_storage),
    (ROLES, aliasing.second_role_dropped_without_cache),
    (caches, views.tensors_found_by_address),
    (caches, views.first_values_kept),
    (caches, views.first_flag_kept),
    (caches, views.contiguous_copies_kept),
    (caches, views.gradients_of_earlier_calls_stay),
    (caches, bundles.masses_of_the_first_call_stay),
]
"""Planted faults of search, direction, dedup and caches that make a result wrong."""


@pytest.mark.parametrize(("check", "fault"), FAULTS, ids=[fault.__name__ for _, fault in FAULTS])
def test_planted_faults_are_found(check: Check, fault: Callable[[Any], Any]) -> None:
    core = subject()
    judged = SphSubject(core.operators) if check in (SEARCH, OPERATORS) else core
    with pytest.raises((AssertionError, RuntimeError)):  # a wrong result, or torch's error where there is nobody
        check(fault(judged), settings(FUZZ, max_examples=150, derandomize=True))
