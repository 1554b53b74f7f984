"""Worker processes over PostgreSQL that are killed at every point of the pipeline and around every
commit, two against each other, until there have been enough."""

import json
import os
import random
from pathlib import Path

from tests.resilience.postgres.fleet import Fleet
from tests.resilience.postgres.worker_process import KILL_POINTS, Kill, chosen_kill
from tests.resilience.simulator import campaign
from tests.support import postgres

KILLS = 110
SESSIONS = 40


def test_nothing_is_lost_or_done_twice(tmp_path: Path) -> None:
    shard = os.environ.get(campaign.SHARD, "1")
    seed = os.environ.get(campaign.SEED, f"postgresql.{shard}.0")
    wanted = KILLS * campaign.times()
    chosen = random.Random(seed)

    def kill_for(number: int) -> Kill | None:
        return chosen_kill(chosen, number) if sum(fleet.kills.values()) < wanted else None

    def more_work() -> None:
        if sum(fleet.kills.values()) < wanted and fleet.is_short_of_work():
            fleet.open_session()

    with postgres.server() as server:
        url = server.url("app", server.fresh_database())
        fleet = Fleet(url, seed, tmp_path, sessions=SESSIONS, kill_for=kill_for)
        fleet.work(more_work)
        found = fleet.violations()
    folder = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
    if folder:
        (Path(folder) / "kills.json").write_text(json.dumps(fleet.figures(), indent=2) + "\n")
    assert found == [], f"with {campaign.SEED}={seed}"
    assert sum(fleet.kills.values()) >= wanted
    assert [point for point in KILL_POINTS if not fleet.kills[point]] == []
