"""Faults and near misses of the checks of SPH operators' tangents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tapecheck.faults.kinds.table import turned
from tapecheck.lazy import oracles, torch
from tapecheck.subjects.sph import DIRECTIONS, FUNCTIONS, SCHEMES_OF, SUPPORT_MODES, Call, Run, SphSubject


def _tangent_by(subject: SphSubject, other: Callable[[Call], Call]) -> SphSubject:
    """The value is that of the call, the tangent that of another one."""
    from torch.autograd import forward_ad

    def wrap(run: Run) -> Run:
        def mixed(call: Call) -> Any:
            value = forward_ad.unpack_dual(run(call)).primal
            tangent = forward_ad.unpack_dual(run(other(call))).tangent
            return value if tangent is None else forward_ad.make_dual(value, tangent)

        return mixed

    return subject.running(wrap)


def _after(word: str, words: tuple[str, ...]) -> str:
    return words[(words.index(word) + 1) % len(words)]


def tangents_of_another_function(subject: SphSubject) -> SphSubject:
    """The tangent is that of another smoothing function."""
    return _tangent_by(
        subject, lambda call: replace(call, rules=replace(call.rules, function=_after(call.rules.function, FUNCTIONS)))
    )


def tangents_of_another_mode(subject: SphSubject) -> SphSubject:
    """The tangent is that of another support mode."""
    return _tangent_by(
        subject,
        lambda call: replace(
            call, rules=replace(call.rules, support_mode=_after(call.rules.support_mode, SUPPORT_MODES))
        ),
    )


def tangents_of_another_direction(subject: SphSubject) -> SphSubject:
    """The tangent is that of another direction."""
    return _tangent_by(subject, lambda call: turned(call, _after(call.rules.direction, DIRECTIONS)))


def tangents_of_another_scheme(subject: SphSubject) -> SphSubject:
    """The tangent of a gradient is that of another scheme."""
    return _tangent_by(
        subject,
        lambda call: (
            replace(call, scheme=_after(call.scheme, SCHEMES_OF[call.operator]), reference_volumes=None)
            if call.scheme
            else call
        ),
    )


def tangents_without_volumes(subject: SphSubject) -> SphSubject:
    """The tangent uses masses over densities, whatever volumes are supplied."""
    return _tangent_by(subject, lambda call: replace(call, reference_volumes=None))


def _on(subject: SphSubject, change: Callable[[Call], Call]) -> SphSubject:
    return subject.running(lambda run: lambda call: run(change(call)))


def _duals(call: Call, change: Callable[[str, Any, Any], Any]) -> Call:
    """The call with its dual tensors made anew: of name, value and tangent."""
    from torch.autograd import forward_ad

    pairs = {name: forward_ad.unpack_dual(tensor) for name, tensor in call.tensors.items()}
    return call.replacing({n: change(n, p.primal, p.tangent) for n, p in pairs.items() if p.tangent is not None})


def duals_made_again(subject: SphSubject) -> SphSubject:
    """Dual tensors are taken apart and put together again."""
    from torch.autograd import forward_ad

    return _on(subject, lambda call: _duals(call, lambda name, value, tangent: forward_ad.make_dual(value, tangent)))


def unread_fields_enter_the_tangent(subject: SphSubject) -> SphSubject:
    """The tangent of a field that the operator does not read is added to the result's."""
    from torch.autograd import forward_ad

    def wrap(run: Run) -> Run:
        def adding(call: Call) -> Any:
            read = {"interpolate": ("reference_field",), "density": (), "covariance": ()}.get(
                call.operator, tuple(call.tensors)
            )
            unread = [n for n in ("query_field", "reference_field") if n in call.tensors and n not in read]
            result = run(replace(call, **dict.fromkeys(unread)))  # type: ignore[arg-type]
            for name in unread:
                tangent = forward_ad.unpack_dual(call.tensors[name]).tangent
                if tangent is not None:
                    value, old = forward_ad.unpack_dual(result)
                    result = forward_ad.make_dual(
                        value, (torch.zeros_like(value) if old is None else old) + tangent.mean()
                    )
            return result

        return adding

    return subject.running(wrap)


def unread_fields_refused(subject: SphSubject) -> SphSubject:
    """A field that an operator does not read is refused."""

    def checked(call: Call) -> Call:
        if call.operator in ("density", "covariance") and (
            call.query_field is not None or call.reference_field is not None
        ):
            raise ValueError(f"{call.operator} reads no field")
        return call

    return _on(subject, checked)


FIELDS = ("query_field", "reference_field")


def fields_of_rank_two_refused(subject: SphSubject) -> SphSubject:
    """A tangent of a field of rank two or more is refused."""

    def refusing(name: str, value: Any, tangent: Any) -> Any:
        from torch.autograd import forward_ad

        if name in FIELDS and value.dim() > 2:
            raise NotImplementedError("tangents of fields of rank two")
        return forward_ad.make_dual(value, tangent)

    return _on(subject, lambda call: _duals(call, refusing))


def last_component_still(subject: SphSubject) -> SphSubject:
    """The last component of a field has no tangent."""

    def stilled(name: str, value: Any, tangent: Any) -> Any:
        from torch.autograd import forward_ad

        if name in FIELDS:
            tangent = tangent.clone()
            tangent[..., -1] = 0
        return forward_ad.make_dual(value, tangent)

    return _on(subject, lambda call: _duals(call, stilled))


def _tangents_of_fields(call: Call) -> dict[str, Any]:
    from torch.autograd import forward_ad

    fields = {name: forward_ad.unpack_dual(t).tangent for name, t in call.tensors.items() if name in FIELDS}
    return {name: tangent for name, tangent in fields.items() if tangent is not None}


def missing_side_like_the_other(subject: SphSubject) -> SphSubject:
    """Where one side of a field has a tangent, the other moves with it."""
    from torch.autograd import forward_ad

    def completed(call: Call) -> Call:
        live = _tangents_of_fields(call)
        if len(live) != 1:
            return call
        ((name, tangent),) = live.items()
        other = FIELDS[1 - FIELDS.index(name)]
        value = call.tensors[other]
        return call.replacing({other: forward_ad.make_dual(value, tangent.mean(0).expand_as(value).contiguous())})

    return _on(subject, completed)


def one_sided_tangents_dropped(subject: SphSubject) -> SphSubject:
    """Where one side of a field has a tangent alone, it is dropped."""
    from torch.autograd import forward_ad

    def dropped(call: Call) -> Call:
        live = _tangents_of_fields(call)
        if len(live) != 1:
            return call
        return call.replacing({name: forward_ad.unpack_dual(call.tensors[name]).primal for name in live})

    return _on(subject, dropped)


def bounds_become_numbers(subject: SphSubject) -> SphSubject:
    """Bounds are taken as numbers, whatever they carry."""

    def numbers(call: Call) -> Call:
        lists = {name: [float(x) for x in getattr(call.domain, name)] for name in ("minimum", "maximum")}
        return replace(call, domain=oracles.Domain(**lists, periodic=call.domain.periodic))

    return _on(subject, numbers)
