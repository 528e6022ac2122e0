"""Faults, near misses and oracles of the `Tape.visualize` checks."""

import html
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tapecheck.contract import Plant
from tapecheck.faults.planting import with_tape
from tapecheck.subjects.warp import WarpSubject


def with_text(subject: WarpSubject, change: Callable[[str], str]) -> WarpSubject:
    """The subject whose `visualize` returns, and writes, the text with a change made to it."""

    def visualize(base: Any, self: Any, filename: str | None = None, **options: Any) -> str:
        text = change(base.visualize(self, **options))
        if filename is not None:
            Path(filename).write_text(text)
        return text

    return with_tape(subject, visualize=visualize)


def with_options(subject: WarpSubject, change: Callable[[Any, dict[str, Any]], dict[str, Any]]) -> WarpSubject:
    """The subject whose `visualize` draws its tape with the options that `change(tape, options)` gives."""

    def visualize(base: Any, self: Any, filename: str | None = None, **options: Any) -> Any:
        return base.visualize(self, filename, **options | change(self, options))

    return with_tape(subject, visualize=visualize)


def ignores(option: str) -> Plant:
    """The fault of a `visualize` that takes an option and draws as without it."""

    def plant(subject: WarpSubject) -> WarpSubject:
        def visualize(base: Any, self: Any, filename: str | None = None, **options: Any) -> Any:
            options.pop(option, None)
            return base.visualize(self, filename, **options)

        return with_tape(subject, visualize=visualize)

    plant.__name__ = f"ignores_{option}"
    plant.__doc__ = f"`visualize` takes `{option}` and draws as without it."
    return plant


def misses_the_last_launch(subject: WarpSubject) -> WarpSubject:
    """The graph shows every launch but the last."""

    def visualize(base: Any, self: Any, *args: Any, **options: Any) -> Any:
        launches, self.launches = self.launches, self.launches[:-1]
        try:
            return base.visualize(self, *args, **options)
        finally:
            self.launches = launches

    return with_tape(subject, visualize=visualize)


def leaves_the_graph_open(subject: WarpSubject) -> WarpSubject:
    """The text ends without the last brace."""
    return with_text(subject, lambda text: text.rstrip().removesuffix("}"))


def writes_another_graph(subject: WarpSubject) -> WarpSubject:
    """The file gets another drawing than the caller."""

    def visualize(base: Any, self: Any, filename: str | None = None, **options: Any) -> Any:
        base.visualize(self, filename, **options)
        return base.visualize(self, **options | {"graph_direction": "TB"})

    return with_tape(subject, visualize=visualize)


def writes_names_unescaped(subject: WarpSubject) -> WarpSubject:
    """Names are put into the text as they are, quotes and angle brackets included."""
    return with_text(subject, lambda text: text.replace('\\"', '"').replace("&lt;", "<"))


def shows_no_array_when_hiding(subject: WarpSubject) -> WarpSubject:
    """`hide_readonly_arrays` hides the written arrays too."""

    def change(text: str) -> str:
        return "\n".join(line for line in text.splitlines() if not line.strip().startswith("arr"))

    return with_text(subject, change)


def leaves_out_what_is_only_read(subject: WarpSubject) -> WarpSubject:
    """Arrays that no kernel writes, all named x here, are no nodes."""
    return with_text(subject, lambda text: "\n".join(line for line in text.splitlines() if 'label="x"' not in line))


def chooses_the_first_node_name(subject: WarpSubject) -> WarpSubject:
    """An array is named by the first kernel that takes it, however long its later names are."""

    def names(tape: Any, options: dict[str, Any]) -> dict[str, Any]:
        return {"array_labels": dict(reversed(list(arguments(tape))))}

    return with_options(subject, names)


def lays_the_text_out_differently(subject: WarpSubject) -> WarpSubject:
    """The text is not indented and begins with a comment."""
    return with_text(subject, lambda text: "\n".join(["// a tape", *(line.strip() for line in text.splitlines())]))


def arguments(tape: Any) -> Iterator[tuple[Any, str]]:
    """Every array that the recorded launches take, in order, with the name of the kernel's parameter."""
    for kernel, _, _, inputs, outputs, *_ in tape.launches:
        for argument, parameter in zip([*inputs, *outputs], kernel.adj.args, strict=False):
            if hasattr(argument, "grad"):
                yield argument, parameter.label


def records_lists(subject: WarpSubject) -> WarpSubject:
    """Launches are recorded with lists of arguments, also where they came as tuples."""

    def record_launch(
        base: Any, self: Any, kernel: Any, dim: Any, max_blocks: int, inputs: Any, outputs: Any, *rest: Any, **more: Any
    ) -> None:
        base.record_launch(self, kernel, dim, max_blocks, list(inputs), list(outputs), *rest, **more)

    return with_tape(subject, record_launch=record_launch)


def records_what_is_written_as_outputs(subject: WarpSubject) -> WarpSubject:
    """Launches are recorded with the arrays that a kernel writes, all named y here, among the outputs."""

    def record_launch(
        base: Any, self: Any, kernel: Any, dim: Any, max_blocks: int, inputs: Any, outputs: Any, *rest: Any, **more: Any
    ) -> None:
        given = [*inputs, *outputs]
        first = [parameter.label for parameter in kernel.adj.args].index("y")
        base.record_launch(self, kernel, dim, max_blocks, given[:first], given[first:], *rest, **more)

    return with_tape(subject, record_launch=record_launch)


def escapes_array_labels(subject: WarpSubject) -> WarpSubject:
    """Quotes in array labels are escaped."""

    def escaped(tape: Any, options: dict[str, Any]) -> dict[str, Any]:
        labels = options.get("array_labels") or {}
        return {"array_labels": {array: label.replace('"', '\\"') for array, label in labels.items()}}

    return with_options(subject, escaped)


def escapes_scope_names(subject: WarpSubject) -> WarpSubject:
    """Markup in scope names is escaped."""

    def record_scope_begin(base: Any, self: Any, scope_name: str, *args: Any, **options: Any) -> None:
        base.record_scope_begin(self, html.escape(scope_name), *args, **options)

    return with_tape(subject, record_scope_begin=record_scope_begin)


def tracks_readonly_arrays(subject: WarpSubject) -> WarpSubject:
    """Arrays that no kernel writes are drawn first, so that no summary loses them."""

    def tracked(tape: Any, options: dict[str, Any]) -> dict[str, Any]:
        found = {array: name for array, name in arguments(tape) if name != "y"}
        return {"track_inputs": list(found), "track_input_names": list(found.values())}

    return with_options(subject, tracked)


def ignores_scopes_when_hiding(subject: WarpSubject) -> WarpSubject:
    """Scopes are not drawn while read-only arrays are hidden, which keeps each launch a node of its own."""
    return with_options(
        subject, lambda tape, options: {"ignore_graph_scopes": bool(options.get("hide_readonly_arrays"))}
    )


def labels_arrays_by_their_longest_name(subject: WarpSubject) -> WarpSubject:
    """Every array is labelled with the longest name that a kernel gives it."""

    def longest(tape: Any, options: dict[str, Any]) -> dict[str, Any]:
        labels: dict[Any, str] = {}
        for array, name in arguments(tape):
            labels[array] = max(labels.get(array, ""), name, key=len)
        return {"array_labels": labels | options.get("array_labels", {})}

    return with_options(subject, longest)
