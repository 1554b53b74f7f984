"""What is checked of every run, whatever its case expects."""

from collections.abc import Iterator
from itertools import pairwise

from hardgate.cases.expected import Expected
from hardgate.cases.record import Fault, Record
from hardgate.expectations.outcome import Keys, Outcome, events_of_tool, last_event

FAILED = "FAILED"


def implicit(expected: Expected, record: Record, keys: Keys) -> Iterator[Outcome]:
    """The run did not fail, and the model proposed neither malformed arguments nor invented tools.

    A case may opt out of each, and then the thing has to happen: an unneeded opt-out fails. A case
    that says by itself that the run fails has opted out of the first.
    """
    opted_out = expected.implicit
    errored = record.terminal_status == FAILED or record.failure_reason is not None
    if opted_out.allow_errored_run or not _expects_failure(expected):
        yield _implicit(
            "errored_run",
            opted_out.allow_errored_run,
            [record.failure_reason or record.terminal_status] if errored else [],
            keys,
            last_event(record),
        )
    malformed = [call.name for call in record.tool_calls if call.malformed]
    invented = [call.name for call in record.tool_calls if call.invented]
    for name, allowed, found in (
        ("malformed_arguments", opted_out.allow_malformed_arguments, malformed),
        ("invented_tool", opted_out.allow_invented_tool, invented),
    ):
        around = events_of_tool(record, found[0]) if found else last_event(record)
        yield _implicit(name, allowed, found, keys, around)


def _expects_failure(expected: Expected) -> bool:
    return (
        (expected.terminal_status is not None and expected.terminal_status.upper() == FAILED)
        or expected.failure_reason is not None
        or expected.stop_cause in ("max_turns", "output_token_budget", "cost_budget")
    )


def _implicit(
    name: str, allowed: bool | None, found: list[str], keys: Keys, around: tuple[int, ...]
) -> Outcome:
    opt_out = f"allow_{name}"
    passed = bool(found) if allowed else not found
    message = ""
    if not passed and allowed:
        message = f"the case allows this, but it did not happen: remove {opt_out}"
    elif not passed:
        message = f"unexpected: {', '.join(found)}; a case opts out with implicit.{opt_out}"
    return Outcome(
        f"implicit.{name}",
        (*keys, opt_out) if allowed else keys,
        passed,
        f"at least one {name}" if allowed else f"no {name}",
        found,
        message,
        around,
    )


def fixture(record: Record) -> Iterator[Outcome]:
    """The script was played to its end and not beyond."""
    used_up = record.turns_consumed == record.turns_total
    left = record.turns_total - record.turns_consumed
    yield Outcome(
        "fixture.unconsumed",
        ("model_fixture",),
        used_up,
        f"{_turns(record.turns_total)} played",
        f"{_turns(record.turns_consumed)} played",
        "" if used_up else f"unexpected: left over of the script: {_turns(left)}",
        last_event(record),
    )
    step = record.exhausted_at_step
    yield Outcome(
        "fixture.exhausted",
        ("model_fixture",),
        step is None,
        "no request after the last turn",
        "none" if step is None else f"a request at step {step}",
        "" if step is None else f"missing: a turn for the request at step {step}",
        last_event(record),
    )


def messages(turns: int, record: Record) -> Iterator[Outcome]:
    """Every message of a conversation was sent: each run but the last one completed."""
    passed = record.messages_sent == turns
    yield Outcome(
        "input.messages_sent",
        ("input", "turns"),
        passed,
        turns,
        record.messages_sent,
        "" if passed else f"missing: {turns - record.messages_sent} of {turns} messages",
        last_event(record),
    )


def tool_results(record: Record) -> Iterator[Outcome]:
    """Every call of a tool with recorded results had one."""
    missing = [
        f"{one.tool} at step {one.step}, arguments {one.arguments_sha256}"
        for one in record.missing_tool_results
    ]
    yield Outcome(
        "fixture.missing_tool_result",
        ("fixtures", "tool_results"),
        not missing,
        "a recorded result for every call",
        missing,
        f"missing: a result of {'; '.join(missing)}" if missing else "",
        events_of_tool(record, record.missing_tool_results[0].tool)
        if missing
        else last_event(record),
    )


def faults(found: tuple[Fault, ...], record: Record) -> Iterator[Outcome]:
    """A failed check for each fault that the subject found, and one that it found none."""
    for fault in found:
        around = fault.around or last_event(record)
        yield Outcome(fault.name, (), False, fault.expected, fault.observed, fault.message, around)
    names = sorted({fault.name for fault in found})
    message = f"unexpected: {', '.join(names)}" if names else ""
    yield Outcome("subject.in_order", (), not names, [], names, message, last_event(record))


def record_complete(record: Record) -> Iterator[Outcome]:
    """Something was observed, in an order that can be trusted."""
    sequences = [event.sequence for event in record.events]
    rising = all(before < after for before, after in pairwise(sequences))
    passed = bool(sequences) and rising
    message = "" if passed else "the sequence does not rise" if sequences else "no event at all"
    yield Outcome(
        "record.complete",
        (),
        passed,
        "events with rising sequence numbers",
        f"{len(sequences)} events",
        message,
        last_event(record),
    )


def _turns(count: int) -> str:
    return f"{count} turn" if count == 1 else f"{count} turns"
