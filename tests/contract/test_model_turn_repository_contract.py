"""What every repository of recorded turns promises."""

import asyncio

import pytest

from agent_core.adapters.in_memory.repositories import InMemoryModelTurnRepository
from agent_core.adapters.sql.model_turns import SqlModelTurnRepository
from agent_core.domain.context import ContextItem, ItemKind, ToolCall
from agent_core.domain.errors import AlreadyExists
from agent_core.domain.recorded_turns import RecordedTurn
from agent_core.domain.trust import Labels, TrustLevel
from tests.contract.stores import over

IMPLEMENTATIONS = [InMemoryModelTurnRepository, SqlModelTurnRepository]

TURN = RecordedTurn(
    run_id="run",
    step_number=1,
    item=ContextItem(
        id="turn",
        kind=ItemKind.ASSISTANT_TURN,
        source="model",
        labels=Labels(TrustLevel.EXTERNAL_UNTRUSTED, is_private=True),
        text="é\n",
        nonce="nonce",
        tool_calls=(
            ToolCall("call_1", "demo.tool", '{"a": [1, 0.5]}'),
            ToolCall("call_2", "demo.tool", "{}", malformed=True),
        ),
    ),
)


@pytest.fixture(params=over(IMPLEMENTATIONS))
def repository(request, databases):
    with databases.opened(request.param) as store:
        yield store.repository("turns")


def listed(repository, run_id="run", **options):
    return asyncio.run(repository.list_for_run(run_id, **options))


def test_a_turn_is_read_as_it_was_stored(repository):
    asyncio.run(repository.add(TURN))
    assert listed(repository) == (TURN,)
    assert listed(repository, "unknown") == ()


def test_the_turns_of_a_run_come_by_step(repository):
    for run_id, step in [("run", 3), ("run", 1), ("other", 2), ("run", 2), ("run", 10)]:
        asyncio.run(repository.add(TURN._replace(run_id=run_id, step_number=step)))
    assert [turn.step_number for turn in listed(repository)] == [1, 2, 3, 10]
    assert [turn.step_number for turn in listed(repository, after_step=2)] == [3, 10]


def test_a_step_has_one_turn(repository):
    asyncio.run(repository.add(TURN))
    with pytest.raises(AlreadyExists):
        asyncio.run(repository.add(TURN._replace(item=TURN.item._replace(text="other"))))
    assert listed(repository) == (TURN,)
