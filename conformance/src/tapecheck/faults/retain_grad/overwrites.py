"""Faults and near misses of the overwrite checks."""

from typing import Any

from tapecheck.faults.planting import with_function
from tapecheck.subjects.warp import WarpSubject


def zeros_like_always_retains(subject: WarpSubject) -> WarpSubject:
    """`zeros_like` sets `retain_grad` on what it makes, so that an overwrite lets the earlier gradient through."""

    def zeros_like(original: Any, source: Any, **options: Any) -> Any:
        return original(source, **{**options, "retain_grad": True})

    return with_function(subject, "zeros_like", zeros_like)


def zeros_like_by_cloning(subject: WarpSubject) -> WarpSubject:
    """`zeros_like` goes a long way round to the same array."""
    return with_function(subject, "zeros_like", lambda original, *a, **k: subject.clone(original(*a, **k)))
