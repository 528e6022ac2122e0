"""Rewrites an expectation file so that it says what was observed, and keeps its comments and reasons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import tomlkit

from tapecheck.expectations import Deviation, Entry, Expectations, Pin
from tapecheck.matrix import Matrix
from tapecheck.releases import releases
from tapecheck.results import NOT_JUDGED, Record

TODO = "TODO: say why"


class CannotFix(Exception):
    """The results do not cover what the file speaks of; the text says what is missing."""


def fix(path: Path, expectations: Expectations, matrix: Matrix) -> list[str]:
    """Brings a file up to date with complete results of every release of the matrix.

    Entries that hold stay as they are. An entry that does not is dropped, and what was observed instead is written at
    the end: with the dropped reason where that says the same of other releases, else with `TODO: say why`, which the
    next run refuses.

    Returns:
        What was done, a line an entry.

    Raises:
        CannotFix: a result is partial, or a release of the matrix has none.
    """
    _refuse_partial(matrix)
    parts = _parts(path.read_text())
    texts = {kind: [part for part in parts if part.startswith(f"[[{kind}]]")] for kind in ("deviation", "pin")}
    listed = list(zip(expectations.entries, [*texts["deviation"], *texts["pin"]], strict=True))
    gone = [entry for entry, _ in listed if not _holds(entry, expectations, matrix)]
    for _ in range(2):  # the second time, entries that can be widened to what has no entry yet give way too
        uncovered = _uncovered([entry for entry, _ in listed if entry not in gone], matrix)
        gone += [e for e, _ in listed if e not in gone and any(_says(e, _entry(record)) for record in uncovered)]
    wanted = _entries_for(uncovered, gone)
    if not (gone or wanted):
        return []
    for text in [text for entry, text in listed if entry in gone]:
        parts.remove(text)
    path.write_text("\n".join([*(part.strip() + "\n" for part in parts if part.strip()), *map(_written, wanted)]))
    return [*(f"removed {entry.name}" for entry in gone), *(f"wrote {entry.name}" for entry in wanted)]


def _parts(text: str) -> list[str]:
    """The text cut into entries and what stands between them: a comment above an entry is a part of its own."""
    parts: list[str] = []
    for block in re.split(r"^(?=\[\[(?:deviation|pin)\]\])", text.rstrip() + "\n", flags=re.MULTILINE):
        entry = re.sub(r"(?:^(?:#.*)?\n)*\Z", "", block, flags=re.MULTILINE)
        parts += [part for part in (entry, block[len(entry) :]) if part]
    return parts


def _refuse_partial(matrix: Matrix) -> None:
    judged = {cell.header.warp for cell in matrix.cells if cell.header.full}
    partial = [cell.name for cell in matrix.cells if not cell.header.full]
    absent = [version for version in releases() if version not in judged]
    if partial:
        raise CannotFix(f"a partial run says nothing about the rest: {', '.join(partial)}; run it whole")
    if absent:
        raise CannotFix(f"the file speaks of every release of the matrix; there is no result for {', '.join(absent)}")


def _holds(entry: Entry, expectations: Expectations, matrix: Matrix) -> bool:
    """Whether every record that an entry speaks of came as it says, and at least one in each cell that it covers."""
    alone = msgspec.structs.replace(
        expectations,
        deviation=[entry] if isinstance(entry, Deviation) else [],
        pin=[entry] if isinstance(entry, Pin) else [],
    )
    for cell in matrix.cells:
        if not entry.covers(cell.header.warp, cell.header.device) or not _judged(cell.records):
            continue
        mine = [record for record in _judged(cell.records) if entry.speaks_of(*record.key)]
        if not mine or any(alone.settle(record).expectation != "expected" for record in mine):
            return False
    return True


def _judged(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.outcome not in NOT_JUDGED]


def _uncovered(kept: Sequence[Entry], matrix: Matrix) -> list[Record]:
    """Records on releases of the matrix that need an entry and have none."""
    return [
        record
        for record in _judged(matrix.records)
        if record.warp in releases()
        and (record.outcome != "pass" or record.kind == "observation")
        and not any(e.speaks_of(*record.key) and e.covers(record.warp, record.device) for e in kept)
    ]


def _entries_for(records: Sequence[Record], gone: Sequence[Entry]) -> list[Entry]:
    """One entry for each run of neighbouring releases on which a check came to the same."""
    order = list(releases())
    found: list[Entry] = []
    ordered = sorted(records, key=lambda record: (*record.key, record.device, order.index(record.warp)))
    for _, group in groupby(ordered, lambda record: (record.key, record.device)):
        run: list[Record] = []
        for record in (*group, None):
            neighbours = run and record and order.index(record.warp) == order.index(run[-1].warp) + 1
            if run and not (record and neighbours and _entry(record) == _entry(run[-1])):
                found.append(_with_reason(msgspec.structs.replace(_entry(run[0]), when=_when(order, run)), gone))
                run = []
            if record:
                run.append(record)
    return found


def _entry(record: Record) -> Entry:
    place = {"contract": record.contract, "case": record.case, "reason": TODO}
    if record.kind == "observation" and record.outcome in ("pass", "fail"):
        return Pin(**place, value=record.observed)
    return Deviation(**place, outcome=record.outcome, message=record.message.strip().splitlines()[-1])


def _when(order: Sequence[str], run: Sequence[Record]) -> str:
    first, last = order.index(run[0].warp), order.index(run[-1].warp)
    parts = [f">={order[first]}"] if first else []
    parts += [f"<{order[last + 1]}"] if last + 1 < len(order) else []
    return ",".join(parts)


def _with_reason(entry: Entry, gone: Sequence[Entry]) -> Entry:
    """The entry with the reason of one that said the same of other releases."""
    old = next((old for old in gone if _says(old, entry)), None)
    return msgspec.structs.replace(entry, reason=old.reason, link=old.link) if old else entry


def _says(old: Entry, new: Entry) -> bool:
    """Whether an entry of the file says of some releases what a new one says of others."""
    if not old.speaks_of(new.contract, new.case):
        return False
    if isinstance(old, Deviation) and isinstance(new, Deviation):
        return old.outcome == new.outcome and old.message in new.message
    return isinstance(old, Pin) and isinstance(new, Pin) and old.value == new.value


def _written(entry: Entry) -> str:
    fields = {name: value for name, value in msgspec.to_builtins(entry).items() if value not in ("", None)}
    document = tomlkit.document()
    listed = tomlkit.aot()
    table = tomlkit.table()
    for name in ("contract", "case", "when", "device", "outcome", "message", "value", "reason", "link"):
        if name in fields:
            table.add(name, _inline(fields[name]))
    listed.append(table)
    document.add("pin" if isinstance(entry, Pin) else "deviation", listed)
    return tomlkit.dumps(document)


def _inline(value: Any) -> Any:
    if isinstance(value, dict):
        inline = tomlkit.inline_table()
        for key, item in value.items():
            inline.add(key, _inline(item))
        return inline
    return value
