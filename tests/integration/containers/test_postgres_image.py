"""PostgreSQL as its makers' image has it: migrations, roles and row-level security hold there too.

It runs where a Docker engine answers, outside of the sandbox; Bazel reports it as skipped elsewhere.
"""

from collections.abc import Iterator

import pytest
from testcontainers.community.postgres import PostgresContainer

from agent_core.adapters.sql.migrate import differences
from tests.support import postgres, row_level_security

IMAGE = "postgres:18"


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    with (
        PostgresContainer(IMAGE, driver=None) as container,
        postgres.external_server(container.get_connection_url()) as found,
    ):
        yield found


def test_the_schema_is_the_one_that_the_adapter_uses(server: postgres.Server) -> None:
    assert differences(server.url("owner", server.fresh_database())) == []


def test_tenants_are_kept_apart(server: postgres.Server) -> None:
    database = server.fresh_database()
    with server.connect("admin", database) as admin:
        row_level_security.fill(admin)
    with server.connect("app", database) as app:
        found = row_level_security.examine(app)
    assert found.violations == ()
    assert found.attempts > len(found.tables) > 4
