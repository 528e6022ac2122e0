"""Structs that calls without gradient fill again."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tapecheck.contract import Evidence
from tapecheck.contracts.cache.views import holding
from tapecheck.contracts.coring import FLOATS, called, check_core, equal, judged, launches, particles, pulled_back
from tapecheck.faults.cache import bundles as faults
from tapecheck.subjects.core import Core

SWITCHES = ("default", "without cache", "without reuse")


def switched(core: Core, name: str) -> AbstractContextManager[Any]:
    """A context in which one of the switches is set."""
    return {"without cache": core.without_cache, "without reuse": core.without_reuse}.get(name, nullcontext)()


def structs_of(core: Core, differentiable: tuple[str, ...]) -> str:
    """Whether three calls of a density, and their backward passes, share a struct."""
    given = particles(*differentiable)
    with launches() as found:
        for _ in range(3):
            output = called(core.density, given)
            if output.requires_grad:
                pulled_back(output, given)
    structs = {id(struct) for struct, _ in found}
    return "one" if len(structs) == 1 else "each its own" if len(structs) == len(found) else "some"


def structs_by_switch(core: Core, differentiable: tuple[str, ...]) -> dict[str, str]:
    """The same, whatever switch is set."""
    observed = {}
    for switch in SWITCHES:
        with switched(core, switch):
            observed[switch] = structs_of(core, differentiable)
    return observed


@check_core(
    "cache.bundle-no-grad-only",
    case="no-grad",
    faults=[faults.no_struct_used_again],
    near_misses=[faults.particles_copied],
)
def reused_without_gradient(core: Core) -> Evidence:
    due = {"default": "one", "without cache": "one", "without reuse": "each its own"}
    return Evidence(structs_by_switch(core, ()), due)


@check_core(
    "cache.bundle-no-grad-only",
    case="grad",
    faults=[faults.one_struct_for_all],
    near_misses=[faults.no_struct_used_again],
)
def never_reused_with_gradient(core: Core) -> Evidence:
    return Evidence(structs_by_switch(core, FLOATS), dict.fromkeys(SWITCHES, "each its own"))


@check_core(
    "cache.bundle-hatch",
    faults=[faults.switch_without_effect, faults.switched_call_rounds_otherwise],
    near_misses=[faults.particles_copied],
)
def hatch(core: Core) -> Evidence:
    given = particles()
    reused = called(core.density, given), called(core.density, given)
    with core.without_reuse():
        fresh = called(core.density, given), called(core.density, given)
        structs = structs_of(core, ())
    return Evidence(
        {"structs": structs, "results": equal(reused, fresh)}, {"structs": "each its own", "results": "equal"}
    )


ROLES = dict(zip(FLOATS, (2, 1, 1), strict=True))
"""How many fields of a struct a tensor of one population fills in a density."""


@check_core(
    "cache.bundle-refresh",
    faults=[faults.masses_of_the_first_call_stay, faults.every_field_written_again],
    near_misses=[faults.particles_copied],
)
def refresh(core: Core) -> Evidence:
    given = particles()
    observed: dict[str, Any] = {"density": {}, "written": {}}
    for changed in ("first call", "nothing", *ROLES, "nothing again"):
        if changed in ROLES:
            given = holding(given, **{changed: getattr(particles(salt=4), changed)})
        before = core.fields_written()
        observed["density"][changed] = judged(core.density, given)
        observed["written"][changed] = core.fields_written() - before
    due = {"first call": observed["written"]["first call"], "nothing": 0, **ROLES, "nothing again": 0}
    return Evidence(observed, {"density": dict.fromkeys(due, "right"), "written": due})
