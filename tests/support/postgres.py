"""PostgreSQL for tests and benchmarks: a server of their own, or one that a variable names.

    with postgres.server() as server:
        database = server.fresh_database()
        run_something(server.url("app", database))

`server` starts the server of the wheel on a Unix socket, from the template that the build made. With
HARDGATE_POSTGRES_URL set, a superuser's URL, it uses that server instead; its databases are dropped
in the end. `embedded_server` always starts one: only that can be stopped or killed.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.support import postgres_process, postgres_roles, postgres_template
from tests.support.postgres_process import Unavailable
from tests.support.postgres_roles import Role

__all__ = [
    "EmbeddedServer",
    "Role",
    "Server",
    "Unavailable",
    "embedded_server",
    "server",
]

EXTERNAL = "HARDGATE_POSTGRES_URL"
TEMPLATE = "HARDGATE_POSTGRES_TEMPLATE"
_NO_NETWORK = (
    "A test has no network: name a Unix socket (postgresql://USER@/postgres?host=/FOLDER), or start"
    " Bazel with --sandbox_default_allow_network=true."
)


class Server:
    """A server with the three roles and a migrated database that others are copied from."""

    def __init__(self, admin_url: str, password: str | None, template: str) -> None:
        self._admin_url = admin_url
        self._password = password
        self._template = template
        self._databases: list[str] = []

    def url(self, role: Role, database: str) -> str:
        """The address of a database for a role, as the runtime is given it (for SQLAlchemy)."""
        return postgres_roles.sqlalchemy_url(self._libpq_url(role, database))

    def connect(self, role: Role, database: str) -> psycopg.Connection:
        """A connection to a database as a role; each statement is a transaction of its own."""
        return psycopg.connect(self._libpq_url(role, database), autocommit=True)

    def fresh_database(self, template: str | None = None) -> str:
        """Makes a migrated database with no rows but those of migrations; returns its name.

        With `template` it is a copy of that database, which nobody may be connected to.
        """
        name = f"hardgate_{secrets.token_hex(6)}"
        postgres_roles.copy_database(self._admin_url, template or self._template, name)
        self._databases.append(name)
        return name

    def drop_database(self, database: str) -> None:
        """Drops one that `fresh_database` has made and ends the connections to it."""
        self._databases.remove(database)
        postgres_roles.drop_database(self._admin_url, database)

    def end_connections(self, database: str) -> int:
        """Ends every connection to a database, as a network that fails; returns how many."""
        return postgres_roles.end_connections(self._admin_url, database)

    def _libpq_url(self, role: Role, database: str) -> str:
        return postgres_roles.url_for(self._admin_url, role, self._password, database)

    def drop_databases(self) -> None:
        """Drops every one that `fresh_database` has made."""
        while self._databases:
            self.drop_database(self._databases[-1])


class EmbeddedServer(Server):
    """A server process of this test's own; `fsync` decides whether it survives a loss of power."""

    def __init__(self, folder: Path, fsync: bool) -> None:
        super().__init__(
            f"postgresql://{postgres_template.SUPERUSER}@/template1?host={folder}",
            None,
            postgres_template.DATABASE,
        )
        self._folder = folder
        self._settings = {"fsync": "on" if fsync else "off"}
        self._running: postgres_process.Running | None = None
        self.log = postgres_process.log_file(folder)

    @property
    def data(self) -> Path:
        """The data folder."""
        return self._folder / "data"

    @property
    def pid(self) -> int | None:
        """The id of the server's first process; None while it is stopped."""
        return self._running.pid if self._running else None

    def start(self) -> None:
        """Starts the stopped server on the data it has and waits until it accepts connections."""
        if self._running is None:
            self._running = postgres_process.start(
                self._folder, self.data, self.log, self._settings
            )

    def stop(self) -> None:
        """Ends every connection, rolls back what is open, and stops (a "fast" shutdown)."""
        if self._running:
            postgres_process.stop(self._running, "INT")
            self._running = None

    def kill(self) -> None:
        """Ends every process of the server by SIGKILL; a start afterwards recovers from its log."""
        if self._running:
            postgres_process.kill(self._running)
            self._running = None

    def restart(self) -> None:
        """Stops and starts; connections break."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stops at once, without a checkpoint, and removes the folder."""
        if self._running:
            postgres_process.stop(self._running, "QUIT")
            self._running = None
        postgres_process.forget(self._folder, self.data)


@contextmanager
def embedded_server(
    template: Path | None = None, *, fsync: bool = False
) -> Iterator[EmbeddedServer]:
    """Starts a server on a copy of a template data folder, an archive; removes it in the end.

    Without `template` it is the one that HARDGATE_POSTGRES_TEMPLATE names, which a target with
    POSTGRES of tests/postgres.bzl has; without that one is made now, which takes longer. A killed
    process loses nothing that was committed, with or without `fsync`: that is for the benchmarks and
    for tests of durable writes. Raises Unavailable where no server can be started.
    """
    archive = template or (Path(os.environ[TEMPLATE]) if TEMPLATE in os.environ else None)
    folder = postgres_process.new_folder(on_disk=fsync)
    found = EmbeddedServer(folder, fsync)
    try:
        if archive:
            postgres_process.unpack(archive, found.data)
        else:
            postgres_template.make(folder, found.data)
        found.start()
        yield found
    finally:
        found.close()


@contextmanager
def external_server(admin_url: str) -> Iterator[Server]:
    """Uses a server that runs already, as the superuser of the URL; its databases go in the end.

    The three roles stay. Raises Unavailable where nothing answers.
    """
    # The same in every target that uses this server at the same time, and told to nobody.
    password = hashlib.sha256(f"hardgate {admin_url}".encode()).hexdigest()
    template = f"hardgate_template_{secrets.token_hex(6)}"
    try:
        psycopg.connect(admin_url).close()
    except psycopg.OperationalError as error:
        raise Unavailable(f"{EXTERNAL}: {error}\n{_NO_NETWORK}") from None
    found = Server(admin_url, password, template)
    try:
        postgres_template.prepare(admin_url, template, password)
        yield found
    finally:
        found.drop_databases()
        postgres_roles.drop_database(admin_url, template)


@contextmanager
def server(template: Path | None = None) -> Iterator[Server]:
    """The server that HARDGATE_POSTGRES_URL names, or one of this test's own."""
    named = os.environ.get(EXTERNAL)
    with external_server(named) if named else embedded_server(template) as found:
        yield found
