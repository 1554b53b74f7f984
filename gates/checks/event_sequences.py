"""Appends from several sides at once: what the log and the projections hold when they have ended."""

from __future__ import annotations

import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, zip_longest
from typing import Any, NamedTuple

from hypothesis import strategies as st

from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.adapters.sql.migrate import upgrade
from agent_core.adapters.sql.store import SqlStore
from agent_core.application.inline import run_inline
from agent_core.application.projector import Projector
from agent_core.bootstrap import PINNED_START
from agent_core.domain.canonical import JsonObject
from agent_core.domain.events import ActorType, Event, EventType, NewEvent
from agent_core.domain.projections import Projection
from agent_core.domain.sessions import Principal, Session
from agent_core.domain.upcasting import current_version
from agent_core.ports.persistence import UnitOfWorkFactory
from hardgate.kinds.checking import Violation, require
from hardgate.kinds.property import PropertyContext

_PRINCIPAL = Principal("gate.driver")
_SESSIONS = 2
_MOST_APPENDS = 4
_JOIN_SECONDS = 60.0
_PAUSE_SECONDS = 0.02
_MEMORY = "/dev/shm"


class Unit(NamedTuple):
    """One unit of work: to which sessions it appends, in this order, and whether it is undone."""

    appends: tuple[int, ...]
    undone: bool


class _Undone(Exception):
    """Ends a unit of work that is not to be kept."""


def check(context: PropertyContext) -> None:
    """The same property over both stores: one after the other in memory, at once in SQLite."""
    unit = st.builds(
        Unit,
        st.lists(st.integers(0, _SESSIONS - 1), min_size=1, max_size=_MOST_APPENDS).map(tuple),
        st.booleans(),
    )
    writers = st.lists(st.lists(unit, max_size=4), min_size=2, max_size=4)
    threads = st.lists(st.lists(unit, min_size=1, max_size=2), min_size=2, max_size=3)
    names = count()

    def in_memory(writers: list[list[Unit]]) -> None:
        store = InMemoryUnitOfWork()
        _play(lambda: store, f"m{next(names)}", writers, _taking_turns)

    with _database() as units:

        def in_sqlite(writers: list[list[Unit]]) -> None:
            _play(units, f"s{next(names)}", writers, _at_once)

        context.for_all(in_memory, writers=writers)
        context.for_all(in_sqlite, writers=threads)


@contextmanager
def _database() -> Iterator[UnitOfWorkFactory]:
    """One SQLite database for all trials, each of which has sessions of its own."""
    memory = _MEMORY if os.path.isdir(_MEMORY) else None  # every commit waits for the disk
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        url = f"sqlite:///{folder}/log.db"
        upgrade(url)
        store = SqlStore(url)
        yield store.units(_PRINCIPAL.tenant_id)
        store.close()


Writer = Callable[[], Iterator[None]]


def _play(
    units: UnitOfWorkFactory,
    name: str,
    writers: Sequence[Sequence[Unit]],
    run: Callable[[Sequence[Writer], Callable[[], Any]], None],
) -> None:
    sessions = [f"{name}.{number}" for number in range(_SESSIONS)]
    run_inline(_open(units, sessions))
    kept: list[tuple[str, str]] = []
    noted = Projection("noted", 1, _note)
    projector = Projector(units=units, projections=[noted])
    # Every session has a state before the rest: one that is behind is another thing than none.
    everywhere = Unit(tuple(range(_SESSIONS)), undone=False)
    _taking_turns(
        [_writer(units, f"{name}.first", sessions, [everywhere], kept)],
        lambda: run_inline(projector.catch_up_all()),
    )
    run(
        [
            _writer(units, f"{name}.w{number}", sessions, plan, kept)
            for number, plan in enumerate(writers)
        ],
        lambda: run_inline(projector.catch_up_all()),
    )
    while run_inline(projector.catch_up_all()):
        pass
    for session_id in sessions:
        log = run_inline(_read(units, session_id))
        noted_ids = run_inline(_noted(units, noted, session_id))
        _require_whole(session_id, log, Counter(e for s, e in kept if s == session_id))
        _require_noted(session_id, log, noted_ids)


def _note(state: JsonObject, event: Event) -> JsonObject:
    """A projection that holds the id of every event it was given."""
    seen = state.get("ids", [])
    return {"ids": [*seen, event.id] if isinstance(seen, list) else [event.id]}


def _writer(
    units: UnitOfWorkFactory,
    name: str,
    sessions: Sequence[str],
    plan: Sequence[Unit],
    kept: list[tuple[str, str]],
) -> Writer:
    """Plays a plan unit by unit; what it committed is added to `kept`."""

    def play() -> Iterator[None]:
        for number, unit in enumerate(plan):
            events = [
                # Ids fall while sequences rise, so that neither order passes for the other.
                _event(f"{name}.{number}.{_MOST_APPENDS - place}", sessions[session])
                for place, session in enumerate(unit.appends)
            ]
            if run_inline(_append(units, events, unit.undone)):
                kept.extend((event.session_id, event.id) for event in events)
            yield

    return play


async def _append(units: UnitOfWorkFactory, events: Sequence[NewEvent], undone: bool) -> bool:
    """Whether the events were committed."""
    try:
        async with units() as unit:
            for event in events:
                await unit.events.append(event)
            if undone:
                raise _Undone
    except _Undone:
        return False
    return True


def _taking_turns(writers: Sequence[Writer], catch_up: Callable[[], Any]) -> None:
    """One unit of each writer after the other, the projections after each of them."""
    for round_ in zip_longest(*(writer() for writer in writers)):
        del round_
        catch_up()


def _at_once(writers: Sequence[Writer], catch_up: Callable[[], Any]) -> None:
    """Every writer in a thread of its own, and the projections in another one."""
    failures: list[Exception] = []
    ended = threading.Event()

    def write(writer: Writer) -> None:
        try:
            for _ in writer():
                pass
        except Exception as error:  # told below, in the thread of the check
            failures.append(error)

    def project() -> None:
        try:
            while not ended.wait(_PAUSE_SECONDS):
                catch_up()
        except Exception as error:  # told below, in the thread of the check
            failures.append(error)

    threads = [threading.Thread(target=write, args=(writer,), daemon=True) for writer in writers]
    projecting = threading.Thread(target=project, daemon=True)
    for thread in (*threads, projecting):
        thread.start()
    for thread in threads:
        thread.join(_JOIN_SECONDS)
    ended.set()
    projecting.join(_JOIN_SECONDS)
    if failures:
        raise Violation("append_refused", f"{type(failures[0]).__name__}: {failures[0]}")


def _require_whole(session_id: str, log: Sequence[Event], kept: Counter[str]) -> None:
    sequences = [event.sequence for event in log]
    require(
        len(set(sequences)) == len(sequences),
        "sequence_repeated",
        f"{session_id} has the sequences {sequences}",
    )
    require(sequences == sorted(sequences), "order_lost", f"{session_id} is read as {sequences}")
    found = Counter(event.id for event in log)
    require(not kept - found, "event_lost", f"{session_id} has not {sorted(kept - found)}")
    require(not found - kept, "event_kept", f"{session_id} has {sorted(found - kept)} as well")


def _require_noted(session_id: str, log: Sequence[Event], noted: Sequence[str]) -> None:
    written = [event.id for event in log]
    missed = sorted(set(written) - set(noted))
    require(not missed, "projection_missed", f"of {session_id} the projection missed {missed}")
    require(noted == written, "projection_differs", f"{session_id}: {noted}, the log {written}")


async def _open(units: UnitOfWorkFactory, sessions: Sequence[str]) -> None:
    async with units() as unit:
        for session_id in sessions:
            await unit.sessions.add(Session(session_id, _PRINCIPAL, (), PINNED_START))


async def _read(units: UnitOfWorkFactory, session_id: str) -> tuple[Event, ...]:
    async with units() as unit:
        return await unit.events.list_for_session(session_id)


async def _noted(units: UnitOfWorkFactory, noted: Projection, session_id: str) -> list[str]:
    async with units() as unit:
        found = await unit.projections.get(noted.name, session_id)
    ids = [] if found is None else found.state["ids"]
    return [str(one) for one in ids] if isinstance(ids, list) else []


def _event(event_id: str, session_id: str) -> NewEvent:
    return NewEvent(
        id=event_id,
        session_id=session_id,
        run_id=None,
        event_type=EventType.USER_MESSAGE_CREATED,
        payload_schema_version=current_version(EventType.USER_MESSAGE_CREATED),
        actor_type=ActorType.PRINCIPAL,
        actor_id=_PRINCIPAL.id,
        payload={"text": event_id, "trust": "user", "private": False},
        created_at=PINNED_START,
    )
