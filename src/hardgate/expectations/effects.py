"""The expectation that is on for every run: no effect that the case does not list."""

from collections import Counter
from collections.abc import Iterator, Sequence

from hardgate.cases.model import ExpectedEffect
from hardgate.cases.record import Record
from hardgate.expectations.outcome import Keys, Outcome, events_of_tool


def effects(
    expected: tuple[ExpectedEffect, ...],
    record: Record,
    keys: Keys,
    files: Sequence[str] = (),
) -> Iterator[Outcome]:
    """Two checks: the effect watermarks, as a multiset of tools, and the files of the workspace.

    `files` are the paths that the run left in its workspace, which was empty before.
    """
    wanted = Counter({effect.tool: effect.count for effect in expected})
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
    yield Outcome(
        "effects.workspace",
        keys,
        not files,
        [],
        list(files),
        f"unexpected files: {', '.join(files)}" if files else "",
    )


def _listed(effects: Counter[str]) -> list[dict[str, str | int]]:
    return [{"tool": tool, "count": count} for tool, count in sorted(effects.items())]


def _counted(effects: Counter[str]) -> str:
    return ", ".join(f"{tool} ({count})" for tool, count in sorted(effects.items()))
