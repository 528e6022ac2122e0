"""The vocabulary and the errors."""

import subprocess
import sys

import pytest

import sphweft
from sphweft import InputError, InteractionDirection, ParticleKind, SphweftError


def test_every_public_name_is_there():
    assert all(hasattr(sphweft, name) for name in sphweft.__all__)
    assert sorted(sphweft.__all__) == sphweft.__all__


def test_the_values_that_kernels_and_files_know():
    assert [int(kind) for kind in ParticleKind] == [0, 1, 2, 3]
    assert InteractionDirection.ALL_TO_ALL == 9
    assert [int(direction) for direction in InteractionDirection] == list(range(15))


def test_an_error_names_the_argument_what_was_expected_and_what_came():
    error = InputError("supports", "shape (4,)", "shape (3,)", "give one support radius a particle")
    assert str(error) == "supports: expected shape (4,), got shape (3,); give one support radius a particle"
    assert isinstance(error, SphweftError)
    with pytest.raises(ValueError, match="supports"):
        raise error


def test_the_core_does_not_know_the_judge():
    script = "import sphweft, sys; assert 'tapecheck' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
