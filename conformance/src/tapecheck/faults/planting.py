"""What plants are made of: a subject with methods of its Tape, or one of its functions, replaced."""

import functools
from collections.abc import Callable
from typing import Any

from tapecheck.subjects.warp import WarpSubject


def with_tape(subject: WarpSubject, **methods: Callable[..., Any]) -> WarpSubject:
    """The subject with these methods of its Tape replaced; each is called with the tape's own class first.

    `with_tape(subject, backward=lambda base, self, *a, **k: base.backward(self, *a, **k))` changes nothing.
    """
    base = subject.Tape

    def bind(method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, *args, **options: method(base, self, *args, **options)

    return subject.replacing(Tape=type("Tape", (base,), {name: bind(method) for name, method in methods.items()}))


def with_function(subject: WarpSubject, name: str, function: Callable[..., Any]) -> WarpSubject:
    """The subject with one function replaced, its signature kept; the new one gets the old one first."""
    original = getattr(subject, name)
    return subject.replacing(**{name: functools.wraps(original)(functools.partial(function, original))})


def with_adjoints(subject: WarpSubject, others: dict[Any, Any]) -> WarpSubject:
    """The subject whose backward runs, for each of these kernels, the adjoint of the other, of the same arguments.

    The forward pass is untouched: so a kernel that lacks a term, or keeps a value that it should restore, stands for
    the faulty adjoint that a release generates. All are replaced at once, so that two can exchange their adjoints.
    """

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        for launch in self.launches:
            if isinstance(launch, list):
                launch[0] = others.get(launch[0], launch[0])
        base.backward(self, *args, **options)

    return with_tape(subject, backward=backward)
