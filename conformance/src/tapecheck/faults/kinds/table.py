"""Faults and near misses of the checks of directions."""

from dataclasses import replace
from typing import Any

from tapecheck.faults.hvp.product import with_product
from tapecheck.lazy import oracles, torch
from tapecheck.subjects.sph import DIRECTIONS, Call, HessianProduct, Run, SphSubject


def turned(call: Call, direction: str) -> Call:
    """The call in another direction."""
    return replace(call, rules=replace(call.rules, direction=direction))


def next_entry_of_the_table(subject: SphSubject) -> SphSubject:
    """Each direction does what the next one in the table should."""

    def wrap(run: Run) -> Run:
        def shifted(call: Call) -> Any:
            at = DIRECTIONS.index(call.rules.direction)
            return run(turned(call, DIRECTIONS[(at + 1) % len(DIRECTIONS)]))

        return shifted

    return subject.running(wrap)


def _masses_where(call: Call, contributes: Any) -> Call:
    return call.replacing({"reference.masses": call.reference.masses * contributes})


def last_kind_left_out(subject: SphSubject) -> SphSubject:
    """The last kind that should contribute does not."""

    def wrap(run: Run) -> Run:
        def short(call: Call) -> Any:
            last = oracles.DIRECTIONS[call.rules.direction][1][-1]
            return run(_masses_where(call, call.reference.kinds != last))

        return short

    return subject.running(wrap)


def _selected(call: Call) -> tuple[Any, Any]:
    receiving, contributing = (torch.tensor(kinds) for kinds in oracles.DIRECTIONS[call.rules.direction])
    return (
        torch.isin(call.query.kinds, receiving.to(call.query.kinds)),
        torch.isin(call.reference.kinds, contributing.to(call.reference.kinds)),
    )


def masked_queries_receive(subject: SphSubject) -> SphSubject:
    """A direction masks references alone."""

    def wrap(run: Run) -> Run:
        def received(call: Call) -> Any:
            _, contributes = _selected(call)
            return run(_masses_where(turned(call, "unmasked"), contributes))

        return received

    return subject.running(wrap)


def mask_in_the_value_alone(subject: SphSubject) -> SphSubject:
    """The value is masked, the gradient is that of all pairs."""

    def wrap(run: Run) -> Run:
        def masked(call: Call) -> Any:
            every = run(turned(call, "unmasked"))
            return run(call).detach() + (every - every.detach())

        return masked

    return subject.running(wrap)


def mask_in_the_value_alone_forward(subject: SphSubject) -> SphSubject:
    """The value is masked, the tangent is that of all pairs."""
    from torch.autograd import forward_ad

    def wrap(run: Run) -> Run:
        def masked(call: Call) -> Any:
            value = forward_ad.unpack_dual(run(call)).primal
            tangent = forward_ad.unpack_dual(run(turned(call, "unmasked"))).tangent
            return value if tangent is None else forward_ad.make_dual(value, tangent)

        return masked

    return subject.running(wrap)


def no_mask_in_the_product(subject: SphSubject) -> SphSubject:
    """The Hessian product is that of all pairs."""
    return with_product(subject, lambda product: lambda call, v, u: product(turned(call, "unmasked"), v, u))


def masked_queries_have_a_product(subject: SphSubject) -> SphSubject:
    """In the Hessian product a direction masks references alone."""

    def wrap(product: HessianProduct) -> HessianProduct:
        def received(call: Call, v: Any, u: Any) -> Any:
            _, contributes = _selected(call)
            return product(_masses_where(turned(call, "unmasked"), contributes), v, u)

        return received

    return with_product(subject, wrap)


def factors_for_a_mask_in_the_product(subject: SphSubject) -> SphSubject:
    """In the Hessian product masked references have no mass, and masked queries are multiplied by zero."""

    def wrap(product: HessianProduct) -> HessianProduct:
        def weighed(call: Call, v: Any, u: Any) -> Any:
            receives, contributes = _selected(call)
            return product(_masses_where(turned(call, "unmasked"), contributes), v, u) * receives[:, None]

        return weighed

    return with_product(subject, wrap)


def selected_particles_alone(subject: SphSubject) -> SphSubject:
    """Particles that a direction excludes are left out of the call, and get their zero afterwards."""

    def wrap(run: Run) -> Run:
        def selected(call: Call) -> Any:
            rows = dict(zip(("query", "reference"), (mask.nonzero()[:, 0] for mask in _selected(call)), strict=True))
            kept = {
                name: tensor[rows[name.replace("_", ".").partition(".")[0]]] for name, tensor in call.tensors.items()
            }
            part = run(turned(call.replacing(kept), "unmasked"))
            return part.new_zeros(len(call.query.kinds), *part.shape[1:]).index_copy(0, rows["query"], part)

        return selected

    return subject.running(wrap)
