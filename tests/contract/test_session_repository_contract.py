"""What every session repository promises."""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.adapters.in_memory.repositories import InMemorySessionRepository
from agent_core.adapters.sql.sessions import SqlSessionRepository
from agent_core.domain.errors import AlreadyExists, NotFound
from agent_core.domain.sessions import Principal, Session
from tests.contract.stores import over

IMPLEMENTATIONS = [InMemorySessionRepository, SqlSessionRepository]

SESSION = Session(
    id="session",
    principal=Principal("somebody", frozenset({"run.read", "run.write"})),
    tool_names=("a.tool", "b.tool"),
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


@pytest.fixture(params=over(IMPLEMENTATIONS))
def repository(request, databases):
    with databases.opened(request.param) as store:
        yield store.repository("sessions")


def test_a_session_is_read_as_it_was_stored(repository):
    async def stored():
        await repository.add(SESSION)
        await repository.add(SESSION._replace(id="other", tool_names=()))
        return await repository.get("session"), await repository.get("other")

    assert asyncio.run(stored()) == (SESSION, SESSION._replace(id="other", tool_names=()))


def test_an_id_is_used_once(repository):
    asyncio.run(repository.add(SESSION))
    with pytest.raises(AlreadyExists):
        asyncio.run(repository.add(SESSION._replace(tool_names=())))
    assert asyncio.run(repository.get("session")) == SESSION


def test_an_unknown_session_is_not_found(repository):
    with pytest.raises(NotFound):
        asyncio.run(repository.get("session"))
