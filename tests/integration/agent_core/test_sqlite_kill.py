"""A process that is killed while it writes to a file of SQLite: what it was told is committed is
there, and nothing of anything else."""

import subprocess
import sys
import textwrap

import pytest

from agent_core.application.inline import run_inline
from agent_core.bootstrap import open_storage

WRITER = textwrap.dedent(
    """
    import sys
    from datetime import UTC, datetime
    from agent_core.application.inline import run_inline
    from agent_core.bootstrap import open_storage
    from agent_core.domain.errors import AlreadyExists
    from agent_core.domain.events import ActorType, EventType, NewEvent
    from agent_core.domain.sessions import Principal, Session

    now = datetime(2026, 1, 1, tzinfo=UTC)
    storage = open_storage(sys.argv[1])

    async def write(number):
        async with storage.units() as unit:
            try:
                await unit.sessions.add(Session("session", Principal("somebody"), (), now))
            except AlreadyExists:
                pass
            for part in range(3):
                name = f"{sys.argv[2]} {number} {part}"
                await unit.events.append(
                    NewEvent(name, "session", None, EventType.SESSION_CREATED, 1,
                             ActorType.RUNTIME, "writer", {"tool_names": ["x" * 2000]}, now)
                )

    number = 0
    while True:
        run_inline(write(number))
        print(number, flush=True)
        number += 1
    """
)


def write_until_killed(url, name, commits):
    """Start a writer, kill it once it has told of `commits` commits; returns how many it told."""
    program = f"import sys; sys.path[:0] = {sys.path!r}\n{WRITER}"
    writer = subprocess.Popen(
        [sys.executable, "-c", program, url, name], stdout=subprocess.PIPE, text=True
    )
    try:
        for _ in range(commits):
            assert writer.stdout.readline(), "the writer ended by itself"
    finally:
        writer.kill()
    rest, _ = writer.communicate()
    return commits + len(rest.splitlines())


@pytest.mark.parametrize("commits", [1, 2, 5, 11, 40])
def test_what_was_committed_is_there_and_nothing_is_half_written(tmp_path, commits):
    url = f"sqlite:///{tmp_path}/records.db"
    told = [write_until_killed(url, name, commits) for name in ("first", "second")]
    storage = open_storage(url)

    async def read():
        async with storage.units() as unit:
            return await unit.events.list_for_session("session")

    events = run_inline(read())
    storage.close()
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    for name, count in zip(("first", "second"), told, strict=True):
        ids = [event.id for event in events if event.id.startswith(name)]
        units = len(ids) // 3
        assert ids == [f"{name} {unit} {part}" for unit in range(units) for part in range(3)]
        assert count <= units <= count + 1
