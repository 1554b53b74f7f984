"""Expectations about which tools the model proposed, and what became of the calls together."""

from collections import Counter
from collections.abc import Iterator

from hardgate.cases.record import Record
from hardgate.expectations.outcome import Keys, Outcome, calls, events_of_tool, last_event

_NOT_DONE = frozenset({"FAILED", "UNCERTAIN"})


def tools(expected: tuple[str, ...], record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check per tool: it is proposed at least as often as it is listed."""
    wanted = Counter(expected)
    made = Counter(call.name for call in record.tool_calls)
    for name, count in wanted.items():
        missing = count - made[name]
        yield Outcome(
            "tools",
            (*keys, expected.index(name)),
            missing <= 0,
            f"at least {calls(count, name)}",
            calls(made[name], name),
            f"missing: {calls(missing, name)}" if missing > 0 else "",
            events_of_tool(record, name),
        )


def tools_in_order(expected: tuple[str, ...], record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check: the proposals contain these, in this order."""
    names = [call.name for call in record.tool_calls]
    after = 0
    for number, wanted in enumerate(expected):
        if wanted not in names[after:]:
            message = f"missing: {wanted}" + (f" after {expected[number - 1]}" if number else "")
            around = events_of_tool(record, wanted)
            yield Outcome(
                "tools_in_order", (*keys, number), False, list(expected), names, message, around
            )
            return
        after = names.index(wanted, after) + 1
    yield Outcome("tools_in_order", keys, True, list(expected), names)


def forbidden_tool_calls(
    expected: tuple[str, ...], record: Record, keys: Keys
) -> Iterator[Outcome]:
    """One check per name; a call counts when it is proposed, whatever becomes of it."""
    for index, name in enumerate(expected):
        made = sum(call.name == name for call in record.tool_calls)
        yield Outcome(
            "forbidden_tool_calls",
            (*keys, index),
            not made,
            calls(0, name),
            calls(made, name),
            f"unexpected: {calls(made, name)}" if made else "",
            events_of_tool(record, name),
        )


def no_tools(expected: bool, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check."""
    names = [call.name for call in record.tool_calls]
    message = f"unexpected: {', '.join(names)}" if names else ""
    around = events_of_tool(record, names[0]) if names else ()
    yield Outcome("no_tools", keys, not names, [], names, message, around)


def tool_started_count(expected: int, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check."""
    started = [call.name for call in record.tool_calls if call.started]
    passed = len(started) == expected
    message = "" if passed else f"started: {', '.join(started) or 'none'}"
    around = events_of_tool(record, started[0]) if started else last_event(record)
    yield Outcome("tool_started_count", keys, passed, expected, len(started), message, around)


def ended_on_failed_call(expected: bool, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check: the run completed, and the last call that was started did not succeed.

    Calls that were denied or never started do not count; a run that did not complete by itself has
    not ended on a failed call, whatever its calls.
    """
    started = [call for call in record.tool_calls if call.started]
    failed = bool(started) and started[-1].status in _NOT_DONE
    observed = record.terminal_status == "COMPLETED" and failed
    message = ""
    if observed != expected:
        last = f"{started[-1].name} {started[-1].status}" if started else "no call was started"
        message = f"the run ended as {record.terminal_status}; its last call: {last}"
    around = events_of_tool(record, started[-1].name) if started else last_event(record)
    yield Outcome(
        "ended_on_failed_call", keys, observed == expected, expected, observed, message, around
    )
