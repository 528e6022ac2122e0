"""The judge of bridges judged: subjects that are right, or wrong in one known way, and the verdicts that they get."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import warp

from tapecheck.judge import judge
from tapecheck.subjects import checks_of, find
from tapecheck.subjects.probe import BridgeSubject, Probe

torch = pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
SLOW = ("bridge.compile", "bridge.flat-memory")
ARGUMENTS = {f"bridge.errors[{case}]" for case in ("length", "axes", "dtype", "no-tensor")}
VALUES = {"bridge.forward-matches", "bridge.gradcheck[reference]"}


@pytest.fixture(scope="session", autouse=True)
def warp_is_ready():
    warp.init()


def judged(subject, *names):
    """The judgements of a subject in this process, by the name of the check; slow ones only where they are named."""
    with warp.ScopedDevice("cpu"):
        return {
            check.name: judge(check, subject)
            for check in checks_of(subject)
            if (check.name in names if names else not check.isolated and check.contract.id not in SLOW)
        }


def of(call):
    """A subject that claims to be the product of two fields."""
    from tapecheck.subjects import plain

    return BridgeSubject((Probe(call=call, inputs=plain.fields, reference=plain.product),))


def always_zero(field, weight):
    both = 0.0 * (field + weight)
    return both, both.sum(-1)


def always_nan(field, weight):
    both = float("nan") * (field + weight)
    return both, both.sum(-1)


def refuses_everything(field, weight):
    raise RuntimeError("not today")


def right_in_the_value_alone(field, weight):
    from tapecheck.subjects import plain

    waves, squares = plain.product(field.detach(), weight.detach())
    zero, zeros = always_zero(field, weight)
    return waves + zero, squares + zeros


def right_on_the_smoke_test_alone(field, weight):
    from tapecheck.subjects import plain

    return plain.product(field, weight) if len(field) == 6 else always_zero(field, weight)


class Order:
    """An argument that is no tensor and holds one."""

    def __init__(self, places):
        self.places = places


class Unsaved(torch.autograd.Function):
    """Reads the order's tensor again in backward, out of torch's sight."""

    @staticmethod
    def forward(ctx, field, order):
        ctx.order = order
        return field[order.places].clone()

    @staticmethod
    def backward(ctx, seed):
        return torch.zeros_like(seed).index_add(0, ctx.order.places, seed), None


@pytest.mark.parametrize(
    ("call", "outcome"), [(lambda field, order: field[order.places], "pass"), (Unsaved.apply, "fail")]
)
def test_tensors_that_an_argument_holds_are_changed_too(call, outcome):
    def ordered(field, order):
        return call(field, order)

    given = Order(torch.tensor([2, 0, 1]))
    probe = Probe(call=ordered, inputs=(torch.rand(3, dtype=torch.float64), given))
    found = judged(BridgeSubject((probe,)), "bridge.saved-mutation")["bridge.saved-mutation"]
    assert found.outcome == outcome
    assert list(found.observed["ordered"]) == ["field", "order.places"]
    assert given.places.tolist() == [2, 0, 1]


REFUSAL = "jvp.unregistered-raises"


def failing(judgements):
    return {name for name, judgement in judgements.items() if judgement.outcome == "fail"}


def test_plain_torch_keeps_every_contract():
    judgements = judged(find("plain-torch"))
    assert {name: j.message for name, j in judgements.items() if j.outcome not in ("pass", "unsupported")} == {}
    transforms = [j.observed for name, j in judgements.items() if "transforms" in name or "gradgrad" in name]
    assert len(transforms) == 8
    assert "refused" not in str(transforms)


def with_a_count(field, weight):
    return (field * weight).sin(), (field.detach() > 0.5).to(field)


def each_its_own(field, weight):
    return field.sin(), weight.square()


@pytest.mark.parametrize("call", [with_a_count, each_its_own])
def test_outputs_need_not_all_have_a_gradient_with_respect_to_everything(call):
    from tapecheck.subjects import plain

    found = failing(judged(BridgeSubject((Probe(call=call, inputs=plain.fields, reference=call),))))
    assert found <= ARGUMENTS


def test_a_gradient_that_one_of_two_outputs_lost_is_noticed():
    from tapecheck.subjects import plain

    def half(field, weight):
        waves, squares = plain.product(field, weight)
        return waves, squares.detach()

    assert "bridge.gradcheck[reference]" in failing(judged(of(half)))


def test_the_miniature_keeps_every_contract():
    assert {name: j.message for name, j in judged(find("miniature")).items() if j.outcome != "pass"} == {}


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        (always_zero, VALUES | ARGUMENTS),
        (
            right_in_the_value_alone,
            ARGUMENTS
            | {f"bridge.gradcheck[{case}]" for case in ("differences", "reference")}
            | {f"bridge.size-one[{case}]" for case in ("one", "many")}
            | {f"jvp.{name}" for name in ("geometry", "mixed-modes", "multi-output")},
        ),
        (right_on_the_smoke_test_alone, VALUES | ARGUMENTS),
    ],
)
def test_the_verdicts_on_a_bridge_that_is_wrong_in_one_way(call, wrong):
    assert failing(judged(of(call))) == wrong


def test_nan_is_right_nowhere_that_a_number_counts():
    judgements = judged(of(always_nan))
    held = {name for name, judgement in judgements.items() if judgement.outcome == "pass"}
    assert {name.partition("[")[0] for name in held} == {
        "bridge.seed-not-clobbered",
        "bridge.no-cycle",
        "bridge.torch-output",
        "bridge.no-tape-without-grad",
        "jvp.output-shape",
        *(f"sync.{name}" for name in ("forward", "backward", "jvp-one", "inert-check", "census")),
    }
    assert not any(judgement.outcome == "error" for judgement in judgements.values())


def test_refusing_everything_passes_nothing_but_the_contract_to_refuse():
    judgements = judged(of(refuses_everything))
    assert {judgement.outcome for judgement in judgements.values()} == {"fail", "unsupported", "pass"}
    assert [name for name, judgement in judgements.items() if judgement.outcome == "pass"] == [
        "jvp.unregistered-raises"
    ]
    assert "RuntimeError: not today" in judgements["bridge.reentrant"].message
    lacks = {name for name, judgement in judgements.items() if judgement.outcome == "unsupported"}
    assert "bridge.forward-matches" not in lacks


@pytest.fixture(scope="module")
def documented():
    """What is said of the bridge that Warp's documentation teaches."""
    sys.path.insert(0, str(ROOT))
    return judged(find("examples.judge_a_bridge:probe"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bridge.aliased-once", "2 times what is due"),
        ("bridge.retain-graph", "backward 2.x: expected right, observed"),
        ("bridge.gradgradcheck", "second derivatives"),
        ("bridge.seed-noncontiguous[expanded]", "expected strides"),
        ("bridge.foreign-tape[same-thread]", "recorded: expected 0, observed 1"),
        ("bridge.torch-output", "memory: expected torch's, observed of somebody else"),
        ("bridge.tape-cleared", "a `.grad` has appeared"),
        ("bridge.errors[no-tensor]", "'str' object has no attribute"),
    ],
)
def test_what_the_documented_bridge_gets_wrong_is_named(documented, name, message):
    assert documented[name].outcome == "fail"
    assert message in documented[name].message


def test_what_the_documented_bridge_gets_right(documented):
    for name in (*VALUES, "bridge.deferred-backward[first-call-first]", "bridge.no-cycle[backward]", "sync.forward"):
        assert documented[name].outcome == "pass", documented[name].message


def test_the_command(tmp_path):
    """One run as a user makes it: the table, what is wrong with evidence and hint, the file, the status."""
    command = [sys.executable, "-m", "tapecheck.cli", "judge", "examples.judge_a_bridge:probe", "bridge.aliased-once"]
    done = subprocess.run(
        [*command, "bridge.forward-matches", "-o", str(tmp_path), "--store", str(tmp_path / "store"), "--workers", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "300"},
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stderr == "" and done.stdout.startswith("─")
    assert "fail bridge.aliased-once" in done.stdout
    assert "observed 2 times what is due" in done.stdout
    assert "instead: Read each distinct array's gradient once" in done.stdout
    assert "│ bridge.aliased-once" in done.stdout and "2 contracts: 1 fail, 1 pass" in done.stdout
    (result,) = (tmp_path / "partial").glob("examples.judge_a_bridge.probe-*-cpu.jsonl")
    assert str(result) in done.stdout
