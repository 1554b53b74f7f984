"""Expectations about what the conversation holds, and what the runtime did about it."""

from collections.abc import Iterator, Mapping

from hardgate.cases.expected import ExpectedSpan, Taint
from hardgate.cases.record import ObservedItem, Record
from hardgate.expectations.outcome import Keys, Outcome, last_event
from hardgate.expectations.run import exactly

_APPROVAL_REQUESTED = "approval.requested"
_COMPACTED = "context.compacted"
_REQUEST = "model.request.started"


def taint(expected: Taint, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check per label."""
    if expected.private is not None:
        place = (*keys, "private")
        yield exactly("taint.private", expected.private, record.private, record, place)
    if expected.untrusted is not None:
        place = (*keys, "untrusted")
        yield exactly("taint.untrusted", expected.untrusted, record.untrusted, record, place)


def trust(expected: tuple[ExpectedSpan, ...], record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check per entry: such pieces exist, and each of them carries the labels."""
    for index, entry in enumerate(expected):
        found = [item for item in record.items or () if _selected(item, entry)]
        labels = [{"level": item.trust, "private": item.private} for item in found]
        wrong = [item for item in found if not _labelled(item, entry)]
        if record.items is None:
            message = "the subject does not say"
        elif not found:
            message = "missing: no such piece of the conversation"
        elif wrong:
            message = f"unexpected: {', '.join(sorted({item.trust for item in wrong}))}"
        else:
            message = ""
        wanted = entry.model_dump(exclude_none=True)
        yield Outcome(
            "trust", (*keys, index), not message, wanted, labels, message, last_event(record)
        )


def _selected(item: ObservedItem, entry: ExpectedSpan) -> bool:
    return (
        item.kind == entry.item
        and entry.tool in (None, item.tool)
        and entry.call_id in (None, item.call_id)
    )


def _labelled(item: ObservedItem, entry: ExpectedSpan) -> bool:
    return item.trust == entry.level and entry.private in (None, item.private)


def distinct_prefixes(expected: int, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check: the number of different prefixes in all requests to the model."""
    prefixes = {
        event.payload["prefix_sha256"]
        for event in record.events
        if event.type == _REQUEST and "prefix_sha256" in event.payload
    }
    yield exactly("distinct_prefixes", expected, len(prefixes) or None, record, keys)


def minimum_compactions(expected: int, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check."""
    found = _count(record, _COMPACTED)
    passed = found >= expected
    message = "" if passed else f"missing: {expected - found}"
    around = last_event(record, _COMPACTED)
    bound = f"at least {expected}"
    yield Outcome("minimum_compactions", keys, passed, bound, found, message, around)


def approval_requested(expected: bool, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check: at least one approval was requested, or none was."""
    found = _count(record, _APPROVAL_REQUESTED)
    passed = bool(found) == expected
    message = "" if passed else "missing: a request" if expected else f"unexpected: {found}"
    around = last_event(record, _APPROVAL_REQUESTED)
    wanted = "at least 1" if expected else "0"
    yield Outcome("approval_requested", keys, passed, wanted, found, message, around)


def _count(record: Record, event_type: str) -> int:
    return sum(event.type == event_type for event in record.events)


def pending_approvals(expected: int, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check."""
    yield exactly("pending_approvals", expected, record.pending_approvals, record, keys)


def blocked_sends(expected: int, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check."""
    yield exactly("blocked_sends", expected, record.blocked_sends, record, keys)


def metrics(expected: Mapping[str, int], record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check per counter."""
    for name, value in expected.items():
        observed = None if record.metrics is None else record.metrics.get(name, 0)
        outcome = exactly("metrics", value, observed, record, (*keys, name))
        message = f"{name}: {outcome.message}" if outcome.message else ""
        yield outcome._replace(message=message)
