"""That the benchmark of a server's start takes every way and refuses a database without migrations."""

import os
from pathlib import Path

import pytest

from benchmarks import postgres_start
from tests.support import postgres


def test_every_way_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    template = Path(os.environ[postgres.TEMPLATE])
    monkeypatch.delenv(postgres.TEMPLATE)
    rows = postgres_start.measure(1, template)
    assert {row["server"] for row in rows} == {
        *postgres_start.WAYS,
        postgres_start.ANOTHER,
        postgres_start.STOP,
    }
    assert rows[0]["server"] == "from the template" and rows[0]["times the template"] == 1.0
    assert all(row["least"] and row["seconds"] and row["most"] for row in rows)


def test_a_database_without_the_migrations_ends_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with postgres.embedded_server() as server:
        database = server.fresh_database()
        with server.connect("owner", database) as owner:
            owner.execute("ALTER TABLE tenants NO FORCE ROW LEVEL SECURITY")
            owner.execute("ALTER TABLE tenants DISABLE ROW LEVEL SECURITY")
            owner.execute("DELETE FROM tenants")
        monkeypatch.setattr(server, "fresh_database", lambda: database)
        with pytest.raises(SystemExit, match="lacks what the migrations put there"):
            postgres_start.answer(server)
