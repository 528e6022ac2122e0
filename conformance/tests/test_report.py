"""What the reports say beside the outcomes: reasons and where they stand, safe forms, signs, the last sentence."""

from pathlib import Path

import pytest
from rich.console import Console

from tapecheck.contract import REGISTRY, catalogue
from tapecheck.expectations import Expectations, default_path, of
from tapecheck.matrix import Matrix
from tapecheck.report import MARKS, file_name, table, terminal, write_matrix
from tapecheck.report.page import page

HERE = "tapecheck/expectations/warp.toml"
REASON = "Before 1.13 the adjoint of a store adds the output's gradient"


@pytest.fixture
def settled(make_record, make_cell):
    """A matrix of one cell whose records were held against the file of this package."""

    def make(*contracts, warp="1.12.1", **changes):
        records = [of("warp").settle(make_record(name, warp=warp, **changes)) for name in contracts]
        return Matrix([make_cell(*records, warp=warp)], [])

    return make


@pytest.fixture
def known_failure(settled):
    message = (
        "x_a.grad: expected [0, 0, 0, 0], observed [2, 2, 2, 2]; y.grad: expected [0, 0, 0, 0], observed [1, 1, 1, 1]"
    )
    return settled("retain.last-write-wins", outcome="fail", message=message)


def test_a_known_outcome_has_its_reason_and_the_file_beside_it(known_failure, tmp_path):
    write_matrix(known_failure, tmp_path)
    markdown, html = ((tmp_path / name).read_text() for name in ("matrix.md", "matrix.html"))
    assert f"By `{HERE}`:" in markdown
    assert f"| retain.last-write-wins | Warp <1.13 | fail | {REASON}" in markdown
    assert f'data-reason="{REASON.replace(chr(39), "&#39;")}' in html
    assert f'data-stated="{HERE}: retain.last-write-wins when &lt;1.13"' in html
    assert str(default_path().parent) not in markdown + html


def test_a_pinned_value_has_its_reason_too(settled, tmp_path):
    (pin,) = [entry for entry in of("warp").pin if entry.contract == "tape.no-seed"]
    write_matrix(settled("tape.no-seed", observed=pin.value), tmp_path)
    line = f"| tape.no-seed | Every release | {pin.shown} | {pin.reason} |"
    assert line in (tmp_path / "matrix.md").read_text()


def test_the_reason_is_that_of_the_file_given(known_failure, tmp_path, monkeypatch):
    text = """[[deviation]]
contract = "retain.last-write-wins"
outcome = "fail"
message = "observed [2"
device = "cpu"
reason = "Ours."
"""
    monkeypatch.chdir(tmp_path)
    Path("ours.toml").write_text(text)
    write_matrix(known_failure, tmp_path, Path("ours.toml").resolve())
    markdown = (tmp_path / "matrix.md").read_text()
    assert "By `ours.toml`:" in markdown
    assert "| retain.last-write-wins | Every release, cpu | fail | Ours. |" in markdown


def test_an_outcome_that_nobody_foresaw_has_no_reason(settled):
    assert table(settled("retain.last-write-wins", outcome="fail", message="?")).known == {}


def test_a_file_elsewhere_is_named_without_its_folder(tmp_path):
    assert file_name(tmp_path / "other.toml") == "other.toml"


@pytest.mark.parametrize(
    ("changes", "complaints", "sentence"),
    [
        ({}, [], "Every outcome is as expected."),
        ({}, ["partial: …"], ""),
        ({"outcome": "not-run"}, [], "Nothing was judged."),
        ({"subject": "a.bridge"}, [], "Nobody said what to expect of a.bridge; every other outcome is as expected."),
    ],
)
def test_the_last_sentence(make_record, make_cell, settled, changes, complaints, sentence):
    merged = settled("tape.scopes", warp="1.19.0")
    if changes:
        merged = Matrix([make_cell(make_record(**changes))], [])
    merged.complaints = complaints
    console = Console(width=200, record=True)
    terminal.print_matrix(console, table(merged))
    assert table(merged).good == sentence
    assert sentence in console.export_text()


def test_each_outcome_has_a_sign_of_its_own(make_record, make_cell, tmp_path):
    assert len(set(MARKS.values())) == len(MARKS)
    records = [make_record("retain.last-write-wins"), make_record("capture.replay", outcome="untested")]
    write_matrix(Matrix([make_cell(*records)], []), tmp_path)
    assert "✓ pass 1, ? untested 1. **Bold**" in (tmp_path / "matrix.md").read_text()


@pytest.mark.parametrize(
    ("contract", "sentence"),
    [
        ("codegen.where-guard", "Its case `if` is the safe form: there a pass means that the safe form works."),
        ("codegen.inplace-multiply", "Its cases `multiply-a-local`, `divide-a-local` are the safe form:"),
    ],
)
def test_a_page_says_what_a_pass_of_a_safe_form_means(contract, sentence):
    assert sentence in page(catalogue()[contract], [], Expectations())


def test_a_page_without_safe_form_says_nothing_of_it():
    assert "safe form" not in page(catalogue()["tape.no-seed"], [], Expectations())


def test_a_cell_of_a_safe_form_says_so(make_record, make_cell):
    check = next(check for check in REGISTRY.values() if check.safe)
    laid_out = table(Matrix([make_cell(make_record(check.contract.id, case=check.case))], []))
    (row,) = laid_out.families[check.contract.family]
    assert row.kind == "safe form of a hazard: a pass means that it works"


def test_a_page_names_the_file_of_each_subject():
    text = page(catalogue()["bridge.aliased-cache-off"], [], Expectations())
    assert "By `tapecheck/expectations/plain-torch.toml`:" in text
    assert "tapecheck run --subject plain-torch --warp" in text
    assert "nox -s conformance" not in text


def test_a_check_may_be_given_a_class(settled):
    text = page(catalogue()["codegen.remainder"], [], of("warp"))
    assert "## The kernels" in text


@pytest.fixture
def printed(make_record, make_cell):
    """What `judge` prints of records, each given as its contract, case and changes."""

    def make(*records):
        console = Console(width=200, record=True)
        made = [make_record(contract, case=case, **changes) for contract, case, changes in records]
        terminal.print_cell(console, make_cell(*made))
        return [line.strip("│ ") for line in console.export_text().splitlines()]

    return make


def test_a_judged_cell_is_a_line_a_contract_the_worst_first(printed):
    raised = {"outcome": "fail", "message": "wave.backward: expected no error, observed ValueError: strides"}
    lines = printed(
        ("bridge.forward-matches", "", {}),
        ("bridge.seed-noncontiguous", "expanded", raised),
        ("bridge.seed-noncontiguous", "offset", {}),
        ("bridge.seed-noncontiguous", "strided", raised),
        ("bridge.shared-seed", "", {"outcome": "fail", "message": "wave.x: expected right, observed all zero"}),
        ("bridge.partial-inputs", "inputs", {}),
        ("bridge.partial-inputs", "outputs", {"outcome": "unsupported", "message": "this bridge has no second output"}),
        ("bridge.threads", "", {"outcome": "crash", "message": "the process ended by SIGSEGV"}),
        ("bridge.aliased-once", "", {"outcome": "unsupported", "message": "this bridge has no other input"}),
        ("jvp.value", "", {"outcome": "unsupported", "message": "this bridge has no other input"}),
        ("capture.replay", "", {"outcome": "untested"}),
    )
    table = [" ".join(line.replace("│", " ").split()) for line in lines]
    assert table[4:12] == [
        "bridge.threads crash",
        "bridge.shared-seed fail",
        "bridge.seed-noncontiguous fail (2 of 3 cases)",
        "bridge.forward-matches pass",
        "bridge.partial-inputs pass (1 of 2 cases)",
        "bridge.aliased-once unsupported",
        "jvp.value unsupported",
        table[11],
    ]
    at = lines.index("fail bridge.seed-noncontiguous (2 of 3 cases)")
    assert lines[at + 2] == f"expanded, strided: {raised['message']}"
    assert "unsupported: this bridge has no second output: bridge.partial-inputs[outputs]" in lines
    assert "unsupported: this bridge has no other input: bridge.aliased-once, jvp.value" in lines
    assert lines[-1] == "8 contracts: 1 crash, 2 fail, 2 pass, 2 unsupported, 1 untested"


def test_a_pass_by_refusal_is_told_apart(printed):
    refused = {"observed": {"wave": {"second derivatives": "refused: RuntimeError: no second derivatives"}}}
    lines = printed(
        ("bridge.gradgradcheck", "", refused),
        ("bridge.transforms", "grad", {"observed": {"wave": {"result": "right to 1e-16"}}}),
        ("bridge.transforms", "vmap", refused),
    )
    table = [" ".join(line.replace("│", " ").split()) for line in lines]
    assert table[4:6] == ["bridge.gradgradcheck pass (refuses)", "bridge.transforms pass (refuses in 1 of 2 cases)"]
    names = "bridge.gradgradcheck, bridge.transforms[vmap]"
    assert f"refuses: RuntimeError: no second derivatives: {names}" in lines
    assert lines[-1] == "2 contracts: 2 pass (2 by refusing)"
