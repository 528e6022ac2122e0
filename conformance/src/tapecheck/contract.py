"""What a contract is: its catalogue row, the check that judges it, the evidence that a check returns.

The catalogue (TOML, one file a family) says *what must hold*. A check says *how that is measured*: a plain function
of the subject, registered for one catalogue id with the faults that it must catch and the near misses that it must
not. Registration refuses a check without an id, without a fault or without a near miss.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

import msgspec

Kind = Literal["guarantee", "hazard", "observation"]
Judged = Literal["warp", "bridge", "sph", "core"]
Plant: TypeAlias = Callable[[Any], Any]
"""A fault or a near miss: takes a subject, gives back that subject with something about it changed."""

FAMILIES = (
    *("tape", "retain-grad", "struct", "codegen", "interop", "release"),
    *("bridge", "cache", "abi", "jvp", "hvp", "kinds", "empty", "corrections", "neighbors", "sync", "capture"),
)

SOURCES = {
    "T": "Warp's reference of warp.Tape",
    "R": "Warp's issue 1062 and its release text on retain_grad",
    "A": "the autodiff machinery of a published Warp/torch bridge",
    "D": "Warp's differentiability guide",
    "H": "a known hazard that cost somebody a wrong gradient",
    "ours": "a rule of this project",
}


class Contract(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of the catalogue.

    Attributes:
        id: the name that never changes, `family.what`.
        kind: a *guarantee* is documented, a *hazard* is a trap that exists, an *observation* is documented nowhere and
            pinned release by release.
        judged: what the check judges.
        statement: what must hold, one sentence.
        source: the documents that say so, by the letters of `SOURCES`.
        hint: what to write instead, one line.
        since: first Warp release whose documents promise it.
        until: first Warp release whose documents no longer do.
    """

    id: str
    kind: Kind
    judged: Judged
    statement: str
    source: tuple[str, ...]
    hint: str
    family: str = ""
    since: str | None = None
    until: str | None = None


@cache
def catalogue() -> dict[str, Contract]:
    """Every contract by id, in the order of the families and of their files."""
    contracts: dict[str, Contract] = {}
    for family in FAMILIES:
        text = (files("tapecheck") / "catalogue" / f"{family}.toml").read_bytes()
        for row in msgspec.toml.decode(text, type=dict[str, list[Contract]])["contract"]:
            if row.id in contracts:
                raise ValueError(f"catalogue/{family}.toml: {row.id!r} is declared twice")
            contracts[row.id] = msgspec.structs.replace(row, family=family)
    return contracts


def contract(identifier: str) -> Contract:
    """The contract of that id.

    Raises:
        LookupError: no such id; the message names the nearest ones.
    """
    try:
        return catalogue()[identifier]
    except KeyError:
        if identifier in FAMILIES:
            near = f"; it is a family, `tapecheck list {identifier}` shows its contracts"
        else:
            near = did_you_mean(identifier, catalogue()) or "; `tapecheck list` shows all"
        raise LookupError(f"unknown contract {identifier!r}{near}") from None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """'; did you mean …?' with the nearest of the known names, or nothing."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def checks_named(identifier: str) -> tuple[Contract, list[Check]]:
    """The contract of `id` or `id[case]`, and its checks: all of them, or that case.

    Raises:
        LookupError: no such contract, or no such case.
    """
    row = contract(identifier.partition("[")[0])
    checks = [entry for entry in REGISTRY.values() if entry.contract.id == row.id]
    if identifier == row.id:
        return row, checks
    named = [entry for entry in checks if entry.name == identifier]
    if not named:
        cases = ", ".join(entry.case for entry in checks if entry.case) or "none"
        raise LookupError(f"no such case {identifier!r}; the cases of {row.id}: {cases}")
    return row, named


def outcome_of(action: Callable[[], Any]) -> str:
    """What an action comes to, as evidence: `"RuntimeError: the text"`, or `"no error"`."""
    try:
        action()
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return "no error"


class Blocked(Exception):
    """Raised by a check that cannot judge: something outside the subject is missing or in the way."""


class Evidence(msgspec.Struct):
    """What a check saw, beside what the contract demands.

    Attributes:
        observed: numbers, texts, flags, arrays, nested in dicts and lists as the check likes.
        expected: the same shape; a compiled pattern stands for any text in which it is found. Left out by the check of
            an observation, whose expected value is pinned per release.
        tolerance: largest absolute difference of two numbers that still counts as equal.
    """

    observed: Any
    expected: Any = None
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        self.observed, self.expected = plain(self.observed), plain(self.expected)

    def violations(self) -> list[str]:
        """One sentence for each place where observed and expected differ."""
        return list(_differences("", self.expected, self.observed, self.tolerance))


def plain(value: Any) -> Any:
    """The value as JSON knows it: arrays and tuples become lists, NaN and infinities texts; patterns stay."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (str, bool, int, float, re.Pattern)) or value is None:
        return value
    if hasattr(value, "numpy"):
        value = value.numpy()
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    raise TypeError(f"evidence holds numbers, texts, flags and arrays, not {type(value).__name__}: {value!r}")


def text_of(value: Any) -> str:
    """A value of some evidence as one line."""
    if isinstance(value, re.Pattern):
        return _in_words(value.pattern)
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {text_of(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        shown = [text_of(item) for item in value[:12]] + (["…"] if len(value) > 12 else [])
        return "[" + ", ".join(shown) + "]"
    return str(value)


def _in_words(pattern: str) -> str:
    """What a pattern stands for: its comment where it begins with one, `(?#any error)`, else its text without signs."""
    if comment := re.match(r"\(\?#(.*?)\)", pattern):
        return comment[1]
    text = re.sub(r"\\w\*|\.\*", "…", pattern).replace("|", " or ")
    return re.sub(r"[\^$]|\\b|\\(?=\W)", "", text)


def _differences(where: str, expected: Any, observed: Any, tolerance: float) -> Iterable[str]:
    if isinstance(expected, dict) and isinstance(observed, dict) and expected.keys() == observed.keys():
        for key in expected:
            yield from _differences(f"{where}.{key}" if where else key, expected[key], observed[key], tolerance)
    elif not _equal(expected, observed, tolerance):
        yield f"{where + ': ' if where else ''}expected {text_of(expected)}, observed {text_of(observed)}"


def _equal(expected: Any, observed: Any, tolerance: float) -> bool:
    if isinstance(expected, re.Pattern):
        return isinstance(observed, str) and expected.search(observed) is not None
    if isinstance(expected, list) and isinstance(observed, list):
        pairs = zip(expected, observed, strict=False)
        return len(expected) == len(observed) and all(_equal(e, o, tolerance) for e, o in pairs)
    if isinstance(expected, bool) or isinstance(observed, bool):
        return expected is observed
    if isinstance(expected, (int, float)) and isinstance(observed, (int, float)):
        return abs(expected - observed) <= tolerance
    return bool(expected == observed)


class Check(msgspec.Struct, frozen=True):
    """A registered check: one contract, or one case of it.

    Attributes:
        needs: what the release must offer, as dotted names: `Tape.visualize`, `zeros(retain_grad)`, `torch`.
        isolated: it may end the process or poison it, so it runs in one of its own.
        faults: each breaks the mechanism that the contract is about, and must be caught.
        near_misses: each changes something beside it, and must not be flagged.
        oracle: mends the subject where no release keeps the contract, so that the check is seen to pass.
        seconds: time limit.
        safe: in a hazard, the form to write instead: it is a guarantee, a pass means that it is right.
    """

    contract: Contract
    case: str
    function: Callable[..., Evidence]
    arguments: tuple[Any, ...]
    needs: tuple[str, ...]
    isolated: bool
    faults: tuple[Plant, ...]
    near_misses: tuple[Plant, ...]
    oracle: Plant | None
    seconds: float
    safe: bool

    @property
    def kind(self) -> Kind:
        """What a pass of this check means: that of its contract, or a guarantee where it is the safe form."""
        return "guarantee" if self.safe else self.contract.kind

    @property
    def name(self) -> str:
        """`contract[case]`, the name of the pytest item and of the record."""
        return full_name(self.contract.id, self.case)

    def __call__(self, subject: Any) -> Evidence:
        return self.function(subject, *self.arguments)


def full_name(identifier: str, case: str) -> str:
    """`contract[case]`, or the contract's id alone where it has no cases."""
    return f"{identifier}[{case}]" if case else identifier


REGISTRY: dict[str, Check] = {}
"""Every registered check by its full name."""


def check(
    identifier: str,
    *,
    faults: Sequence[Plant],
    near_misses: Sequence[Plant],
    case: str = "",
    cases: Mapping[str, Any] | None = None,
    needs: Sequence[str] | Callable[[Any], Sequence[str]] = (),
    isolated: bool = False,
    oracle: Plant | None = None,
    seconds: float = 180.0,
    safe: bool | Callable[[Any], bool] = False,
) -> Callable[[Callable[..., Evidence]], Callable[..., Evidence]]:
    """Registers the decorated function `(subject) -> Evidence` as the check of a contract.

    Args:
        identifier: the catalogue id.
        faults: what it must catch; at least one.
        near_misses: what it must not flag; at least one.
        case: the case's name where a contract has several functions.
        cases: name and argument of each case where one function, `(subject, argument) -> Evidence`, serves several.
        needs: names that the release must offer; or a function of a case's argument that gives them.
        isolated: see `Check`.
        oracle: see `Check`.
        seconds: time limit.
        safe: see `Check`; or a function of a case's argument that gives it.

    Raises:
        LookupError: the id is not in the catalogue.
        ValueError: no fault, no near miss, or the name is taken.
    """
    row = contract(identifier)
    for what, given in (("fault", faults), ("near miss", near_misses)):
        if not given:
            raise ValueError(f"{identifier}: a check without a {what} proves nothing; register at least one")

    def register(function: Callable[..., Evidence]) -> Callable[..., Evidence]:
        variants = {case: ()} if cases is None else {name: (argument,) for name, argument in cases.items()}
        for variant, arguments in variants.items():
            entry = Check(
                contract=row,
                case=variant,
                function=function,
                arguments=arguments,
                needs=tuple(needs(*arguments) if callable(needs) else needs),
                isolated=isolated,
                faults=tuple(faults),
                near_misses=tuple(near_misses),
                oracle=oracle,
                seconds=seconds,
                safe=row.kind == "hazard" and bool(safe(*arguments) if callable(safe) else safe),
            )
            if entry.name in REGISTRY:
                raise ValueError(f"{entry.name}: registered twice")
            REGISTRY[entry.name] = entry
        return function

    return register
