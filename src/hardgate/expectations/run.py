"""Expectations about the run as a whole: how it ended, how long it was, in which order it went."""

from collections.abc import Iterator

from hardgate.cases.record import Record
from hardgate.expectations.outcome import Keys, Outcome, last_event


def terminal_status(expected: str, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check; statuses are compared in upper case."""
    status = expected.upper()
    passed = record.terminal_status == status
    observed = record.terminal_status
    ending = f"ended as {observed}"
    if record.failure_reason is not None:
        ending = f"failed: {record.failure_reason}"
    message = "" if passed else f"the run {ending}"
    yield Outcome("terminal_status", keys, passed, status, observed, message, last_event(record))


def maximum_steps(expected: int, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check."""
    passed = record.step_count <= expected
    message = "" if passed else f"unexpected: {record.step_count - expected} steps too many"
    over = tuple(
        index
        for index, event in enumerate(record.events)
        if event.payload.get("step_number") == expected + 1
    )
    yield Outcome(
        "maximum_steps",
        keys,
        passed,
        f"at most {expected}",
        record.step_count,
        message,
        over[:1] or last_event(record),
    )


def event_order(expected: tuple[str, ...], record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check: the types occur in this order, each at an event of its own.

    The earliest event that fits is always taken, so other events in between change nothing.
    """
    observed = [event.type for event in record.events]
    after = -1
    for number, wanted in enumerate(expected):
        found = next((i for i in range(after + 1, len(observed)) if observed[i] == wanted), None)
        if found is None:
            message = f"missing: {wanted}"
            if number:
                sequence = record.events[after].sequence
                message += f" after {expected[number - 1]} (event {sequence})"
            around = (max(after, 0),) if observed else ()
            yield Outcome(
                "event_order", (*keys, number), False, list(expected), observed, message, around
            )
            return
        after = found
    yield Outcome("event_order", keys, True, list(expected), observed)


def reason_codes(expected: tuple[str, ...], record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check per code."""
    observed = sorted({call.reason_code for call in record.tool_calls if call.reason_code})
    for index, code in enumerate(expected):
        passed = code in observed
        message = "" if passed else f"missing: {code}"
        yield Outcome(
            "reason_codes",
            (*keys, index),
            passed,
            code,
            observed,
            message,
            last_event(record),
        )
