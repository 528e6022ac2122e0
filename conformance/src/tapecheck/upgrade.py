"""The verdict of an upgrade: every contract that flips between two releases, and what that means."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from tapecheck.contract import contract, full_name, text_of
from tapecheck.results import NOT_JUDGED, Cell, Record
from tapecheck.speed import Speed

Effect = Literal["broken", "trap appeared", "changed", "gained", "repaired"]
MEANING: dict[Effect, str] = {
    "broken": "a guarantee that the old release kept and the new one does not",
    "trap appeared": "a hazard that the old release did not have",
    "changed": "documented nowhere, or still violated, and not as before",
    "gained": "what the old release did not offer",
    "repaired": "now kept, or a trap now gone: code that leaned on the old behaviour gets other numbers",
}


class Flip(msgspec.Struct, kw_only=True):
    """One contract whose outcome or value differs between two releases."""

    contract: str
    case: str
    kind: str
    effect: Effect
    statement: str
    old_outcome: str
    new_outcome: str
    changes: list[str]
    hint: str

    @property
    def name(self) -> str:
        return full_name(self.contract, self.case)


class Verdict(msgspec.Struct, kw_only=True):
    """What an upgrade changes.

    Attributes:
        old: the release that is left.
        new: the release that is taken.
        device: where both were judged.
        safe: no guarantee broke.
        flips: what differs, the worst first.
        speed: how their speeds compare, None where nobody asked; it never makes an upgrade unsafe.
    """

    old: str
    new: str
    device: str
    safe: bool
    flips: list[Flip]
    speed: Speed | None = None


def compare(old: Cell, new: Cell) -> Verdict:
    """The verdict of leaving one cell for another."""
    after = {record.key: record for record in new.records}
    flips = [
        flip for record in old.records if record.key in after and (flip := _flip(record, after[record.key])) is not None
    ]
    flips.sort(key=lambda flip: list(MEANING).index(flip.effect))
    return Verdict(
        old=old.header.warp,
        new=new.header.warp,
        device=new.header.device,
        safe=not any(flip.effect == "broken" for flip in flips),
        flips=flips,
    )


def _flip(old: Record, new: Record) -> Flip | None:
    effect = _effect(old, new)
    if effect is None:
        return None
    row = contract(new.contract)
    changes = [f"{where}Warp {old.warp}: {a}; Warp {new.warp}: {b}" for where, a, b in _changes("", *_sides(old, new))]
    return Flip(
        contract=row.id,
        case=new.case,
        kind=row.kind,
        effect=effect,
        statement=row.statement,
        old_outcome=old.outcome,
        new_outcome=new.outcome,
        changes=changes,
        hint=row.hint,
    )


def _effect(old: Record, new: Record) -> Effect | None:
    if {old.outcome, new.outcome} & set(NOT_JUDGED):
        return None
    if old.kind == "observation" and old.outcome in ("pass", "fail") and new.outcome in ("pass", "fail"):
        return "changed" if old.observed != new.observed else None
    if old.outcome == new.outcome:
        return "changed" if new.outcome != "pass" and _sides(old, new)[0] != _sides(old, new)[1] else None
    if old.outcome == "unsupported":
        return "trap appeared" if new.kind == "hazard" and new.outcome == "pass" else "gained"
    if old.kind == "hazard":
        return "repaired" if old.outcome == "pass" else "trap appeared" if new.outcome == "pass" else "changed"
    return "broken" if old.outcome == "pass" else "repaired" if new.outcome == "pass" else "changed"


def _sides(old: Record, new: Record) -> tuple[Any, Any]:
    """What to hold side by side: the observed values, or the messages where one side has none."""
    if old.observed is None or new.observed is None:
        return old.message or text_of(old.observed), new.message or text_of(new.observed)
    return old.observed, new.observed


def _changes(where: str, old: Any, new: Any) -> list[tuple[str, str, str]]:
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        inner = [_changes(f"{where}.{key}" if where else key, old[key], new[key]) for key in old]
        return [change for changes in inner for change in changes]
    return [] if old == new else [(f"{where}: " if where else "", text_of(old), text_of(new))]
