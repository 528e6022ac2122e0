"""Faults and near misses of the checks of declared operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapecheck.faults.cache.views import with_core
from tapecheck.subjects.core import Declared, Particles


def with_run(subject: Any, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Any:
    """The subject that runs declared operators in another way."""
    return with_core(subject, run=wrap(subject.core.run))


def _with_extras(subject: Any, mapping: Callable[[Declared, dict[str, Any]], dict[str, Any]]) -> Any:
    def wrap(run: Callable[..., Any]) -> Callable[..., Any]:
        return lambda declared, given, **extras: run(declared, given, **mapping(declared, extras))

    return with_run(subject, wrap)


def missing_numbers_count_as_one(subject: Any) -> Any:
    """A number that is not given counts as one."""
    return _with_extras(subject, lambda declared, extras: {**dict.fromkeys(declared.scalars, 1.0), **extras})


def surplus_ignored(subject: Any) -> Any:
    """What was not declared is ignored."""
    return _with_extras(
        subject,
        lambda declared, extras: {n: v for n, v in extras.items() if n in (*declared.tensors, *declared.scalars)},
    )


def tensors_converted(subject: Any) -> Any:
    """A tensor of another type is converted."""

    def converted(declared: Declared, extras: dict[str, Any]) -> dict[str, Any]:
        return {n: v.double() if n in declared.tensors and hasattr(v, "double") else v for n, v in extras.items()}

    return _with_extras(subject, converted)


def extras_in_another_order(subject: Any) -> Any:
    """Extras are handed over in reversed order."""
    return _with_extras(subject, lambda declared, extras: dict(reversed(list(extras.items()))))


def error_names_nothing(subject: Any) -> Any:
    """An error says only that something does not fit."""

    def wrap(run: Callable[..., Any]) -> Callable[..., Any]:
        def silent(declared: Declared, given: Particles, **extras: Any) -> Any:
            try:
                return run(declared, given, **extras)
            except ValueError:
                raise ValueError("an argument does not fit") from None

        return silent

    return with_run(subject, wrap)


def _with_outputs(subject: Any, mapping: Callable[[Any], Any]) -> Any:
    """The subject that declares each type and shape, if it is a resolver, as that makes of it."""

    def wrap(run: Callable[..., Any]) -> Callable[..., Any]:
        def declared_otherwise(declared: Declared, given: Particles, **extras: Any) -> Any:
            outputs = tuple(tuple(mapping(entry) for entry in output) for output in declared.outputs)
            return run(declared._replace(outputs=outputs), given, **extras)

        return declared_otherwise

    return with_run(subject, wrap)


def _is_resolver(entry: Any) -> bool:
    return callable(entry) and not isinstance(entry, type)


def resolvers_see_no_extras(subject: Any) -> Any:
    """Resolvers get no numbers among the extras."""

    def without(entry: Any) -> Any:
        if not _is_resolver(entry):
            return entry
        return lambda context, extras: entry(context, {**extras, "factor": None})

    return _with_outputs(subject, without)


def resolvers_see_a_copy(subject: Any) -> Any:
    """Resolvers get copies of the tensors."""

    def copied(entry: Any) -> Any:
        if not _is_resolver(entry):
            return entry
        return lambda context, extras: entry(context, {**extras, "weights": extras["weights"].clone()})

    return _with_outputs(subject, copied)


def literal_types_called(subject: Any) -> Any:
    """Whatever can be called is called, types too."""

    def called(entry: Any) -> Any:
        return (lambda context, extras: entry(context, extras)) if isinstance(entry, type) else entry

    return _with_outputs(subject, called)


def _with_results(subject: Any, mapping: Callable[[Any], Any]) -> Any:
    return with_run(subject, lambda run: lambda declared, given, **extras: mapping(run(declared, given, **extras)))


def first_output_alone(subject: Any) -> Any:
    """Of several outputs the first is repeated."""
    return _with_results(subject, lambda outputs: [outputs[0]] * len(outputs))


def outputs_reversed(subject: Any) -> Any:
    """The last output comes first."""
    return _with_results(subject, lambda outputs: outputs[::-1])


def outputs_of_one_type(subject: Any) -> Any:
    """Every output is floating."""
    return _with_results(subject, lambda outputs: [output.double() for output in outputs])


def a_thread_less(subject: Any) -> Any:
    """The last thread is left out."""

    def wrap(run: Callable[..., Any]) -> Callable[..., Any]:
        def fewer(declared: Declared, given: Particles, **extras: Any) -> Any:
            threads = declared.threads or (lambda context, extras: len(context.query.masses))
            less = declared._replace(threads=lambda context, extras: threads(context, extras) - 1)
            return run(less, given, **extras)

        return fewer

    return with_run(subject, wrap)
