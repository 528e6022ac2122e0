"""Rewrites an expectation file so that it says what was observed, and keeps its comments and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import tomlkit
from tomlkit.items import AoT, Comment, Table, Whitespace

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
    document = tomlkit.parse(path.read_text())
    done: list[str] = []
    dropped: list[Entry] = []
    for name, entries in (("deviation", expectations.deviation), ("pin", expectations.pin)):
        listed = document.get(name, tomlkit.aot())
        for index in reversed(range(len(entries))):
            if not _holds(entries[index], expectations, matrix):
                dropped.append(entries[index])
                _remove(listed, index)
                done.append(f"removed {entries[index].name}")
    uncovered = _uncovered([entry for entry in expectations.entries if entry not in dropped], matrix)
    for entry in _entries_for(uncovered, dropped):
        name = "pin" if isinstance(entry, Pin) else "deviation"
        document.setdefault(name, tomlkit.aot()).append(_table(entry))
        done.append(f"wrote {entry.name}")
    for name in ("deviation", "pin"):
        if name in document and not document[name]:
            del document[name]
    path.write_text(tomlkit.dumps(document))
    return done


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


def _entries_for(records: Sequence[Record], dropped: Sequence[Entry]) -> list[Entry]:
    """One entry for each run of neighbouring releases on which a check came to the same."""
    order = list(releases())
    found: list[Entry] = []
    ordered = sorted(records, key=lambda record: (*record.key, record.device, order.index(record.warp)))
    for _, group in groupby(ordered, lambda record: (record.key, record.device)):
        run: list[Record] = []
        for record in (*group, None):
            neighbours = run and record and order.index(record.warp) == order.index(run[-1].warp) + 1
            if run and not (record and neighbours and _entry(record) == _entry(run[-1])):
                found.append(_with_reason(msgspec.structs.replace(_entry(run[0]), when=_when(order, run)), dropped))
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


def _with_reason(entry: Entry, dropped: Sequence[Entry]) -> Entry:
    """The entry with the reason of a dropped one that said the same of other releases."""
    for old in dropped:
        if old.speaks_of(entry.contract, entry.case) and (
            (isinstance(entry, Pin) and isinstance(old, Pin) and entry.value == old.value)
            or (
                isinstance(entry, Deviation)
                and isinstance(old, Deviation)
                and entry.outcome == old.outcome
                and old.message in entry.message
            )
        ):
            return msgspec.structs.replace(entry, reason=old.reason, link=old.link)
    return entry


def _remove(listed: AoT, index: int) -> None:
    """Drops an entry; the comments that follow it in the file belong to the next one, and move to the one before."""
    body = listed[index].value.body
    last = max((at for at, (key, _) in enumerate(body) if key is not None), default=-1)
    trailing = [item for key, item in body[last + 1 :] if isinstance(item, (Comment, Whitespace))]
    if index and any(isinstance(item, Comment) for item in trailing):
        for item in trailing:
            listed[index - 1].value.append(None, item)
    del listed[index]


def _table(entry: Entry) -> Table:
    table = tomlkit.table()
    for name, value in msgspec.to_builtins(entry).items():
        if value not in ("", None):
            table.add(name, tomlkit.item(_inline(value)))
    table.add(tomlkit.nl())
    return table


def _inline(value: Any) -> Any:
    if isinstance(value, dict):
        inline = tomlkit.inline_table()
        for key, item in value.items():
            inline.add(key, _inline(item))
        return inline
    return value
