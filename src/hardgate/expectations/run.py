"""Expectations about the run as a whole: how it ended, and what it took to get there."""

from collections.abc import Iterator
from typing import Any

from hardgate.cases.record import Record
from hardgate.expectations.outcome import Keys, Outcome, last_event


def terminal_status(expected: str, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check; statuses are compared in upper case."""
    status = expected.upper()
    passed = record.terminal_status == status
    message = "" if passed else f"the run {_ending(record)}"
    yield Outcome(
        "terminal_status",
        keys,
        passed,
        status,
        record.terminal_status,
        message,
        last_event(record),
    )


def _ending(record: Record) -> str:
    if record.failure_reason is not None:
        return f"failed: {record.failure_reason}"
    return f"ended as {record.terminal_status}"


def failure_reason(expected: str, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check: the run failed, and for this reason."""
    passed = record.terminal_status == "FAILED" and record.failure_reason == expected
    message = "" if passed else f"the run {_ending(record)}"
    yield Outcome(
        "failure_reason",
        keys,
        passed,
        expected,
        record.failure_reason,
        message,
        last_event(record),
    )


_CAUSES = {
    ("COMPLETED", None, None): "completed",
    ("CANCELLED", None, None): "interrupted",
    ("FAILED", "max_steps_exceeded", None): "max_turns",
    ("FAILED", "budget_exceeded", "output_tokens"): "output_token_budget",
    ("FAILED", "budget_exceeded", "cost_micros"): "cost_budget",
}


def stop_cause(expected: str, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check; a run that stopped for any other cause has none of these."""
    reason = record.failure_reason
    exceeded = record.exceeded if reason == "budget_exceeded" else None
    observed = _CAUSES.get((record.terminal_status, reason, exceeded))
    message = ""
    if observed != expected:
        of_budget = f" ({exceeded})" if exceeded else ""
        message = f"the run {_ending(record)}{of_budget}"
    yield Outcome(
        "stop_cause", keys, observed == expected, expected, observed, message, last_event(record)
    )


def maximum_steps(expected: int, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check."""
    over = tuple(
        index
        for index, event in enumerate(record.events)
        if event.payload.get("step_number") == expected + 1
    )
    yield _at_most("maximum_steps", "steps", expected, record.step_count, record, keys, over[:1])


def maximum_model_calls(expected: int, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check; failed attempts count."""
    made = record.model_call_count
    yield _at_most("maximum_model_calls", "model calls", expected, made, record, keys)


def maximum_tool_calls(expected: int, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check."""
    made = record.tool_call_count
    yield _at_most("maximum_tool_calls", "tool calls", expected, made, record, keys)


def _at_most(
    name: str,
    what: str,
    expected: int,
    observed: int,
    record: Record,
    keys: Keys,
    around: tuple[int, ...] = (),
) -> Outcome:
    passed = observed <= expected
    message = "" if passed else f"unexpected: {observed - expected} {what} too many"
    bound = f"at most {expected}"
    return Outcome(name, keys, passed, bound, observed, message, around or last_event(record))


def model_calls(expected: int, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check; failed attempts count."""
    yield exactly("model_calls", expected, record.model_call_count, record, keys)


def exactly(name: str, expected: Any, observed: Any, record: Record, keys: Keys) -> Outcome:
    """A check that a value is exactly this; None stands for what the subject cannot tell."""
    message = ""
    if observed is None:
        message = "the subject does not say"
    elif observed != expected:
        message = f"expected {expected}, found {observed}"
    return Outcome(name, keys, not message, expected, observed, message, last_event(record))


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
