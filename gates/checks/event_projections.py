"""Projections that were brought forward, against the same ones built anew."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.application.inline import run_inline
from agent_core.application.projector import Projector
from agent_core.domain.events import Event, NewEvent
from agent_core.domain.model_script import FinalTurn, ScriptedToolCall, ScriptedTurn, ToolCallsTurn
from agent_core.domain.projections import PROJECTIONS, ProjectedState, Projection
from agent_core.domain.runs import RunLimits
from agent_core.domain.sessions import Session
from gates.checks.driving import EVERYBODY, Stage
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

_LIMITS = RunLimits(max_steps=4)
_ARGUMENTS = ('{"expression": "1 + 1"}', '{"expression": "1 / 0"}', "{}", "no JSON")
_NAMES = ("math.calculate", "demo.unsafe_write", "demo.missing")
_OLDER = 1000
"""How much older the version is that built the states which have to be thrown away."""


def check(context: PropertyContext) -> None:
    calls = st.builds(
        ScriptedToolCall,
        st.uuids().map(str),
        st.sampled_from(_NAMES),
        st.sampled_from(_ARGUMENTS),
    )
    turns = st.lists(st.lists(calls, min_size=1, max_size=3), max_size=5)
    cuts = st.lists(st.integers(0, 60), max_size=8, unique=True)

    def same_state(scripted: list[list[ScriptedToolCall]], cuts: list[int]) -> None:
        log = _recorded(scripted)
        store = InMemoryUnitOfWork()
        projector = _projector(store, PROJECTIONS)
        run_inline(_replay(store, projector, log, frozenset(cuts)))
        for projection in PROJECTIONS:
            _require_equal(projection, projector, log)

    def version_renewed(scripted: list[list[ScriptedToolCall]]) -> None:
        log = _recorded(scripted)
        store = InMemoryUnitOfWork()
        older = [one._replace(builder_version=one.builder_version - _OLDER) for one in PROJECTIONS]
        outdated = [one._replace(apply=lambda _state, event: {"at": event.id}) for one in older]
        run_inline(_replay(store, _projector(store, outdated), log, frozenset({len(log) - 1})))
        projector = _projector(store, PROJECTIONS)
        run_inline(projector.catch_up_all())
        for projection in PROJECTIONS:
            _require_equal(projection, projector, log)

    context.for_all(same_state, scripted=turns, cuts=cuts)
    context.for_all(version_renewed, scripted=turns)


def _recorded(scripted: list[list[ScriptedToolCall]]) -> tuple[Event, ...]:
    """The log of a run that an ordinary runtime has written."""
    turns: list[ScriptedTurn] = [ToolCallsTurn(tuple(calls)) for calls in scripted]
    return Stage([*turns, FinalTurn("Done.")]).play(limits=_LIMITS).events


def _projector(store: InMemoryUnitOfWork, projections: Iterable[Projection]) -> Projector:
    return Projector(units=lambda: store, projections=projections)


async def _replay(
    store: InMemoryUnitOfWork,
    projector: Projector,
    log: tuple[Event, ...],
    cuts: frozenset[int],
) -> None:
    """Append a recorded log again, and bring the projections forward at the cuts."""
    async with store as unit:
        session_id = log[0].session_id
        await unit.sessions.add(Session(session_id, EVERYBODY, (), log[0].created_at))
    for number, event in enumerate(log):
        async with store as unit:
            members = {name: getattr(event, name) for name in NewEvent._fields}
            await unit.events.append(NewEvent(**members))
        if number in cuts:
            await projector.catch_up_all()


def _require_equal(projection: Projection, projector: Projector, log: tuple[Event, ...]) -> None:
    session_id = log[0].session_id
    kept = run_inline(projector.state(projection.name, session_id))
    built = run_inline(projector.rebuilt(projection.name, session_id))
    require(
        kept.builder_version == projection.builder_version,
        "version_kept",
        f"{projection.name} is of version {kept.builder_version}",
    )
    require(
        kept.position == log[-1].sequence,
        "position_behind",
        f"{projection.name} is at {kept.position}, the log at {log[-1].sequence}",
    )
    for name in sorted({*kept.state, *built.state}):
        require(
            kept.state.get(name) == built.state.get(name),
            "state_differs",
            f"{projection.name}.{name}: {_field(kept, name)} is kept, {_field(built, name)} built",
        )


def _field(projected: ProjectedState, name: str) -> str:
    return repr(projected.state.get(name))
