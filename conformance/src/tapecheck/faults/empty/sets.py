"""Faults and near misses of the checks of populations without particles."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tapecheck.faults.bridge.wrapping import passed_through
from tapecheck.lazy import torch
from tapecheck.subjects.sph import Call, Run, SphSubject


def with_results(subject: SphSubject, mapping: Callable[[Call, Any], Any]) -> SphSubject:
    """The implementation whose results are what that makes of them."""
    return subject.running(lambda run: lambda call: mapping(call, run(call)))


def _without_particles(call: Call) -> bool:
    return not (len(call.query.masses) and len(call.reference.masses))


def no_row_no_axes(subject: SphSubject) -> SphSubject:
    """A result without rows has one axis alone."""
    return with_results(subject, lambda call, result: result if len(result) else result.flatten())


def rows_stacked(subject: SphSubject) -> SphSubject:
    """Rows are stacked, of which there must be one."""
    return with_results(subject, lambda call, result: torch.stack(list(result)))


def divided_by_number_of_references(subject: SphSubject) -> SphSubject:
    """A sum is made from the mean over the references."""

    def averaged(call: Call, result: Any) -> Any:
        count = torch.tensor(float(len(call.reference.masses)), dtype=result.dtype)
        return result / count * count

    return with_results(subject, averaged)


def memory_left_as_it_was(subject: SphSubject) -> SphSubject:
    """Without references nothing is written into the memory of the result."""

    def left(call: Call, result: Any) -> Any:
        return result if len(call.reference.masses) else torch.full_like(result, 6.9e-310)

    return with_results(subject, left)


def launch_guarded(subject: SphSubject) -> SphSubject:
    """Without particles nothing is computed, the result is zeros."""
    return with_results(subject, lambda call, result: torch.zeros_like(result) if _without_particles(call) else result)


def _with_largest_support(subject: SphSubject, largest: Callable[[Any], Any]) -> SphSubject:
    def wrap(run: Run) -> Run:
        def searched(call: Call) -> Any:
            largest(torch.cat([call.query.supports, call.reference.supports]))
            return run(call)

        return searched

    return subject.running(wrap)


def largest_support_of_all(subject: SphSubject) -> SphSubject:
    """The largest support of both populations is looked up, of which there must be one."""
    return _with_largest_support(subject, lambda supports: supports.max())


def largest_support_or_none(subject: SphSubject) -> SphSubject:
    """The largest support of both populations is looked up if there is one."""
    return _with_largest_support(subject, lambda supports: supports.max() if len(supports) else None)


def constant_where_empty(subject: SphSubject) -> SphSubject:
    """The result of a call without particles is a constant."""
    return with_results(subject, lambda call, result: result.detach() if _without_particles(call) else result)


def with_empty_tensors(subject: SphSubject, mapping: Callable[[Any], Any]) -> SphSubject:
    """The implementation that works on what that makes of each empty tensor."""

    def wrap(run: Run) -> Run:
        return lambda call: run(call.replacing({n: t if t.numel() else mapping(t) for n, t in call.tensors.items()}))

    return subject.running(wrap)


def flat_gradients_of_empty_tensors(subject: SphSubject) -> SphSubject:
    """The gradient of an empty tensor has one axis alone."""

    def flattened(tensor: Any) -> Any:
        return passed_through([tensor], lambda seeds: [None if s is None else s.flatten() for s in seeds])[0]

    return with_empty_tensors(subject, lambda tensor: flattened(tensor) if tensor.is_floating_point() else tensor)


def _with_tangents(subject: SphSubject, mapping: Callable[[Any], Any]) -> SphSubject:
    from torch.autograd import forward_ad

    def mapped(call: Call, result: Any) -> Any:
        if forward_ad._current_level < 0:
            return result
        tangent = forward_ad.unpack_dual(result).tangent
        return result if tangent is None else mapping(result)

    return with_results(subject, mapped)


def tangents_reduced(subject: SphSubject) -> SphSubject:
    """Whether a tangent is live is asked by its largest entry, of which there must be one."""
    from torch.autograd import forward_ad

    def asked(call: Call) -> Call:
        if forward_ad._current_level >= 0:
            for tensor in call.tensors.values():
                if tensor.is_floating_point() and (tangent := forward_ad.unpack_dual(tensor).tangent) is not None:
                    tangent.abs().max()
        return call

    return subject.running(lambda run: lambda call: run(asked(call)))


def flat_tangents_where_empty(subject: SphSubject) -> SphSubject:
    """In forward mode a result without rows, or without references, has one axis more."""
    return _with_tangents(subject, lambda result: result[..., None])


def product_of_nothing_is_flat(subject: SphSubject) -> SphSubject:
    """The Hessian product of an empty population has one axis alone."""
    product = subject.operators.hessian_product
    assert product is not None

    def flat(call: Call, v: Any, u: Any) -> Any:
        found = product(call, v, u)
        return found.flatten() if _without_particles(call) else found

    return replace(subject, operators=replace(subject.operators, hessian_product=flat))


def strides_as_they_come(subject: SphSubject) -> SphSubject:
    """The strides of an empty tensor must be those of its shape."""

    def viewed(tensor: Any) -> Any:
        if tensor.stride() != torch.empty(tensor.shape).stride():
            raise RuntimeError(f"strides {tensor.stride()} for shape {tuple(tensor.shape)}")
        return tensor

    return with_empty_tensors(subject, viewed)


def empty_tensors_cloned(subject: SphSubject) -> SphSubject:
    """Empty tensors are cloned."""
    return with_empty_tensors(subject, lambda tensor: tensor.clone(memory_format=torch.contiguous_format))
