"""Some of the histories on a file of SQLite: the rules of the store itself take part in these."""

from tests.resilience.simulator import campaign
from tests.resilience.simulator import faults as kinds

HISTORIES = 8
KINDS = (
    kinds.CRASHES,
    kinds.KILLED + kinds.BEFORE_UNIT,
    kinds.KILLED + kinds.BEFORE_COMMIT,
    kinds.KILLED + kinds.AFTER_COMMIT,
    kinds.LEASE_LOST,
    kinds.REFUSED,
    kinds.FULL,
    kinds.ROLLED_BACK,
    kinds.ANSWER_LOST,
    kinds.CHECKPOINTS_DELETED,
    kinds.HOOK_FAILED,
    kinds.FENCED,
    kinds.CANCELLED,
    kinds.RESUMED,
    kinds.REPEATED,
)


def test_nothing_is_lost_or_done_twice() -> None:
    found = campaign.played(campaign.seeds("sqlite", 1, HISTORIES))
    found.keep("sqlite_1")
    assert not found.failures, "\n".join(found.failures)
    assert not found.missing(KINDS)
