"""A server of PostgreSQL that stops, or dies, while two workers execute runs."""

from pathlib import Path

from agent_core.domain.errors import StorageUnavailable
from tests.resilience.postgres.fleet import WORKERS, Fleet
from tests.support import postgres

RESTARTS = 6
POLLS = 12
"""Between two restarts."""


def test_workers_outlive_the_server_and_lose_nothing(tmp_path: Path) -> None:
    restarts: list[str] = []
    polls = 0

    def interrupt() -> None:
        nonlocal polls
        polls += 1
        if len(restarts) == RESTARTS:
            return
        try:
            if fleet.is_short_of_work():
                fleet.open_session()
            is_time = polls % POLLS == 0 and fleet.is_executing()
        except StorageUnavailable:
            return
        if is_time:
            how = "stop" if len(restarts) % 2 else "kill"
            getattr(server, how)()
            server.start()
            restarts.append(how)

    with postgres.embedded_server() as server:
        url = server.url("app", server.fresh_database())
        fleet = Fleet(url, "restarts", tmp_path, sessions=8, kill_for=lambda number: None)
        fleet.work(interrupt)
        found = fleet.violations()
    assert found == []
    assert len(restarts) == RESTARTS
    refusals = fleet.files.read_refusals()
    assert refusals, "no worker was told that the server is away"
    assert all(": StorageUnavailable: " in refusal for refusal in refusals)
    # Nobody died of it, and everybody worked.
    assert set(fleet.files.read_writers().values()) == {f"worker {n}" for n in range(WORKERS)}
