"""Histories in memory, in shards. A shard in which a kind of fault did not happen shows nothing, and
fails with the name of that kind."""

import os

from tests.resilience.simulator import campaign
from tests.resilience.simulator.faults import CRASHES, KINDS

HISTORIES = 230
CRASH_POINTS = 1_700
"""How many kills in the midst of something a shard has at least."""


def test_nothing_is_lost_or_done_twice() -> None:
    shard = int(os.environ.get(campaign.SHARD, "1"))
    found = campaign.played(campaign.seeds("memory", shard, HISTORIES))
    found.keep(f"memory_{shard}")
    assert not found.failures, "\n".join(found.failures)
    assert not found.missing(KINDS)
    assert found.counts[CRASHES] >= CRASH_POINTS * campaign.times()
