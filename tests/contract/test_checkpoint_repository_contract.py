"""What every checkpoint repository promises."""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.adapters.in_memory.repositories import InMemoryCheckpointRepository
from agent_core.adapters.sql.checkpoints import SqlCheckpointRepository
from agent_core.domain.checkpoints import FULL_EVERY, Checkpoint, CheckpointTrigger
from agent_core.domain.context import ContextItem, ItemKind, ToolCall
from agent_core.domain.errors import AlreadyExists
from agent_core.domain.outcomes import make_outcome
from agent_core.domain.runs import RunUsage
from agent_core.domain.trust import Labels, TrustLevel
from tests.contract.stores import over

IMPLEMENTATIONS = [InMemoryCheckpointRepository, SqlCheckpointRepository]

CHECKPOINT = Checkpoint(
    run_id="run",
    version=1,
    trigger=CheckpointTrigger.TOOL_OUTCOME,
    step_count=1,
    usage=RunUsage(1, 2, 3, 4),
    transcript=(
        ContextItem(
            id="turn",
            kind=ItemKind.ASSISTANT_TURN,
            source="model",
            labels=Labels(TrustLevel.USER, is_private=True),
            nonce="nonce",
            text="",
            tool_calls=(ToolCall("call", "demo.tool", "{}", malformed=True),),
        ),
        ContextItem(
            id="result",
            kind=ItemKind.TOOL_RESULT,
            source="demo.tool",
            labels=Labels(TrustLevel.INTERNAL_TOOL),
            text="content",
            call_id="call",
            outcome=make_outcome("demo.tool", "tool.succeeded"),
        ),
    ),
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


@pytest.fixture(params=over(IMPLEMENTATIONS))
def repository(request, databases):
    with databases.opened(request.param) as store:
        yield store.repository("checkpoints")


def test_a_checkpoint_is_read_as_it_was_stored(repository):
    asyncio.run(repository.add(CHECKPOINT))
    assert asyncio.run(repository.latest("run")) == CHECKPOINT


def test_the_latest_is_the_highest_version_of_the_run(repository):
    for run_id, version in [("run", 1), ("run", 10), ("run", 2), ("other", 11)]:
        asyncio.run(repository.add(CHECKPOINT._replace(run_id=run_id, version=version)))
    assert asyncio.run(repository.latest("run")).version == 10
    assert asyncio.run(repository.latest("unknown")) is None


def test_a_version_is_written_once(repository):
    asyncio.run(repository.add(CHECKPOINT))
    with pytest.raises(AlreadyExists):
        asyncio.run(repository.add(CHECKPOINT._replace(step_count=9)))
    assert asyncio.run(repository.latest("run")) == CHECKPOINT


def continued(version):
    """The checkpoints of a run up to `version`; each adds an item."""
    items = tuple(
        CHECKPOINT.transcript[0]._replace(id=f"item {number}") for number in range(version)
    )
    return [
        CHECKPOINT._replace(version=number, transcript=items[:number])
        for number in range(1, version + 1)
    ]


def add(repository, checkpoints):
    async def all_of_them():
        for checkpoint in checkpoints:
            await repository.add(checkpoint)

    asyncio.run(all_of_them())


@pytest.mark.parametrize("version", [2, 7, 8, 9, 17])
def test_a_checkpoint_is_kept_as_what_it_adds(repository, version):
    checkpoints = continued(version)
    add(repository, checkpoints)
    assert asyncio.run(repository.latest("run")) == checkpoints[-1]
    chain = asyncio.run(repository.chain("run"))
    assert [one.checkpoint.version for one in chain] == list(
        range(max(1, version // FULL_EVERY * FULL_EVERY), version + 1)
    )
    assert [one.is_full for one in chain] == [True] + [False] * (len(chain) - 1)


def test_the_checkpoints_of_a_run_are_deleted_together(repository):
    add(repository, continued(3))
    add(repository, [CHECKPOINT._replace(run_id="other")])
    assert asyncio.run(repository.delete_for_run("run")) == 3
    assert asyncio.run(repository.latest("run")) is None
    assert asyncio.run(repository.chain("run")) == ()
    assert asyncio.run(repository.delete_for_run("run")) == 0
    assert asyncio.run(repository.latest("other")) is not None
    later = continued(5)[-1]
    add(repository, [later])
    assert asyncio.run(repository.latest("run")) == later
