"""What every store of projections promises."""

import asyncio

import pytest

from agent_core.adapters.in_memory.repositories import InMemoryProjectionRepository
from agent_core.adapters.sql.projections import SqlProjectionRepository
from agent_core.domain.errors import StaleState
from agent_core.domain.projections import ProjectedState
from tests.contract.stores import TENANT, add_what_it_refers_to, over
from tests.contract.test_event_repository_contract import EVENT, numbered

IMPLEMENTATIONS = [InMemoryProjectionRepository, SqlProjectionRepository]

STATE = ProjectedState("counts", "session", 1, 2, {"é": [1, {"deep": None}, 0.5]})


@pytest.fixture(params=over(IMPLEMENTATIONS))
def units(request, databases):
    with databases.opened(request.param) as store:
        yield store.units()


def within(units, work):
    async def one_unit():
        async with units() as unit:
            return await work(unit)

    return asyncio.run(one_unit())


def append(units, *events):
    async def work(unit):
        for event in events:
            await add_what_it_refers_to(unit, event, TENANT)
            await unit.events.append(event)

    within(units, work)


def save(units, state, expected):
    within(units, lambda unit: unit.projections.save(state, expected))


def get(units, projection="counts", session_id="session"):
    return within(units, lambda unit: unit.projections.get(projection, session_id))


def behind(units, version=1, limit=10):
    return within(units, lambda unit: unit.projections.list_behind("counts", version, limit))


def test_a_state_is_read_as_it_was_saved(units):
    append(units, EVENT)
    assert get(units) is None
    save(units, STATE, None)
    assert get(units) == STATE
    assert get(units, "other") is None


def test_what_happens_to_a_state_afterwards_does_not_reach_the_store(units):
    append(units, EVENT)
    state = STATE._replace(state={"list": [1]})
    save(units, state, None)
    state.state["list"].append(2)
    get(units).state["list"].append(3)
    assert get(units).state == {"list": [1]}


@pytest.mark.parametrize(("before", "expected"), [(None, 2), (2, None), (2, 1), (2, 3)])
def test_a_state_that_was_moved_by_somebody_else_is_not_replaced(units, before, expected):
    append(units, EVENT)
    if before is not None:
        save(units, STATE._replace(position=before), None)
    with pytest.raises(StaleState):
        save(units, STATE._replace(position=9), expected)
    stored = get(units)
    assert (None if stored is None else stored.position) == before


def test_a_rollback_restores_the_state(units):
    append(units, EVENT)
    save(units, STATE, None)

    async def broken(unit):
        await unit.projections.save(STATE._replace(position=5), 2)
        await unit.projections.save(STATE._replace(projection="other"), None)
        raise KeyError

    with pytest.raises(KeyError):
        within(units, broken)
    assert get(units) == STATE
    assert get(units, "other") is None


def test_sessions_are_behind_by_events_and_by_version(units):
    append(units, *numbered("a", "b"), *numbered("c", session_id="other"))
    assert behind(units) == ("other", "session")
    assert behind(units, limit=1) == ("other",)
    save(units, STATE, None)
    assert behind(units) == ("other",)
    assert behind(units, version=2) == ("other", "session")
    append(units, *numbered("d"))
    assert behind(units) == ("other", "session")
