"""What one expectation says about one record, before it is a check of a verdict."""

from typing import Any, NamedTuple

from hardgate.cases.record import Record

Keys = tuple[str | int, ...]


class Outcome(NamedTuple):
    """`keys` lead to the expectation in the case; `around` are indexes into the record's events.

    `expected` and `observed` are JSON values for people and machines alike. The message says what
    is missing and what is unexpected, and is empty for what passed.
    """

    name: str
    keys: Keys
    passed: bool
    expected: Any
    observed: Any
    message: str = ""
    around: tuple[int, ...] = ()


def calls(count: int, name: str) -> str:
    """`1 call of math.calculate`."""
    return f"{count} {'call' if count == 1 else 'calls'} of {name}"


def events_of_tool(record: Record, name: str) -> tuple[int, ...]:
    """The events that are about one tool; where there is none, the last event."""
    found = [
        index for index, event in enumerate(record.events) if event.payload.get("tool_name") == name
    ]
    return tuple(found) or last_event(record)


def last_event(record: Record, event_type: str | None = None) -> tuple[int, ...]:
    """The last event of a type, or the last of all where the type is not there."""
    for index in range(len(record.events) - 1, -1, -1):
        if event_type is None or record.events[index].type == event_type:
            return (index,)
    return last_event(record) if event_type is not None else ()
