"""Processes of their own, and kernel caches that nobody else uses."""

import subprocess
import sys

import pytest

from tapecheck import running
from tapecheck.contract import REGISTRY
from tapecheck.running import how_it_ended, planted, subject_of


def test_two_processes_never_share_a_kernel_cache(tmp_path):
    script = f"""
from pathlib import Path
from tapecheck.running import _own_cache
print(_own_cache(Path({str(tmp_path)!r}), "gw0").name, flush=True)
input()
"""
    held = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert held.stdout.readline() == "gw0\n"
    assert running._own_cache(tmp_path, "gw0").name == "gw0-1"
    held.communicate("\n")
    again = subprocess.run([sys.executable, "-c", script], input="\n", capture_output=True, text=True, check=True)
    assert again.stdout == "gw0\n"


@pytest.mark.parametrize(
    ("status", "stderr", "words"),
    [
        (-11, "", "the process ended by SIGSEGV"),
        (3, "noise\nlast line\n", "the process ended with status 3: last line"),
    ],
)
def test_the_end_of_a_process_in_words(status, stderr, words):
    assert how_it_ended(status, stderr) == words


def test_what_can_be_planted_has_names():
    names = list(planted(REGISTRY["tape.records-launches[chain]"]))
    assert names[0] == "unbroken"
    assert {name.partition(":")[0] for name in names[1:]} == {"fault", "near-miss"}


def test_a_subject_offers_its_names_and_says_what_it_lacks():
    subject = subject_of(REGISTRY["struct.plain-args-eager"])
    assert subject.missing(["Tape.backward", "zeros(requires_grad)", "launch", ":torch"]) is None
    assert subject.missing(["Tape.rewind"]) == "Tape.rewind"
    assert subject.missing(["zeros(flavour)"]) == "zeros(flavour)"
    assert subject.missing([":no_such_package"]) == ":no_such_package"
    with pytest.raises(AttributeError, match="has no rewind to replace"):
        subject.replacing(rewind=None)


def test_a_replaced_name_stays_with_its_subject():
    subject = subject_of(REGISTRY["struct.plain-args-eager"])
    assert subject.replacing(zeros=len).zeros is len
    assert subject.zeros is not len
