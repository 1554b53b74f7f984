"""Expectations about the event log: which events come after which."""

from collections.abc import Iterator

from hardgate.cases.expected import EventFilter
from hardgate.cases.record import ObservedEvent, Record
from hardgate.expectations.outcome import Keys, Outcome


def event_order(
    expected: tuple[str | EventFilter, ...], record: Record, keys: Keys
) -> Iterator[Outcome]:
    """One check: these occur in this order, each at an event of its own.

    The earliest event that fits is always taken, so other events in between change nothing.
    """
    wanted = [_named(one) for one in expected]
    observed = [event.type for event in record.events]
    after = -1
    for number, one in enumerate(expected):
        fitting = (
            index
            for index in range(after + 1, len(record.events))
            if _fits(record.events[index], one)
        )
        found = next(fitting, None)
        if found is None:
            message = f"missing: {wanted[number]}"
            if number:
                sequence = record.events[after].sequence
                message += f" after {wanted[number - 1]} (event {sequence})"
            around = (max(after, 0),) if observed else ()
            place = (*keys, number)
            yield Outcome("event_order", place, False, wanted, observed, message, around)
            return
        after = found
    yield Outcome("event_order", keys, True, wanted, observed)


def _fits(event: ObservedEvent, wanted: str | EventFilter) -> bool:
    if isinstance(wanted, str):
        return event.type == wanted
    payload = event.payload
    return (
        event.type == wanted.event
        and wanted.tool in (None, payload.get("tool_name"))
        and wanted.call_id in (None, payload.get("call_id"))
        and wanted.step in (None, payload.get("step_number"))
    )


def _named(wanted: str | EventFilter) -> str:
    if isinstance(wanted, str):
        return wanted
    facts = [
        f"{name} {value}"
        for name, value in (
            ("tool", wanted.tool),
            ("call_id", wanted.call_id),
            ("step", wanted.step),
        )
        if value is not None
    ]
    return f"{wanted.event} ({', '.join(facts)})" if facts else wanted.event
