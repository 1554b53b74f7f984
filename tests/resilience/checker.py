"""What has to hold once everything has come to its end, whatever happened on the way.

`collect` reads a store, with nothing of the runtime's services but the projector; `violations` holds
what it found against what the world and the processes know themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from agent_core.application.projector import Projector
from agent_core.application.rebuild import restored
from agent_core.domain.context import Transcript
from agent_core.domain.events import ActorType, Event, EventType
from agent_core.domain.hooks import HookTask
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.projections import PROJECTIONS, ProjectedState
from agent_core.domain.recorded_turns import RecordedTurn
from agent_core.domain.reviews import EffectReview
from agent_core.domain.runs import FailureReason, Run, RunStatus
from agent_core.domain.tools import IdempotencyClass
from agent_core.ports.persistence import UnitOfWork, UnitOfWorkFactory
from tests.resilience.world import Effect

_ENDS = frozenset({EventType.RUN_COMPLETED, EventType.RUN_FAILED, EventType.RUN_CANCELLED})
_NOT_OF_A_HOLDER = frozenset({EventType.RUN_CLAIMED, EventType.RUN_REQUEUED, EventType.RUN_FENCED})
"""What a process writes about a run that it does not hold, or not yet."""


class Violation(NamedTuple):
    """A rule that does not hold, and where."""

    rule: str
    what: str


class RunRecord(NamedTuple):
    """Everything on record about one run; `transcript` is the last checkpoint's, None without one,
    and `rebuilt` what the log and the records make of it."""

    run: Run
    calls: tuple[ToolInvocation, ...]
    turns: tuple[RecordedTurn, ...]
    reviews: tuple[EffectReview, ...]
    hooks: tuple[HookTask, ...]
    transcript: Transcript | None
    rebuilt: Transcript | None


class SessionRecord(NamedTuple):
    """Everything on record about one session; `projected` has pairs of what was kept and what a
    rebuild gives."""

    session_id: str
    events: tuple[Event, ...]
    runs: tuple[RunRecord, ...]
    projected: tuple[tuple[ProjectedState, ProjectedState], ...]


class Observed(NamedTuple):
    """What others than the store know.

    `effects`: the world's record, in its order. `writers`: which process committed an event, by
    the event's id, as far as it lived to tell. `seen`: the sequences that a reader of a session
    was given, in the order in which it was. `withdrawn`: the sequences of a session that were given
    to events which were rolled back. `errors`: what broke a process and should not have.
    """

    effects: Sequence[Effect]
    writers: Mapping[str, str]
    seen: Mapping[str, Sequence[int]]
    withdrawn: Mapping[str, AbstractSet[int]]
    errors: Sequence[str]


async def collect(units: UnitOfWorkFactory, session_ids: Iterable[str]) -> list[SessionRecord]:
    """The record of every session. Checkpoints are deleted on the way: nothing needs them."""
    projector = Projector(units=units)
    while await projector.catch_up_all():
        pass
    found = []
    for session_id in session_ids:
        async with units() as unit:
            events = await unit.events.list_for_session(session_id)
            runs = await unit.runs.list_for_session(session_id)
            records = [await _run_record(unit, run) for run in runs]
        projected = [
            (
                await projector.state(one.name, session_id),
                await projector.rebuilt(one.name, session_id),
            )
            for one in PROJECTIONS
        ]
        found.append(SessionRecord(session_id, events, tuple(records), tuple(projected)))
    return found


async def _run_record(unit: UnitOfWork, run: Run) -> RunRecord:
    latest = await unit.checkpoints.latest(run.id)
    await unit.checkpoints.delete_for_run(run.id)
    rebuilt = (await restored(unit, run)).transcript if latest else None
    return RunRecord(
        run,
        await unit.invocations.list_for_run(run.id),
        await unit.turns.list_for_run(run.id),
        await unit.reviews.list_for_run(run.id),
        await unit.hooks.list_for_run(run.id),
        latest and latest.transcript,
        rebuilt,
    )


def violations(sessions: Sequence[SessionRecord], observed: Observed) -> list[Violation]:
    """Every rule that is broken, in a fixed order; none if all is well."""
    found = [Violation("process_broken", error) for error in observed.errors]
    for session in sessions:
        found += _sequences(
            session,
            observed.seen.get(session.session_id),
            observed.withdrawn.get(session.session_id, frozenset()),
        )
        found += _projections(session)
        for record in session.runs:
            events = [event for event in session.events if event.run_id == record.run.id]
            found += _end(record, events)
            found += _nothing_left(record)
            found += _reviews(record)
            found += _holders(record.run, events, observed.writers)
    calls = [(record, call) for one in sessions for record in one.runs for call in record.calls]
    return found + list(_effects(calls, observed.effects))


def _sequences(
    session: SessionRecord, seen: Sequence[int] | None, withdrawn: AbstractSet[int]
) -> Iterator[Violation]:
    stored = [event.sequence for event in session.events]
    if stored != [one for one in range(1, stored[-1] + 1) if one not in withdrawn]:
        yield Violation("sequence", f"session {session.session_id}: {stored}")
    if seen is not None and list(seen) != stored:
        yield Violation("reader", f"session {session.session_id}: was given {list(seen)}")
    ids = Counter(event.id for event in session.events)
    for event_id, count in ids.items():
        if count > 1:
            yield Violation("sequence", f"event {event_id} is there {count} times")


def _projections(session: SessionRecord) -> Iterator[Violation]:
    for kept, rebuilt in session.projected:
        if kept != rebuilt:
            yield Violation("projection", f"{kept.projection} of session {session.session_id}")


def _end(record: RunRecord, events: Sequence[Event]) -> Iterator[Violation]:
    run = record.run
    if not run.status.is_terminal:
        yield Violation("run_not_ended", f"run {run.id} is {run.status}")
        return
    ends = [number for number, event in enumerate(events) if event.event_type in _ENDS]
    if len(ends) != 1:
        yield Violation("terminal_events", f"run {run.id} has {len(ends)}")
        return
    if any(one.event_type is not EventType.RUN_FENCED for one in events[ends[0] + 1 :]):
        yield Violation("after_the_end", f"run {run.id}")
    if events[ends[0]].event_type.value != f"run.{run.status.value.lower()}":
        yield Violation("terminal_events", f"run {run.id}: {events[ends[0]].event_type}")
    if run.status is RunStatus.CANCELLED and run.cancel_requested_at is None:
        yield Violation("wrong_end", f"run {run.id} was cancelled and nobody asked")
    if run.status is RunStatus.FAILED:
        yield from _failure(run, events)
    if run.status is RunStatus.COMPLETED:
        yield from _answer(record, events)


def _failure(run: Run, events: Sequence[Event]) -> Iterator[Violation]:
    """Nothing here fails but by losing its worker too often."""
    lost = sum(event.event_type is EventType.RUN_REQUEUED for event in events)
    reason = run.failure and run.failure.reason
    if reason is not FailureReason.MAX_ATTEMPTS_EXCEEDED or lost < 3:
        yield Violation("wrong_end", f"run {run.id} failed: {reason} after {lost} losses")


def _answer(record: RunRecord, events: Sequence[Event]) -> Iterator[Violation]:
    """A run that is complete has everything that its turns asked for, and one answer."""
    run = record.run
    answers = sum(one.event_type is EventType.ASSISTANT_MESSAGE_COMPLETED for one in events)
    if answers != 1:
        yield Violation("answer", f"run {run.id} has {answers} answers")
    if [turn.step_number for turn in record.turns] != list(range(1, run.step_count + 1)):
        yield Violation("turns", f"run {run.id} has other turns than steps")
    asked = Counter(
        (turn.step_number, call.call_id) for turn in record.turns for call in turn.item.tool_calls
    )
    handled = Counter((call.step_number, call.call_id) for call in record.calls)
    if asked != handled:
        yield Violation("calls", f"run {run.id}: asked for {asked}, handled {handled}")
    if record.transcript is not None and record.transcript != record.rebuilt:
        yield Violation("rebuild", f"run {run.id}: the log gives another transcript")


def _nothing_left(record: RunRecord) -> Iterator[Violation]:
    run = record.run
    if run.lease is not None:
        yield Violation("lease_left", f"run {run.id} is held by {run.lease.owner}")
    for call in record.calls:
        if not call.status.is_terminal:
            yield Violation("call_not_ended", f"call {call.id} is {call.status}")
    if [hook.status.is_finished for hook in record.hooks] != [True]:
        yield Violation("hook", f"run {run.id}: {[hook.status for hook in record.hooks]}")


def _reviews(record: RunRecord) -> Iterator[Violation]:
    unknown = Counter(c.id for c in record.calls if c.status is InvocationStatus.UNCERTAIN)
    reviewed = Counter(review.invocation_id for review in record.reviews)
    if unknown != reviewed:
        yield Violation("review", f"run {record.run.id}: {unknown} unknown, {reviewed} reviewed")


def _holders(run: Run, events: Sequence[Event], writers: Mapping[str, str]) -> Iterator[Violation]:
    """Between two claims only the process of the first writes."""
    holder: str | None = None
    epoch = 0
    for event in events:
        writer = writers.get(event.id)
        if event.event_type is EventType.RUN_CLAIMED:
            if event.payload["lease_epoch"] != epoch + 1:
                yield Violation("epoch", f"run {run.id}: {epoch + 1} is missing")
            holder, epoch = writer, epoch + 1
        elif event.event_type in _NOT_OF_A_HOLDER or event.actor_type is ActorType.PRINCIPAL:
            continue
        elif writer is not None and holder is not None and writer != holder:
            what = f"run {run.id}: {writer} wrote {event.event_type} and {holder} held it"
            yield Violation("fence", what)


def _effects(
    calls: Sequence[tuple[RunRecord, ToolInvocation]], effects: Sequence[Effect]
) -> Iterator[Violation]:
    by_call: dict[str, list[Effect]] = {}
    for effect in effects:
        by_call.setdefault(effect.invocation_id, []).append(effect)
    for _, call in calls:
        yield from _effects_of(call, by_call.pop(call.id, []))
    for invocation_id in by_call:
        yield Violation("effect_without_record", f"call {invocation_id}")


def _effects_of(call: ToolInvocation, effects: Sequence[Effect]) -> Iterator[Violation]:
    where = f"call {call.id} of {call.tool_name} is {call.status}"
    kind = call.idempotency
    if kind in (None, IdempotencyClass.READ_ONLY):
        if effects:
            yield Violation("effect_without_record", where)
        return
    if any(effect.token != call.arguments.get("token") for effect in effects):
        yield Violation("other_effect", where)
    if call.status is InvocationStatus.SUCCEEDED and not effects:
        yield Violation("effect_lost", f"{where}, and nothing happened")
    # An idempotent tool sets no watermark: a call of it that was given up may have happened.
    known = (InvocationStatus.SUCCEEDED, InvocationStatus.UNCERTAIN)
    if effects and kind is not IdempotencyClass.IDEMPOTENT and call.status not in known:
        yield Violation("effect_lost", f"{where}, and it happened")
    if kind is IdempotencyClass.NON_IDEMPOTENT and len(effects) > 1:
        yield Violation("duplicated", f"{where}, and it happened {len(effects)} times")
    # The receiver takes one key once.
    if {effect.idempotency_key for effect in effects} - {call.idempotency_key}:
        yield Violation("duplicated", f"{where}, and the receiver was given another key")
