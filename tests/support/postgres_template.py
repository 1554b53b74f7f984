"""Makes the template data folder of PostgreSQL servers for tests, as actions of the build.

`python -m tests.support.postgres_template initialize OUT.tar` makes an empty cluster;
`... migrate IN.tar OUT.tar` adds the roles and a database with every migration.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tests.support import postgres_process, postgres_roles

SUPERUSER = "hardgate_admin"
DATABASE = "hardgate_template"


def prepare(admin_url: str, database: str, password: str | None) -> None:
    """Makes the roles and a database with every migration, to copy others from."""
    from agent_core.adapters.sql.migrate import upgrade

    postgres_roles.make_roles(admin_url, password)
    postgres_roles.make_database(admin_url, database, password)
    owner = postgres_roles.url_for(admin_url, "owner", password, database)
    roles = postgres_roles.ROLES
    upgrade(postgres_roles.sqlalchemy_url(owner), roles["app"], roles["maintenance"])


def migrate(folder: Path, data: Path) -> None:
    """Starts a server on an empty cluster, prepares it and stops it again, all by itself."""
    log = folder / "migrate.log"
    running = postgres_process.start(folder, data, log, {"fsync": "off"})
    admin_url = f"postgresql://{SUPERUSER}@/template1?host={folder}"
    try:
        prepare(admin_url, DATABASE, None)
        # Nobody uses it, and every test would copy it.
        postgres_roles.drop_database(admin_url, "postgres")
    finally:
        postgres_process.stop(running, "INT")


def make(folder: Path, data: Path) -> None:
    """Makes a prepared data folder from nothing; `folder` is for the socket and the log."""
    postgres_process.initialize(data, SUPERUSER)
    migrate(folder, data)


def main(words: list[str]) -> None:
    """Runs one of the two actions."""
    folder = postgres_process.new_folder()
    data = folder / "data"
    try:
        if words[0] == "initialize":
            postgres_process.initialize(data, SUPERUSER)
        else:
            postgres_process.unpack(Path(words[1]), data)
            migrate(folder, data)
        postgres_process.pack(data, Path(words[-1]))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
