"""Result files and their merging."""

import re

import msgspec
import pytest

from tapecheck.contract import REGISTRY
from tapecheck.expectations import Expectations, of
from tapecheck.matrix import merge, plan, results_in
from tapecheck.report import table
from tapecheck.results import BadResult, cell_path, header, read, suite_version, write


def nothing_expected(subject):
    return Expectations()


@pytest.fixture
def written(tmp_path, make_record):
    """Writes a complete result file of one passing record."""

    def make(version="1.19.0", name=None, full=True, **changes):
        path = tmp_path / name if name else cell_path(tmp_path, "warp", version, "cpu")
        head = header(subject="warp", warp=version, device="cpu", full=full)
        write(path, head, [make_record(warp=version, **changes)], 1.0)
        return path

    return make


def test_a_file_reads_back(written, make_record):
    cell = read(written(observed={"x": [1.0, "nan"]}, expected=None))
    assert cell.records == [make_record(observed={"x": [1.0, "nan"]})]
    assert cell.footer and cell.footer.records == 1
    assert cell.name == "warp 1.19.0 cpu"


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda lines: [], "empty; the run did not start"),
        (lambda lines: lines[1:], "its first line is no header"),
        (lambda lines: [lines[0], b"{oops", *lines[1:]], ":2: "),
        (lambda lines: [lines[0], lines[2]], "the footer counts 1 records, the file holds 0"),
    ],
)
def test_a_damaged_file_is_named(written, damage, problem):
    path = written()
    path.write_bytes(b"".join(line + b"\n" for line in damage(path.read_bytes().splitlines())))
    with pytest.raises(BadResult, match=problem) as raised:
        read(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("kept", [0.4, 0.7, 0.95])
def test_a_truncated_file_is_incomplete(written, kept):
    path = written(message="x" * 400)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * kept)])
    with pytest.raises(BadResult, match="incomplete|no header"):
        merge([path], nothing_expected)


@pytest.mark.parametrize(("name", "entry"), [("sphweft", "sphweft"), ("bridges.good", "bridges:good")])
def test_what_is_incomplete_says_how_to_run_it_again(written, name, entry):
    path = written()
    first, *_ = path.read_text().splitlines(keepends=True)
    path.write_text(first.replace('"subject":"warp"', f'"subject":"{name}"'))
    with pytest.raises(BadResult, match=rf"incomplete: .* `tapecheck run --subject {entry} --warp"):
        merge([path], nothing_expected)


def test_another_catalogue_is_refused(written):
    path = written()
    text = path.read_text()
    path.write_text(text.replace(header(subject="warp", warp="", device="", full=True).catalogue, "000000000000"))
    with pytest.raises(BadResult, match="made with catalogue 000000000000, this is .*; run it again"):
        merge([path], nothing_expected)


def test_the_same_cell_twice_is_refused(written):
    with pytest.raises(BadResult, match=r"both hold the cell warp 1\.19\.0 cpu; keep one"):
        merge([written(), written(name="other.jsonl")], nothing_expected)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadResult, match="No such file"):
        read(tmp_path / "absent.jsonl")


def test_a_planned_cell_without_result_is_missing(written, tmp_path):
    merged = merge([written()], nothing_expected, plan(tmp_path, ["1.18.0", "1.19.0"]))
    assert merged.complaints[0] == "missing: warp-1.18.0-cpu was planned and has no result"


def test_a_full_result_without_one_of_its_records_is_not_whole(tmp_path, make_record):
    checks = [check for check in REGISTRY.values() if check.contract.judged == "warp"]
    records = [make_record(check.contract.id, case=check.case) for check in checks]
    path = tmp_path / "cell.jsonl"
    write(path, header(subject="warp", warp="1.19.0", device="cpu", full=True), records[1:], 1.0)
    lines = [line for line in merge([path], nothing_expected).complaints if line.startswith("missing")]
    assert lines == [f"missing: warp 1.19.0 cpu has no record of {checks[0].name}"]


def test_a_result_of_another_suite_is_stale(written):
    path = written(full=False)
    path.write_text(path.read_text().replace(suite_version("warp"), "0.0+000000000000"))
    merged = merge([path], nothing_expected)
    assert "stale: warp 1.19.0 cpu was judged by suite 0.0+000000000000" in merged.complaints[1]


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda text: text.replace('"warp":"1.19.0"', '"warp":"nonsense"', 1), "no header.*nonsense"),
        (lambda text: text.replace("retain.last-write-wins", "retain.nothing"), "unknown contract 'retain.nothing'"),
        (lambda text: text.replace('"device":"cpu"', '"device":"cuda"', 1), "a record of warp 1.19.0 cpu in a result"),
        (
            lambda text: re.sub(r'(?s)(\n\{"contract.*?\})(?=\n)(.*?)"records":1', r'\1\1\2"records":2', text),
            "two records of",
        ),
    ],
)
def test_a_result_that_contradicts_itself_is_refused(written, damage, problem):
    path = written()
    path.write_text(damage(path.read_text()))
    with pytest.raises(BadResult, match=problem):
        merge([path], nothing_expected)


def test_partial_and_unexpected_results_are_complaints(written):
    merged = merge([written(outcome="fail", message="expected 0, observed 2", full=False)], nothing_expected)
    assert merged.complaints == [
        "partial: warp 1.19.0 cpu judged a part of the contracts",
        "unexpected: retain.last-write-wins on Warp 1.19.0 cpu: fail: expected 0, observed 2"
        " (expected: pass, as no entry speaks of it)",
    ]


def test_cells_come_by_release_not_by_name(written):
    paths = [written(version) for version in ("1.9.1", "1.10.1", "1.19.0")]
    assert [cell.header.warp for cell in merge(sorted(paths), nothing_expected).cells] == ["1.9.1", "1.10.1", "1.19.0"]


@pytest.fixture
def two_subjects(tmp_path, make_record):
    """A folder with a result of Warp and one of a bridge, of contracts of their own."""
    records = {"warp": make_record(), "a:bridge": make_record("bridge.reentrant", subject="a.bridge", outcome="fail")}
    for subject, record in records.items():
        head = msgspec.structs.replace(
            header(subject="warp", warp="1.19.0", device="cpu", full=True), subject=record.subject
        )
        write(cell_path(tmp_path, subject, "1.19.0", "cpu"), head, [record], 1.0)
    return tmp_path


def test_several_subjects_share_a_matrix(two_subjects):
    paths = results_in(two_subjects)
    assert [path.name for path in paths] == ["a.bridge-1.19.0-cpu.jsonl", "warp-1.19.0-cpu.jsonl"]
    assert results_in(two_subjects, "warp") == paths[1:]
    merged = merge(paths, lambda subject: Expectations() if subject == "warp" else of(subject))
    assert all("has no record of" in complaint for complaint in merged.complaints)
    laid_out = table(merged)
    assert laid_out.columns == [("warp", "1.19.0", "cpu"), ("a.bridge", "1.19.0", "cpu")]
    rows = {row.name: row.cells for rows in laid_out.families.values() for row in rows}
    assert rows["retain.last-write-wins"][1] is None
    assert rows["bridge.reentrant"][0] is None
    assert rows["bridge.reentrant"][1].expectation == "none"


def test_an_unforeseen_outcome_of_another_subject_names_it(two_subjects):
    merged = merge(results_in(two_subjects, "a.bridge"), nothing_expected)
    assert merged.complaints == [
        "unexpected: a.bridge: bridge.reentrant on Warp 1.19.0 cpu: fail (expected: pass, as no entry speaks of it)"
    ]


def test_a_suite_is_that_of_the_families_that_judge():
    assert suite_version("warp") != suite_version("miniature")
    assert suite_version("miniature") == suite_version("plain-torch")


def test_what_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    head = header(subject="warp", warp="1.19.0", device="cpu", full=True)
    with pytest.raises(BadResult, match=r"cell\.jsonl cannot be written: File exists"):
        write(tmp_path / "file" / "cell.jsonl", head, [], 0.0)
