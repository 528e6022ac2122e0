"""`Tape.visualize`: the DOT text, its file, and what each documented option does to the graph."""

import contextlib
import html
import io
import re
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pydot

from tapecheck.contract import Evidence, check, outcome_of
from tapecheck.contracts.tape import kernels
from tapecheck.faults.tape import visualize as faults
from tapecheck.subjects.warp import WarpSubject


def drawing(text: str) -> dict[str, Any]:
    """What a reader of the graph sees, each part sorted by name; empty parts where the text is no DOT."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):
        graph = (pydot.graph_from_dot_data(text) or [pydot.Dot()])[0]
    parts = [graph, *_subgraphs(graph)]
    labels = {node.get_name(): node.get("label") for part in parts for node in part.get_nodes() if node.get("label")}
    edges = [(edge.get_source(), edge.get_destination()) for part in parts for edge in part.get_edges()]
    return {
        "direction": graph.get("rankdir"),
        "kernels": sorted(_shown(label) for label in labels.values() if label.startswith("<")),
        "arrays": sorted(_shown(label) for label in labels.values() if not label.startswith("<")),
        "edges": sorted(" -> ".join(_shown(labels.get(end.partition(":")[0], "?")) for end in edge) for edge in edges),
        "scopes": sorted(_shown(part.get("label")) for part in parts[1:]),
    }


def _subgraphs(graph: pydot.Graph) -> Iterator[pydot.Graph]:
    for part in graph.get_subgraphs():
        yield part
        yield from _subgraphs(part)


def _shown(label: str) -> str:
    """A node's or scope's name: the bold part of a label in markup, all of any other."""
    bold = re.search(r"<b>(.*?)</b>", label, re.DOTALL)
    return html.unescape(bold[1]) if bold else label.removeprefix('"').removesuffix('"').replace('\\"', '"')


def parts(text: str, *names: str) -> dict[str, Any]:
    """Those parts of a drawing that a check is about."""
    seen = drawing(text)
    return {name: seen[name] for name in names}


def arrays(wp: WarpSubject, count: int) -> list[Any]:
    return [wp.ones(3, dtype=float, requires_grad=True) for _ in range(count)]


def chain(wp: WarpSubject) -> tuple[Any, list[Any]]:
    """A tape with x -> scale -> a -> square -> y, and those arrays."""
    x, a, y = arrays(wp, 3)
    with wp.Tape() as tape:
        wp.launch(kernels.scale, dim=3, inputs=[x, 2.0], outputs=[a])
        wp.launch(kernels.square, dim=3, inputs=[a], outputs=[y])
    return tape, [x, a, y]


@check(
    "tape.visualize-dot",
    case="text",
    faults=[faults.misses_the_last_launch, faults.leaves_the_graph_open],
    near_misses=[faults.lays_the_text_out_differently],
)
def dot_text(wp: WarpSubject) -> Evidence:
    tape, _ = chain(wp)
    return Evidence(
        observed=parts(tape.visualize(), "kernels", "arrays", "edges"),
        expected={
            "kernels": ["scale", "square"],
            "arrays": ["x", "y", "y"],
            "edges": ["scale -> y", "square -> y", "x -> scale", "y -> square"],
        },
    )


@check(
    "tape.visualize-dot",
    case="file",
    faults=[faults.writes_another_graph],
    near_misses=[faults.lays_the_text_out_differently],
)
def dot_file(wp: WarpSubject) -> Evidence:
    tape, _ = chain(wp)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tape.dot"
        returned = tape.visualize(str(path))
        written = path.read_text()
    return Evidence(
        observed={"the file holds the returned text": written == returned, **parts(returned, "kernels")},
        expected={"the file holds the returned text": True, "kernels": ["scale", "square"]},
    )


@check(
    "tape.visualize-dot",
    case="tuple-inputs",
    faults=[faults.misses_the_last_launch],
    near_misses=[faults.lays_the_text_out_differently],
    oracle=faults.records_lists,
)
def dot_of_tuples(wp: WarpSubject) -> Evidence:
    x, a, y = arrays(wp, 3)
    with wp.Tape() as tape:
        wp.launch(kernels.scale, dim=3, inputs=(x, 2.0, a))
        wp.launch(kernels.square, dim=3, inputs=(a, y))
    texts = [""]
    outcome = outcome_of(lambda: texts.append(tape.visualize()))
    return Evidence(
        observed={"visualize": outcome, **parts(texts[-1], "kernels")},
        expected={"visualize": "no error", "kernels": ["scale", "square"]},
    )


@check(
    "tape.visualize-dot",
    case="quoted-label",
    faults=[faults.writes_names_unescaped],
    near_misses=[faults.lays_the_text_out_differently],
    oracle=faults.escapes_array_labels,
)
def dot_of_a_quoted_label(wp: WarpSubject) -> Evidence:
    tape, (x, *_) = chain(wp)
    text = tape.visualize(array_labels={x: 'the "x"'})
    return Evidence(
        observed=parts(text, "kernels", "arrays"),
        expected={"kernels": ["scale", "square"], "arrays": ['the "x"', "y", "y"]},
    )


@check(
    "tape.visualize-dot",
    case="scope-markup",
    faults=[faults.writes_names_unescaped],
    near_misses=[faults.lays_the_text_out_differently],
    oracle=faults.escapes_scope_names,
)
def dot_of_a_scope_with_markup(wp: WarpSubject) -> Evidence:
    return Evidence(
        observed=parts(scoped(wp, "a<b").visualize(), "kernels", "arrays"),
        expected={"kernels": ["scale", "square"], "arrays": ["x", "y", "y"]},
    )


def scoped(wp: WarpSubject, name: str) -> Any:
    """A tape with a launch of `scale` inside a scope of that name, and one of `square` after it."""
    x, a, y = arrays(wp, 3)
    with wp.Tape() as tape:
        tape.record_scope_begin(name)
        wp.launch(kernels.scale, dim=3, inputs=[x, 2.0], outputs=[a])
        tape.record_scope_end()
        wp.launch(kernels.square, dim=3, inputs=[a], outputs=[y])
    return tape


def repeated(wp: WarpSubject) -> Any:
    """A tape with the same launch three times, from one line of code as in a simulation's loop."""
    x, y = arrays(wp, 2)
    with wp.Tape() as tape:
        for _ in range(3):
            wp.launch(kernels.scale, dim=3, inputs=[x, 2.0], outputs=[y])
    return tape


@check(
    "tape.visualize-options",
    case="simplify_graph",
    faults=[faults.ignores("simplify_graph")],
    near_misses=[faults.lays_the_text_out_differently],
)
def simplify_graph(wp: WarpSubject) -> Evidence:
    tape = repeated(wp)
    drawn = {str(simplify): drawing(tape.visualize(simplify_graph=simplify)) for simplify in (True, False)}
    return Evidence(
        observed={
            choice: {"kernels": seen["kernels"], "summaries": len(seen["scopes"])} for choice, seen in drawn.items()
        },
        expected={
            "True": {"kernels": ["scale"], "summaries": 1},
            "False": {"kernels": ["scale"] * 3, "summaries": 0},
        },
    )


@check(
    "tape.visualize-options",
    case="simplify_graph-arrays",
    faults=[faults.leaves_out_what_is_only_read],
    near_misses=[faults.lays_the_text_out_differently],
    oracle=faults.tracks_readonly_arrays,
)
def simplified_graph_keeps_its_arrays(wp: WarpSubject) -> Evidence:
    """Only `hide_readonly_arrays` may take arrays away."""
    return Evidence(observed=parts(repeated(wp).visualize(), "arrays"), expected={"arrays": ["x", "y"]})


@check(
    "tape.visualize-options",
    case="hide_readonly_arrays",
    faults=[faults.ignores("hide_readonly_arrays")],
    near_misses=[faults.lays_the_text_out_differently],
)
def hide_readonly_arrays(wp: WarpSubject) -> Evidence:
    tape, _ = chain(wp)
    return Evidence(
        observed={str(hide): parts(tape.visualize(hide_readonly_arrays=hide), "arrays") for hide in (False, True)},
        expected={"False": {"arrays": ["x", "y", "y"]}, "True": {"arrays": ["y", "y"]}},
    )


@check(
    "tape.visualize-options",
    case="hide_readonly_arrays-written",
    faults=[faults.shows_no_array_when_hiding],
    near_misses=[faults.lays_the_text_out_differently],
    oracle=faults.records_what_is_written_as_outputs,
)
def hide_readonly_arrays_but_no_written_one(wp: WarpSubject) -> Evidence:
    """An array passed through `inputs`, as most of Warp's examples do, is written all the same."""
    x, y = arrays(wp, 2)
    with wp.Tape() as tape:
        wp.launch(kernels.scale, dim=3, inputs=[x, 2.0, y])
    return Evidence(observed=parts(tape.visualize(hide_readonly_arrays=True), "arrays"), expected={"arrays": ["y"]})


@check(
    "tape.visualize-options",
    case="hide_readonly_arrays-launches",
    faults=[faults.misses_the_last_launch],
    near_misses=[faults.lays_the_text_out_differently],
    oracle=faults.ignores_scopes_when_hiding,
)
def hide_readonly_arrays_but_no_launch(wp: WarpSubject) -> Evidence:
    """The option hides arrays: each of two launches of one kernel stays a node."""
    x, a, y = arrays(wp, 3)
    with wp.Tape() as tape:
        wp.launch(kernels.scale, dim=3, inputs=[x, 2.0], outputs=[a])
        wp.launch(kernels.scale, dim=3, inputs=[a, 2.0], outputs=[y])
    text = tape.visualize(simplify_graph=False, hide_readonly_arrays=True)
    return Evidence(observed=parts(text, "kernels"), expected={"kernels": ["scale", "scale"]})


@check(
    "tape.visualize-options",
    case="array_labels",
    faults=[faults.ignores("array_labels")],
    near_misses=[faults.lays_the_text_out_differently],
)
def array_labels(wp: WarpSubject) -> Evidence:
    tape, (x, *_) = chain(wp)
    return Evidence(
        observed={
            "default": parts(tape.visualize(), "arrays"),
            "labelled": parts(tape.visualize(array_labels={x: "position"}), "arrays"),
        },
        expected={"default": {"arrays": ["x", "y", "y"]}, "labelled": {"arrays": ["position", "y", "y"]}},
    )


@check(
    "tape.visualize-options",
    case="choose_longest_node_name",
    faults=[faults.chooses_the_first_node_name],
    near_misses=[faults.lays_the_text_out_differently],
    oracle=faults.labels_arrays_by_their_longest_name,
)
def choose_longest_node_name(wp: WarpSubject) -> Evidence:
    """One array is `x` to the first kernel and `a_longer_name` to the second, or the other way round."""

    def names(*order: Any) -> dict[str, Any]:
        x, *outputs = arrays(wp, 3)
        with wp.Tape() as tape:
            for kernel, y in zip(order, outputs, strict=True):
                wp.launch(kernel, dim=3, inputs=[x, 2.0], outputs=[y])
        return parts(tape.visualize(choose_longest_node_name=True), "arrays")

    longest = {"arrays": ["a_longer_name", "y", "y"]}
    return Evidence(
        observed={
            "longest first": names(kernels.scale_long_name, kernels.scale),
            "longest last": names(kernels.scale, kernels.scale_long_name),
        },
        expected={"longest first": longest, "longest last": longest},
    )


@check(
    "tape.visualize-options",
    case="ignore_graph_scopes",
    faults=[faults.ignores("ignore_graph_scopes")],
    near_misses=[faults.lays_the_text_out_differently],
)
def ignore_graph_scopes(wp: WarpSubject) -> Evidence:
    tape = scoped(wp, "step")
    chosen = {str(ignore): tape.visualize(ignore_graph_scopes=ignore) for ignore in (False, True)}
    return Evidence(
        observed={choice: parts(text, "kernels", "scopes") for choice, text in chosen.items()},
        expected={
            "False": {"kernels": ["scale", "square"], "scopes": ["step"]},
            "True": {"kernels": ["scale", "square"], "scopes": []},
        },
    )


def tracked(wp: WarpSubject, option: str) -> Evidence:
    """Whether the read-only x, hidden otherwise, is shown when tracked: how many arrays there are."""
    tape, (x, *_) = chain(wp)
    texts = {
        "hidden": tape.visualize(hide_readonly_arrays=True),
        "tracked": tape.visualize(hide_readonly_arrays=True, **{option: [x]}),
    }
    return Evidence(
        observed={name: len(drawing(text)["arrays"]) for name, text in texts.items()},
        expected={"hidden": 2, "tracked": 3},
    )


@check(
    "tape.visualize-options",
    case="track_inputs",
    faults=[faults.ignores("track_inputs")],
    near_misses=[faults.lays_the_text_out_differently],
)
def track_inputs(wp: WarpSubject) -> Evidence:
    return tracked(wp, "track_inputs")


@check(
    "tape.visualize-options",
    case="track_outputs",
    faults=[faults.ignores("track_outputs")],
    near_misses=[faults.lays_the_text_out_differently],
)
def track_outputs(wp: WarpSubject) -> Evidence:
    return tracked(wp, "track_outputs")


@check(
    "tape.visualize-options",
    case="track_input_names",
    faults=[faults.ignores("track_input_names")],
    near_misses=[faults.lays_the_text_out_differently],
)
def track_input_names(wp: WarpSubject) -> Evidence:
    tape, (x, *_) = chain(wp)
    text = tape.visualize(track_inputs=[x], track_input_names=["state"])
    return Evidence(observed=parts(text, "arrays"), expected={"arrays": ["state", "y", "y"]})


@check(
    "tape.visualize-options",
    case="track_output_names",
    faults=[faults.ignores("track_output_names")],
    near_misses=[faults.lays_the_text_out_differently],
)
def track_output_names(wp: WarpSubject) -> Evidence:
    tape, (*_, y) = chain(wp)
    text = tape.visualize(track_outputs=[y], track_output_names=["state"])
    return Evidence(observed=parts(text, "arrays"), expected={"arrays": ["state", "x", "y"]})


@check(
    "tape.visualize-options",
    case="graph_direction",
    faults=[faults.ignores("graph_direction")],
    near_misses=[faults.lays_the_text_out_differently],
)
def graph_direction(wp: WarpSubject) -> Evidence:
    tape, _ = chain(wp)
    texts = {"default": tape.visualize(), "TB": tape.visualize(graph_direction="TB")}
    return Evidence(
        observed={name: parts(text, "direction", "kernels") for name, text in texts.items()},
        expected={
            "default": {"direction": "LR", "kernels": ["scale", "square"]},
            "TB": {"direction": "TB", "kernels": ["scale", "square"]},
        },
    )
