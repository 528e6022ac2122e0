"""Probes: what is found, what is asked of them, and what is said of a tensor."""

import math
import re
import sys

import pytest
from typer.testing import CliRunner

from tapecheck.cli import app
from tapecheck.contract import REGISTRY
from tapecheck.contracts.probing import refusal, replaced, verdict
from tapecheck.subjects import FAULTY, KNOWN, checks_of, find, label
from tapecheck.subjects.probe import BridgeSubject, Probe

torch = pytest.importorskip("torch")


def scaled(field, factor=2.0):
    return field * factor


def of_size(size, dtype):
    return (torch.arange(1, size + 1, dtype=dtype), 3.0)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of somebody else, in the folder from which the command is given."""
    (tmp_path / "somebodys.py").write_text("""
from tapecheck.subjects.probe import BridgeSubject, Probe
import torch
probe = Probe(call=torch.sin, inputs=(torch.ones(3),))
several = [probe, Probe(call=torch.cos, inputs=(torch.ones(3),))]
def made():
    return BridgeSubject((probe,), packages=("numpy",))
number = 3
def raises():
    return number / 0
def misnamed():
    return Probe(call=torch.nn.Identity(), inputs=(torch.ones(3),), finite=("x",))
""")
    (tmp_path / "unfinished.py").write_text("import torch\nprobe = (\n")
    (tmp_path / "broken.py").write_text("import helper\n")
    (tmp_path / "helper.py").write_text("import torch\ntorch.nn.Linear(2, -1)\n")
    (tmp_path / "leaves.py").write_text("raise SystemExit('a program')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield "somebodys"
    sys.modules.pop("somebodys", None)


@pytest.mark.parametrize(("attribute", "names"), [("probe", ["sin"]), ("several", ["sin", "cos"]), ("made", ["sin"])])
def test_what_somebody_gives_is_found(module, attribute, names):
    subject = find(f"{module}:{attribute}")
    assert isinstance(subject, BridgeSubject)
    assert [probe.name for probe in subject.probes] == names


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("minature", "neither known nor module:attribute; did you mean miniature"),
        ("absent_module:probe", "No module named 'absent_module'"),
        ("somebodys:prob", "has no attribute 'prob'"),
        ("somebodys:number", "neither a subject nor probes, but int"),
        ("somebodys:raises", r"somebodys.py, line 10: ZeroDivisionError: division by zero"),
        (
            "somebodys:misnamed",
            r"somebodys.py, line 12: ValueError: .*: expected names of argument 0, got 'x'",
        ),
        ("unfinished:probe", r"SyntaxError: .* \(unfinished.py, line 2\)"),
        ("broken:probe", r"helper.py, line 2: RuntimeError: "),
        ("leaves:probe", r"leaves.py, line 1: SystemExit: a program"),
    ],
)
def test_what_cannot_be_found_is_said(module, entry, problem):
    with pytest.raises(LookupError, match=f"{entry}: .*{problem}" if ":" in entry else problem):
        find(entry)


def test_a_module_that_raises_is_a_usage_error(module):
    result = CliRunner().invoke(app, ["judge", "broken:probe"])
    assert result.exit_code == 2
    assert result.stdout.startswith("error: broken:probe: ")
    assert "helper.py, line 2: RuntimeError" in " ".join(result.stdout.split())


def test_every_kind_of_contract_with_checks_has_a_subject_for_its_faults():
    assert {check.contract.judged for check in REGISTRY.values()} <= FAULTY.keys()
    assert set(FAULTY.values()) <= KNOWN.keys()


def test_a_subject_is_judged_by_its_own_kind_alone():
    assert {check.contract.judged for check in checks_of(find("warp"))} == {"warp"}
    assert {check.contract.judged for check in checks_of(find("miniature"))} == {"bridge"}


def test_the_name_in_results():
    assert label("package.module:probe") == "package.module.probe"


def test_probes_need_names_of_their_own():
    probe = Probe(call=scaled, inputs=of_size)
    with pytest.raises(ValueError, match="names of their own"):
        BridgeSubject((probe, probe))


def test_fresh_inputs():
    probe = Probe(call=scaled, inputs=of_size)
    field, factor = probe.example(4, torch.float32)
    assert field.tolist() == [1, 2, 3, 4] and field.dtype == torch.float32 and field.requires_grad
    assert factor == 3.0
    assert probe.names == ["field", "factor"]
    given = torch.ones(3)
    fixed = Probe(call=scaled, inputs=(given,)).example()
    assert fixed[0] is not given and not given.requires_grad


def test_differentiable_inputs_by_name_and_by_position():
    def call(a, b, c):
        return a + b + c

    inputs = tuple(torch.ones(2) for _ in range(3))
    assert Probe(call=call, inputs=inputs).positions == [0, 1, 2]
    assert Probe(call=call, inputs=inputs, differentiable=["c", 0]).positions == [2, 0]


@pytest.mark.parametrize("reference", [lambda x: x * 2, torch.nn.Identity(), torch.clone], ids=["named", "object", "c"])
def test_a_reference_may_name_its_arguments_otherwise(reference):
    def call(field):
        return reference(field)

    observed = REGISTRY["bridge.gradcheck[reference]"](
        BridgeSubject((Probe(call=call, inputs=lambda size, dtype: of_size(size, dtype)[:1], reference=reference),))
    )
    assert observed.violations() == []


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"differentiable": ["feild"]}, "differentiable: expected names or positions of field, factor, got 'feild'"),
        ({"differentiable": [2]}, "differentiable: expected names or positions of field, factor, got 2"),
        ({"finite": ("charge",)}, "finite: expected names of field, factor, got 'charge'"),
        ({"values": ("charge",)}, "values: expected names of field, factor, got 'charge'"),
        (
            {"call": lambda *a: a[0], "finite": ("field",)},
            "finite: expected names of argument 0, argument 1, got 'field'",
        ),
    ],
)
def test_an_argument_that_is_none_is_refused(given, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        Probe(**{"call": scaled, "inputs": of_size, **given})


class Wave(torch.autograd.Function):
    pass


@pytest.mark.parametrize(
    ("call", "name"), [(scaled, "scaled"), (Wave.apply, "Wave"), (torch.sin, "sin"), (torch.nn.Identity(), "Identity")]
)
def test_a_probe_is_called_as_its_operation_is(call, name):
    assert Probe(call=call, inputs=of_size).name == name


def test_what_is_missing_is_named():
    bridge = BridgeSubject((Probe(call=scaled, inputs=(torch.ones(3),)),))
    assert bridge.missing(["differentiable input", "forward mode"]) is None
    for need in ("reference", "inputs of other sizes", "double-precision inputs", "second output", "cache switch"):
        assert bridge.missing(["differentiable input", need]) == need


def test_a_probe_that_lacks_something_is_left_out():
    one = Probe(call=scaled, inputs=(torch.ones(3),))
    other = Probe(call=scaled, inputs=(torch.ones(3),), reference=scaled, name="other")
    bridge = BridgeSubject((one, other))
    assert bridge.missing(["reference"]) is None
    assert bridge.offering(["reference"]) == [other]


@pytest.mark.parametrize(
    ("observed", "due", "text"),
    [
        ([1.0, 2.0], [1.0, 2.0], "right to 0e+00"),
        ([1.0, 2.0 + 1e-12], [1.0, 2.0], "right to 5e-13"),
        ([1.0, 2.0 + 1e-7], [1.0, 2.0], "off by 5e-08 of the largest value"),
        ([0.0, 0.0], [1.0, 2.0], "all zero, where up to 2 is due"),
        ([2.0, 4.0], [1.0, 2.0], "2 times what is due"),
        ([1.0, 3.0], [1.0, 2.0], "3 at [1], where 2 is due"),
        ([1.0, math.nan], [1.0, 2.0], "not finite"),
        ([1.0], [1.0, 2.0], "of shape (1,), where (2,) is due"),
        ([1e-12], [0.0], "right to 1e-12"),
        ([1.0], [0.0], "1 at [0], where 0 is due"),
        ([], [], "right"),
        (None, [1.0], "missing"),
        ([1.0], None, "there, where none is due"),
        (None, None, "right"),
    ],
)
def test_what_is_said_of_a_tensor(observed, due, text):
    probe = Probe(call=scaled, inputs=of_size)
    tensors = (None if values is None else torch.tensor(values, dtype=torch.float64) for values in (observed, due))
    assert verdict(*tensors, probe) == text


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (NotImplementedError("no second derivatives"), "refused: NotImplementedError: no second derivatives"),
        (RuntimeError("INTERNAL ASSERT FAILED at"), "not clear: RuntimeError"),
        (AttributeError("'NoneType' has no attribute"), "not clear: AttributeError"),
    ],
)
def test_a_refusal_is_clear_or_not(problem, text):
    def action():
        raise problem

    assert refusal(action).startswith(text)


def test_what_is_replaced_comes_back():
    before = torch.Tensor.item
    assert "item" not in vars(torch.Tensor)
    with replaced(torch.Tensor, {"item": lambda tensor: 7}):
        assert torch.ones(()).item() == 7
    assert torch.Tensor.item is before and "item" not in vars(torch.Tensor)


def test_readbacks_are_counted_by_module():
    from tapecheck.contracts.sync.census import readbacks

    tensor = torch.ones(3)
    with readbacks() as found:
        assert tensor.sum().item() == 3.0
        assert float(tensor[0]) == 1.0 and bool(tensor.any())
        tensor.cpu()
    assert found == {f"{__name__}: {name}": 1 for name in ("item", "float", "bool", "cpu")}
