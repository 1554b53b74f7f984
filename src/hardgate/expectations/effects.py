"""What is on for every run: no effect and no changed file that the case does not list."""

from collections import Counter
from collections.abc import Iterator, Sequence

from hardgate.cases.expected import ExpectedEffect, ExpectedFiles
from hardgate.cases.record import REPORTED, UNKNOWN, FileChanges, Record
from hardgate.expectations.outcome import Keys, Outcome, calls, events_of_tool, last_event


def effects(expected: tuple[ExpectedEffect, ...], record: Record, keys: Keys) -> Iterator[Outcome]:
    """The effect watermarks that are set, as a multiset of tools; one check more per entry that
    expects a clear one; and that no tool which has effects forgot to set it.

    Only a runtime's own records tell the latter. Of an agent that does not report its effects
    nothing is known and so nothing is checked.
    """
    if record.effects_from == UNKNOWN:
        return
    wanted = Counter({one.tool: one.count for one in expected if one.watermark == "set"})
    sent = Counter(call.name for call in record.tool_calls if call.effect_sent)
    missing, unexpected = wanted - sent, sent - wanted
    parts = [f"missing: {_counted(missing)}"] if missing else []
    parts += [f"unexpected: {_counted(unexpected)}"] if unexpected else []
    around = [index for name in sorted(unexpected) for index in events_of_tool(record, name)]
    yield Outcome(
        "effects",
        keys,
        wanted == sent,
        _listed(wanted),
        _listed(sent),
        "; ".join(parts),
        tuple(around),
    )
    for index, entry in enumerate(expected):
        if entry.watermark == "clear":
            yield _clear(entry, record, (*keys, index))
    if record.effects_from == REPORTED:
        return
    forgetful = [call.name for call in record.tool_calls if call.missing_watermark]
    yield Outcome(
        "effects.missing_watermark",
        keys,
        not forgetful,
        "a watermark for every success of a tool that is not idempotent",
        forgetful,
        f"missing: the watermark of {', '.join(forgetful)}" if forgetful else "",
        events_of_tool(record, forgetful[0]) if forgetful else last_event(record),
    )


def _clear(entry: ExpectedEffect, record: Record, keys: Keys) -> Outcome:
    clear = sum(
        call.name == entry.tool and call.started and not call.effect_sent
        for call in record.tool_calls
    )
    passed = clear == entry.count
    return Outcome(
        "effects.clear",
        keys,
        passed,
        f"{calls(entry.count, entry.tool)} started and without effect",
        calls(clear, entry.tool),
        "" if passed else f"expected {entry.count}, found {clear}",
        events_of_tool(record, entry.tool),
    )


def workspace(
    expected: ExpectedFiles, changes: FileChanges, record: Record, keys: Keys
) -> Iterator[Outcome]:
    """One check: the files that are new, different and gone are exactly these."""
    parts: list[str] = []
    for change in ("created", "changed", "removed"):
        wanted, found = set(getattr(expected, change)), set(getattr(changes, change))
        parts += _difference(f"missing, not {change}", wanted - found)
        parts += _difference(f"unexpected, {change}", found - wanted)
    yield Outcome(
        "workspace",
        keys,
        not parts,
        {change: sorted(getattr(expected, change)) for change in FileChanges._fields},
        {change: list(getattr(changes, change)) for change in FileChanges._fields},
        "; ".join(parts),
        last_event(record) if parts else (),
    )


def _difference(words: str, paths: Sequence[str] | set[str]) -> list[str]:
    return [f"{words}: {', '.join(sorted(paths))}"] if paths else []


def _listed(effects: Counter[str]) -> list[dict[str, str | int]]:
    return [{"tool": tool, "count": count} for tool, count in sorted(effects.items())]


def _counted(effects: Counter[str]) -> str:
    return ", ".join(f"{tool} ({count})" for tool, count in sorted(effects.items()))
