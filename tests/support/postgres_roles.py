"""Who is who in a PostgreSQL server for tests, and the database that every other one is copied from.

The owner makes the tables, by migrations, which grant the others what they need; the application
runs agents, maintenance removes a tenant's rows between cases. None of them is a superuser, none may
pass row-level security by, and only the owner owns anything. The administrator, who came with the
server, makes roles and databases and does nothing else.
"""

from __future__ import annotations

from typing import Literal
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

Role = Literal["admin", "app", "maintenance", "owner"]

ROLES: dict[Role, str] = {
    "app": "hardgate_app",
    "maintenance": "hardgate_maintenance",
    "owner": "hardgate_owner",
}
_LOCK = 7_203_011  # any number; the same in every process that prepares one server


def url_for(admin_url: str, role: Role, password: str | None, database: str) -> str:
    """The URL of a database for a role, on the server that the administrator's URL names."""
    parts = urlsplit(admin_url)
    place = parts.netloc.rpartition("@")[2]
    if role == "admin":
        who = parts.netloc.rpartition("@")[0]
    else:
        who = ROLES[role] + (f":{quote(password, safe='')}" if password else "")
    return urlunsplit((parts.scheme, f"{who}@{place}", f"/{database}", parts.query, ""))


def sqlalchemy_url(url: str) -> str:
    """A libpq URL as SQLAlchemy and the runtime's settings spell it: with the driver's name."""
    return urlunsplit(urlsplit(url)._replace(scheme="postgresql+psycopg"))


def make_roles(admin_url: str, password: str | None) -> None:
    """Makes the three roles, or gives those that are there the same rights and password again."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        # Two targets may use one external server at the same time.
        connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        there = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
        for name in ROLES.values():
            verb = sql.SQL("ALTER" if name in there else "CREATE")
            connection.execute(
                sql.SQL(
                    "{} ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE"
                    " NOREPLICATION PASSWORD {}"
                ).format(verb, sql.Identifier(name), sql.Literal(password))
            )


def make_database(admin_url: str, database: str, password: str | None) -> None:
    """Makes an empty database of the owner's; what is in it is the migrations' to grant."""
    owner = sql.Identifier(ROLES["owner"])
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL(
                "CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
            ).format(sql.Identifier(database), owner)
        )
    with psycopg.connect(url_for(admin_url, "admin", None, database), autocommit=True) as inside:
        inside.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC")
        inside.execute(sql.SQL("ALTER SCHEMA public OWNER TO {}").format(owner))
    with psycopg.connect(url_for(admin_url, "owner", password, database), autocommit=True) as own:
        for role in ("app", "maintenance"):
            own.execute(
                sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(sql.Identifier(ROLES[role]))
            )


def copy_database(admin_url: str, template: str, name: str) -> None:
    """Makes a database with everything that another has; nobody may be connected to that one."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(
            # By files: the server's default writes every page to its log as well.
            sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {} STRATEGY file_copy").format(
                sql.Identifier(name),
                sql.Identifier(template),
                sql.Identifier(ROLES["owner"]),
            )
        )


def drop_database(admin_url: str, name: str) -> None:
    """Removes a database and ends the connections to it."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )


def end_connections(admin_url: str, database: str) -> int:
    """Ends every connection to a database; returns how many there were."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = %s AND pid <> pg_backend_pid()",
            [database],
        ).fetchall()
    return len(ended)
