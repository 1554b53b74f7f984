"""How checkpoints are kept: as what they add, and whole from time to time."""

from datetime import UTC, datetime

import pytest

from agent_core.domain.checkpoints import (
    FULL_EVERY,
    Checkpoint,
    CheckpointTrigger,
    restored,
    stored,
)
from agent_core.domain.context import ContextItem, ItemKind
from agent_core.domain.errors import BrokenCheckpoints
from agent_core.domain.runs import RunUsage
from agent_core.domain.trust import Labels, TrustLevel


def item(name):
    return ContextItem(name, ItemKind.ASSISTANT_TURN, "model", Labels(TrustLevel.USER), name)


def checkpoint(version):
    return Checkpoint(
        run_id="run",
        version=version,
        trigger=CheckpointTrigger.MODEL_RESPONSE,
        step_count=version,
        usage=RunUsage(model_calls=version),
        transcript=tuple(item(f"item {number}") for number in range(version + 1)),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def chain(first, last):
    before = [None, *map(checkpoint, range(first, last))]
    following = map(checkpoint, range(first, last + 1))
    return [stored(one, previous) for one, previous in zip(following, before, strict=True)]


def test_a_chain_gives_back_what_was_kept():
    for last in range(1, FULL_EVERY):
        assert restored(chain(1, last)) == checkpoint(last)


def test_only_what_was_added_is_kept():
    first, second = chain(1, 2)
    assert first.is_full
    assert (second.kept_items, len(second.checkpoint.transcript)) == (2, 1)


def test_every_eighth_is_full():
    full = [one.checkpoint.version for one in chain(1, 2 * FULL_EVERY + 1) if one.is_full]
    assert full == [1, FULL_EVERY, 2 * FULL_EVERY]


def test_what_is_no_continuation_is_full():
    other = checkpoint(2)._replace(transcript=(item("another"), *checkpoint(2).transcript[1:]))
    assert stored(other, checkpoint(1)).is_full
    assert stored(checkpoint(3), checkpoint(1)).is_full


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        ([], "no full checkpoint"),
        (chain(1, 3)[1:], "no full checkpoint"),
        ([chain(1, 3)[0], chain(1, 3)[2]], "version 2 is missing"),
        (
            [chain(1, 2)[0], chain(1, 2)[1]._replace(kept_items=1)],
            "version 2 continues something else",
        ),
    ],
)
def test_a_broken_chain_is_refused(broken, complaint):
    with pytest.raises(BrokenCheckpoints, match=complaint):
        restored(broken)
