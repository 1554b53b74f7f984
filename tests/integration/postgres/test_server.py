"""The PostgreSQL server that tests start: roles, copies, stops, sudden deaths, and what is left."""

import os
import shutil
import signal
import subprocess
import sys
import tarfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from agent_core.adapters.sql.migrate import differences
from agent_core.adapters.sql.store import SqlStore
from tests.support import postgres, postgres_process


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.EmbeddedServer]:
    with postgres.embedded_server() as found:
        yield found


def test_the_template_of_the_build_is_used(tmp_path: Path) -> None:
    template = tmp_path / "template.tar"
    shutil.copyfile(os.environ[postgres.TEMPLATE], template)
    with tarfile.open(template, "a") as archive:
        mark = tarfile.TarInfo("./mark")
        archive.addfile(mark)
    with postgres.embedded_server(template) as found:
        assert (found.data / "mark").is_file()
        assert found.data.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("role", ["app", "maintenance", "owner"])
def test_no_role_may_pass_row_level_security_by(
    server: postgres.EmbeddedServer, role: postgres.Role
) -> None:
    with server.connect(role, server.fresh_database()) as connection:
        assert connection.execute(
            "SELECT current_user::text, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb"
            " FROM pg_roles WHERE rolname = current_user"
        ).fetchone() == (f"hardgate_{role}", False, False, False, False)


def test_the_application_has_what_it_was_granted_and_nothing_more(
    server: postgres.EmbeddedServer,
) -> None:
    database = server.fresh_database()
    with server.connect("owner", database) as owner:
        owner.execute("CREATE TABLE notes (id integer PRIMARY KEY, text text)")
        owner.execute("GRANT SELECT, INSERT ON notes TO hardgate_app")
    with server.connect("app", database) as app:
        app.execute("INSERT INTO notes VALUES (1, 'a')")
        for refused in (
            "DELETE FROM notes",
            "TRUNCATE notes",
            "DROP TABLE notes",
            "ALTER TABLE notes DISABLE ROW LEVEL SECURITY",
            "CREATE TABLE others (id integer)",
            "SET ROLE hardgate_owner",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute(refused)


def test_a_fresh_database_has_every_migration_and_what_they_inserted(
    server: postgres.EmbeddedServer,
) -> None:
    database = server.fresh_database()
    assert differences(server.url("owner", database)) == []
    with closing(SqlStore(server.url("app", database))) as store:
        store.check_schema()
    with server.connect("app", database) as app:
        app.execute("SELECT set_config('app.tenant', 'tenant_eval', false)")
        assert app.execute("SELECT id FROM tenants").fetchall() == [("tenant_eval",)]


def test_fresh_databases_share_nothing(server: postgres.EmbeddedServer) -> None:
    first, second = server.fresh_database(), server.fresh_database()
    with server.connect("owner", first) as owner:
        owner.execute("CREATE TABLE notes (id integer)")
    with server.connect("owner", second) as owner:
        assert owner.execute("SELECT to_regclass('notes')").fetchone() == (None,)


def test_text_is_in_the_order_of_its_code_points(
    server: postgres.EmbeddedServer,
) -> None:
    words = ["a", "B", "ä", "Z", "_", "\U0001f600", "\uffff"]
    with server.connect("app", server.fresh_database()) as connection:
        found = connection.execute(
            "SELECT w FROM unnest(%s::text[]) AS w ORDER BY w", [words]
        ).fetchall()
    assert [word for (word,) in found] == sorted(words)


def test_ended_connections_are_counted_and_broken(
    server: postgres.EmbeddedServer,
) -> None:
    database = server.fresh_database()
    connection = server.connect("app", database)
    assert server.end_connections(database) == 1
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    assert server.end_connections(database) == 0


@pytest.mark.parametrize("way", ["restart", "kill"])
def test_what_was_committed_is_there_after_an_end_and_the_rest_is_not(
    server: postgres.EmbeddedServer, way: str
) -> None:
    database = server.fresh_database()
    with server.connect("owner", database) as owner:
        owner.execute("CREATE TABLE notes (id integer)")
        owner.execute("INSERT INTO notes SELECT generate_series(1, 1000)")
    connection = server.connect("owner", database)
    connection.execute("BEGIN")
    connection.execute("INSERT INTO notes VALUES (1001)")
    before = server.pid
    if way == "kill":
        server.kill()
        assert server.pid is None
        with pytest.raises(psycopg.OperationalError):
            server.connect("app", database)
        server.start()
    else:
        server.restart()
    assert server.pid not in (None, before)
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    with server.connect("owner", database) as again:
        assert again.execute("SELECT count(*), max(id) FROM notes").fetchone() == (
            1000,
            1000,
        )


def test_fsync_is_off_until_asked_for() -> None:
    for fsync in (False, True):
        with (
            postgres.embedded_server(fsync=fsync) as found,
            found.connect("admin", "template1") as connection,
        ):
            assert connection.execute(
                "SELECT current_setting('fsync'), current_setting('listen_addresses')"
            ).fetchone() == ("on" if fsync else "off", "")


def test_the_folder_and_every_process_are_gone_in_the_end() -> None:
    with postgres.embedded_server() as found:
        assert found.pid is not None
        processes = [found.pid, *postgres_process.children(found.pid)]
        folder = found.data.parent
        assert len(processes) > 3 and folder.is_dir()
    assert all(postgres_process.is_gone(process) for process in processes)
    assert not folder.exists()


def test_nothing_is_left_when_the_process_that_started_it_is_killed(
    tmp_path: Path,
) -> None:
    program = textwrap.dedent(
        """
        import time
        from tests.support import postgres
        with postgres.embedded_server() as server:
            print(server.pid, server.data.parent, flush=True)
            time.sleep(600)
        """
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    owner = subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    pid, folder = owner.stdout.readline().split()
    assert Path(folder).is_dir() and not postgres_process.is_gone(int(pid))
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    while Path(folder).exists() or not postgres_process.is_gone(int(pid)):
        time.sleep(0.01)  # the test's own time limit ends this loop


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir(mode=0o700)
    folder = postgres_process.new_folder()
    with pytest.raises(postgres.Unavailable, match=r"PG_VERSION|postgresql\.conf"):
        postgres_process.start(folder, empty, folder / "log", {})
    postgres_process.forget(folder, empty)


def test_root_without_unshare_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(postgres.Unavailable, match="install util-linux"):
        postgres_process.unprivileged()


def test_no_wheel_is_told_where_to_declare_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(postgres.Unavailable, match=r"tests/postgres\.bzl"):
        postgres_process.programs()
