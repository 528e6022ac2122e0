"""The 36 places, and the positional way into the engine."""

import pytest
import torch

import sphweft
from sphweft.bridge import STATE_PLACES, SPHContext, launch_operator, launch_positional
from sphweft.bridge.layout import INDEX, LAYOUT, extract_state
from sphweft.cache.null_fields import NullField
from sphweft.operators.gradient import GRADIENT

DOCUMENTED = """
qPos rPos qSup rSup qMas rMas qDen rDen qK rK renormMat qOmega rOmega qVol rVol
qcrk_A qcrk_B qcrk_gradA qcrk_gradB rcrk_A rcrk_B rcrk_gradA rcrk_gradB
adj_neighborList adj_neighborOffsets adj_numNeighbors
grid_sortIndex grid_qMin grid_qMax grid_numCells grid_hashTable grid_cellTable grid_cellOffsets
domainMin domainMax periodicity
"""


@pytest.fixture
def context(case):
    positions, supports, masses, densities, _ = case.tensors
    state = sphweft.ParticleState(positions, supports, masses, case.kinds, densities)
    return SPHContext(state, sphweft.OperationProperties(), adjacency=case.adjacency)


def test_the_documented_order():
    assert [slot.documented for slot in LAYOUT] == DOCUMENTED.split()
    assert len(LAYOUT) == 36


def test_a_missing_reference_is_the_query_itself(context):
    flat = extract_state(context)
    for name in ("positions", "supports", "masses", "densities", "kinds"):
        assert flat[INDEX[f"reference_{name}"]] is flat[INDEX[f"query_{name}"]] is getattr(context.query, name)


def test_what_is_absent_is_one_shared_placeholder(context):
    first, second = extract_state(context), extract_state(context)
    for name in ("query_omega", "renormalization", "grid_hash_table", "periodicity"):
        placeholder = first[INDEX[name]]
        assert isinstance(placeholder, NullField)
        assert placeholder is second[INDEX[name]]
        assert not placeholder.array.requires_grad


def test_both_ways_in_give_the_same_bits(case, context):
    values = case.tensors[4]
    state = [getattr(context, name, None) for name in STATE_PLACES]
    positional = launch_positional(GRADIENT, state, (values, values))
    assert torch.equal(positional, launch_operator(GRADIENT, context, values=values, query_values=values))
    with pytest.raises(sphweft.InputError, match="state: expected 10 places"):
        launch_positional(GRADIENT, state[:-1], (values, values))
