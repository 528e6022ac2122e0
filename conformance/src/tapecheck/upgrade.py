"""The verdict of an upgrade: every contract that flips between two releases, and what that means."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from tapecheck.contract import contract, full_name, text_of
from tapecheck.results import Cell, Record
from tapecheck.speed import Speed

Effect = Literal["broken", "trap appeared", "changed", "repaired", "new"]
MEANING: dict[Effect, str] = {
    "broken": "a guarantee that the old release kept and the new one does not",
    "trap appeared": "a hazard that the old release did not have",
    "changed": "documented nowhere, or still violated, and not as before",
    "repaired": "now kept, or a trap now gone: code that leaned on the old behaviour gets other numbers",
    "new": "what the old release does not offer, be it right, wrong or a trap in the new one",
}

UNANSWERED = ("not-run", "untested", "blocked", "error")
"""Outcomes that say nothing about a release."""


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
        safe: no guarantee broke, and the new release answered wherever the old one did.
        flips: what differs, the worst first.
        unanswered: what the old release answered and the new one did not, a sentence each.
        speed: how their speeds compare, None where nobody asked; it never makes an upgrade unsafe.
        only: the families and contracts that were asked about; empty, all.
    """

    old: str
    new: str
    device: str
    safe: bool
    flips: list[Flip]
    unanswered: list[str] = []
    speed: Speed | None = None
    only: list[str] = []

    @property
    def title(self) -> str:
        """Which releases, where, and which part of the contracts."""
        return f"Warp {self.old} → {self.new} on {self.device}" + (f": {', '.join(self.only)}" if self.only else "")

    @property
    def sentence(self) -> str:
        """What it comes to."""
        broken, repaired = self._named("broken"), self._named("repaired")
        said = f"Guarantees broken: {broken}." if broken else "" if self.unanswered else "No guarantee broke."
        other = f"Repaired, so code that leaned on the old behaviour changes: {repaired}." if repaired else ""
        unknown = {line.partition(":")[0].partition("[")[0] for line in self.unanswered}
        return " ".join(filter(None, (said, other, f"No verdict: {len(unknown)} not answered." if unknown else "")))

    def _named(self, effect: Effect) -> str:
        names = list(dict.fromkeys(flip.contract for flip in self.flips if flip.effect == effect))
        return f"{len(names)} ({', '.join(names)})" if names else ""


def compare(old: Cell, new: Cell) -> Verdict:
    """The verdict of leaving one cell for another."""
    after = {record.key: record for record in new.records}
    answered = [record for record in old.records if record.outcome not in UNANSWERED]
    flips = [flip for record in answered if (flip := _flip(record, after.get(record.key))) is not None]
    flips.sort(key=lambda f: (list(MEANING).index(f.effect), f.new_outcome == "pass", f.kind != "hazard"))
    unanswered = [line for record in answered if (line := _unanswered(record, after.get(record.key)))]
    if not answered:
        unanswered.append(f"nothing was judged on Warp {old.header.warp}")
    return Verdict(
        old=old.header.warp,
        new=new.header.warp,
        device=new.header.device,
        safe=not unanswered and not any(flip.effect == "broken" for flip in flips),
        flips=flips,
        unanswered=unanswered,
    )


def _unanswered(old: Record, new: Record | None) -> str | None:
    if new is not None and new.outcome not in UNANSWERED:
        return None
    name = full_name(*old.key)
    if new is None:
        return f"{name}: {old.outcome} on Warp {old.warp}, and no record on the other"
    return (
        f"{name}: {old.outcome} on Warp {old.warp}, {new.outcome} on {new.warp}: {' '.join(new.message.split())[:200]}"
    )


def _flip(old: Record, new: Record | None) -> Flip | None:
    effect = _effect(old, new) if new and new.outcome not in UNANSWERED else None
    if new is None or effect is None:
        return None
    row = contract(new.contract)
    changes = [f"{where}Warp {old.warp}: {a}; Warp {new.warp}: {b}" for where, a, b in _changes("", *_sides(old, new))]
    return Flip(
        contract=row.id,
        case=new.case,
        kind=new.kind,
        effect=effect,
        statement=row.statement,
        old_outcome=old.outcome,
        new_outcome=new.outcome,
        changes=changes,
        hint=row.hint,
    )


def _effect(old: Record, new: Record) -> Effect | None:
    if old.outcome == "unsupported" != new.outcome:
        return "new"
    kept, keeps = old.outcome == "pass", new.outcome == "pass"
    if new.kind == "observation" and {old.outcome, new.outcome} <= {"pass", "fail"}:
        return "changed" if old.observed != new.observed else None
    if old.outcome == new.outcome:
        return "changed" if not keeps and _sides(old, new)[0] != _sides(old, new)[1] else None
    if new.kind == "hazard":
        return "trap appeared" if keeps else "repaired" if kept and new.outcome == "fail" else "changed"
    if new.kind == "guarantee" and kept:
        return "broken"
    if keeps:
        return "repaired" if new.kind == "guarantee" else "changed"
    return "changed"


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
