"""A server that runs already, named by one variable; here it is one that another test could own."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator

import psycopg
import pytest

from tests.support import postgres

# The roles need their passwords; only the administrator is let in without one.
AUTHENTICATION = """
local all hardgate_admin trust
local all all scram-sha-256
"""


@pytest.fixture(scope="module")
def running() -> Iterator[postgres.EmbeddedServer]:
    with postgres.embedded_server() as found:
        (found.data / "pg_hba.conf").write_text(AUTHENTICATION, "ascii")
        found.restart()
        yield found


@pytest.fixture
def url(running: postgres.EmbeddedServer) -> str:
    return f"postgresql://hardgate_admin@/template1?host={running.data.parent}"


def databases(running: postgres.EmbeddedServer) -> set[str]:
    with running.connect("admin", "template1") as admin:
        return {name for (name,) in admin.execute("SELECT datname FROM pg_database")}


def test_the_named_server_is_used_and_left_as_it_was(
    running: postgres.EmbeddedServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = databases(running)
    monkeypatch.setenv(postgres.EXTERNAL, url)
    with postgres.server() as found:
        assert not isinstance(found, postgres.EmbeddedServer)
        name = found.fresh_database()
        assert len(databases(running) - before) == 2
        assert name in databases(running)
        left_open = found.connect("app", name)
        left_open.execute("SELECT set_config('app.tenant', 'tenant_eval', false)")
        assert left_open.execute("SELECT id FROM tenants").fetchall() == [("tenant_eval",)]
    assert databases(running) == before


def test_a_role_is_let_in_by_its_password_only(url: str) -> None:
    with postgres.external_server(url) as found:
        name = found.fresh_database()
        address = found.url("app", name)
        assert address.startswith("postgresql+psycopg://hardgate_app:")
        found.connect("app", name).close()
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(f"{url}&user=hardgate_app&dbname={name}")


def test_several_targets_may_use_it_at_once(running: postgres.EmbeddedServer, url: str) -> None:
    program = textwrap.dedent(
        """
        import sys
        from tests.support import postgres
        with postgres.external_server(sys.argv[1]) as server:
            name = server.fresh_database()
            with server.connect("owner", name) as owner:
                owner.execute("CREATE TABLE notes (id integer)")
                owner.execute("INSERT INTO notes VALUES (%s)", [sys.argv[2]])
                print(owner.execute("SELECT id FROM notes").fetchall())
        """
    )
    before = databases(running)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    targets = [
        subprocess.Popen(
            [sys.executable, "-c", program, url, str(number)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    printed = [target.communicate()[0] for target in targets]
    assert printed == ["[(0,)]\n", "[(1,)]\n", "[(2,)]\n"]
    assert databases(running) == before


def test_without_the_variable_a_server_of_its_own_is_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(postgres.EXTERNAL, raising=False)
    with postgres.server() as found:
        assert isinstance(found, postgres.EmbeddedServer)


def test_a_server_that_does_not_answer_is_reported_without_the_password() -> None:
    hidden = "very-secret"
    with (
        pytest.raises(postgres.Unavailable, match="HARDGATE_POSTGRES_URL: ") as caught,
        postgres.external_server(f"postgresql://me:{hidden}@/postgres?host=/nowhere"),
    ):
        pass
    assert "--sandbox_default_allow_network=true" in str(caught.value)
    assert hidden not in str(caught.value)
