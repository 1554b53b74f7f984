"""Whether row-level security keeps tenants apart, asked of the database itself.

The tables come from the catalogue, so that a new one without a policy is found. `fill` gives every
table a row of each of some tenants; `examine` then tries, as one of two, to read and write the
other's, with the rights that a role really has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import psycopg
from psycopg import sql

SETTING = "app.tenant"
TENANTS = ("tenant_one", "tenant_two")
# Alembic's own record of what was migrated.
SHARED_TABLES = frozenset({"alembic_version"})
# The one table whose rows are tenants; every other names its tenant in a column.
_TENANT_COLUMNS = {"tenants": "id"}
_TENANT_COLUMN = "tenant_id"

Pair: TypeAlias = tuple[str, str]
"""The tenant that acts, and the one whose rows it may not touch."""


class Violation(NamedTuple):
    """One way past the isolation: the rule that is broken, where, and what was seen."""

    rule: str
    table: str
    message: str


class Examination(NamedTuple):
    """What was tried and what it showed."""

    tables: tuple[str, ...]
    attempts: int
    violations: tuple[Violation, ...]

    @property
    def rules(self) -> set[str]:
        """The rules that are broken."""
        return {violation.rule for violation in self.violations}


class _Table(NamedTuple):
    name: str
    enabled: bool
    forced: bool
    columns: tuple[tuple[str, str], ...]  # name and type

    @property
    def tenant(self) -> str | None:
        wanted = _TENANT_COLUMNS.get(self.name, _TENANT_COLUMN)
        return wanted if wanted in dict(self.columns) else None


def tables(connection: psycopg.Connection) -> tuple[str, ...]:
    """The names of all tables but the shared ones, sorted."""
    return tuple(table.name for table in _tables(connection))


def fill(admin: psycopg.Connection, tenants: Sequence[str] = TENANTS) -> None:
    """Gives every table one row of each tenant; `admin` passes row-level security by."""
    with admin.transaction():
        admin.execute("SET CONSTRAINTS ALL DEFERRED")
        admin.execute("SET LOCAL session_replication_role = replica")  # rows in any order
        for tenant in tenants:
            for table in _tables(admin):
                admin.execute(_insert(table), _row(table, tenant))


def examine(
    connection: psycopg.Connection, tenants: Pair = TENANTS, *, owner: bool = False
) -> Examination:
    """Everything that keeps two tenants apart for the role that is connected, the role first.

    `owner` says that it may own the tables: the application may not. The connection's transactions
    are rolled back. The database has the rows of both that `fill` makes.
    """
    found = list(_role_violations(connection, owner))
    attempts = 0
    all_tables = _tables(connection)
    for table in all_tables:
        if table.tenant is None:
            found.append(Violation("no_tenant", table.name, f"it has no column {_TENANT_COLUMN}"))
            continue
        found += _definition_violations(connection, table)
        for attempt in (_read, _update, _insert_for_other, _delete):
            violations = attempt(connection, table, table.tenant, tenants)
            if violations is not None:
                attempts += 1
                found += violations
    found += _detours(connection)
    return Examination(tuple(table.name for table in all_tables), attempts, tuple(found))


def _tables(connection: psycopg.Connection) -> list[_Table]:
    rows = connection.execute(
        """
        SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity,
               array_agg(a.attname::text ORDER BY a.attnum),
               array_agg(format_type(a.atttypid, NULL) ORDER BY a.attnum)
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relkind IN ('r', 'p', 'f') AND a.attnum > 0 AND NOT a.attisdropped
          AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
          AND c.relnamespace::regnamespace::text NOT LIKE 'pg\\_%%'
        GROUP BY c.oid ORDER BY c.relname
        """,
        [],
    ).fetchall()
    return [
        _Table(name, enabled, forced, tuple(zip(columns, types, strict=True)))
        for name, enabled, forced, columns, types in rows
        if name not in SHARED_TABLES
    ]


def _row(table: _Table, tenant: str) -> list[object]:
    """A row in which every key that refers to another table refers to its only row there."""
    values: dict[str, object] = {
        "bigint": 1,
        "boolean": False,
        "integer": 1,
        "text": "1",
        "character varying": "1",
        "timestamp with time zone": "2026-01-01 00:00:00+00",
    }
    unknown = sorted({kind for _, kind in table.columns} - values.keys())
    if unknown:
        raise ValueError(f"{table.name}: no value is known for {', '.join(unknown)}")
    return [tenant if name == table.tenant else values[kind] for name, kind in table.columns]


def _insert(table: _Table) -> sql.Composed:
    return sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        sql.Identifier(table.name),
        sql.SQL(", ").join(sql.Identifier(name) for name, _ in table.columns),
        sql.SQL(", ").join([sql.Placeholder()] * len(table.columns)),
    )


def _role_violations(connection: psycopg.Connection, owner: bool) -> Iterable[Violation]:
    row = connection.execute(
        "SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    assert row is not None
    name, superuser, bypasses = row
    if superuser:
        yield Violation("superuser", "", f"{name} is a superuser")
    if bypasses:
        yield Violation("bypasses", "", f"{name} has BYPASSRLS")
    if owner:
        return
    owned = connection.execute(
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relname = ANY(%s)"
        " AND pg_has_role(current_user, relowner, 'MEMBER') ORDER BY relname",
        [list(tables(connection))],
    ).fetchall()
    if not superuser:
        for (table,) in owned:
            yield Violation("owner", table, f"{name} owns it or is a member of the role that does")


def _definition_violations(connection: psycopg.Connection, table: _Table) -> Iterable[Violation]:
    if not table.enabled:
        yield Violation("not_enabled", table.name, "row-level security is not enabled")
    if not table.forced:
        yield Violation("not_forced", table.name, "its owner passes row-level security by")
    # A key without the tenant tells whether another tenant has a record; and a reference without
    # it leads to one, because the check of a reference passes row-level security by.
    keys = connection.execute(
        """
        SELECT i.indexrelid::regclass::text FROM pg_index i
        WHERE i.indrelid = %s::regclass AND i.indisunique AND NOT EXISTS (
          SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attname = %s
          AND a.attnum = ANY(i.indkey[0:i.indnkeyatts - 1]))
        UNION ALL
        SELECT k.conname FROM pg_constraint k
        WHERE k.conrelid = %s::regclass AND k.contype = 'f' AND NOT EXISTS (
          SELECT FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attname = %s
          AND a.attnum = ANY(k.conkey))
        """,
        [table.name, table.tenant, table.name, table.tenant],
    ).fetchall()
    for (key,) in keys:
        yield Violation("key_without_tenant", table.name, f"{key} leaves the tenant out")


def _allowed(connection: psycopg.Connection, table: str, right: str) -> bool:
    row = connection.execute(
        "SELECT has_any_column_privilege(%s, %s)"
        if right != "DELETE"
        else "SELECT has_table_privilege(%s, %s)",
        [table, right],
    ).fetchone()
    return bool(row and row[0])


def _become(connection: psycopg.Connection, tenant: str) -> None:
    connection.execute("SELECT set_config(%s, %s, true)", [SETTING, tenant])


def _read(
    connection: psycopg.Connection, table: _Table, column: str, tenants: Pair
) -> list[Violation] | None:
    """Reads everything, one row by its tenant, and everything as nobody."""
    if not _allowed(connection, table.name, "SELECT"):
        return None
    mine, other = tenants
    name, key = sql.Identifier(table.name), sql.Identifier(column)
    listing = sql.SQL("SELECT DISTINCT {} FROM {} ORDER BY 1").format(key, name)
    one = sql.SQL("SELECT {} FROM {} WHERE {} = %s").format(key, name, key)
    found = []
    with connection.transaction(force_rollback=True):
        nobody = connection.execute(listing).fetchall()
        _become(connection, mine)
        listed = [tenant for (tenant,) in connection.execute(listing)]
        got = connection.execute(one, [other]).fetchall()
    if nobody:
        found.append(Violation("read_as_nobody", table.name, f"without a tenant: {nobody}"))
    if mine not in listed:
        found.append(Violation("own_rows_hidden", table.name, f"{mine} sees the rows of {listed}"))
    if got or set(listed) - {mine}:
        found.append(Violation("read", table.name, f"{mine} sees the rows of {listed}"))
    return found


def _update(
    connection: psycopg.Connection, table: _Table, column: str, tenants: Pair
) -> list[Violation] | None:
    """Changes the other's rows, named and as part of all, and gives its own to the other."""
    if not _allowed(connection, table.name, "UPDATE"):
        return None
    mine, other = tenants
    name, key = sql.Identifier(table.name), sql.Identifier(column)
    update = sql.SQL("UPDATE {} SET {} = %s WHERE {} = %s").format(name, key, key)
    update_all = sql.SQL("UPDATE {} SET {} = %s").format(name, key)
    found = []
    if _reaches_more(connection, mine, 0, update, [other, other]) or _reaches_more(
        connection, mine, 1, update_all, [mine]
    ):
        found.append(Violation("update", table.name, f"{mine} changes rows of others"))
    if not _refused(connection, mine, update, [other, mine]):
        found.append(Violation("give_away", table.name, f"{mine} gives its rows to {other}"))
    return found


def _insert_for_other(
    connection: psycopg.Connection, table: _Table, column: str, tenants: Pair
) -> list[Violation] | None:
    """Adds a row for the other, also as nobody, and one for itself, which only its key may stop: it
    is there."""
    if not _allowed(connection, table.name, "INSERT"):
        return None
    mine, other = tenants
    found = []
    if not _refused(connection, mine, _insert(table), _row(table, other)):
        found.append(Violation("insert", table.name, f"{mine} adds a row for {other}"))
    if not _refused(connection, None, _insert(table), _row(table, other)):
        found.append(
            Violation("insert_as_nobody", table.name, f"without a tenant: a row for {other}")
        )
    if _refused(connection, mine, _insert(table), _row(table, mine)):
        found.append(Violation("own_insert", table.name, f"{mine} may not add a row of its own"))
    return found


def _delete(
    connection: psycopg.Connection, table: _Table, column: str, tenants: Pair
) -> list[Violation] | None:
    """Deletes the other's rows, named and as part of all."""
    if not _allowed(connection, table.name, "DELETE"):
        return None
    mine, other = tenants
    name, key = sql.Identifier(table.name), sql.Identifier(column)
    delete = sql.SQL("DELETE FROM {} WHERE {} = %s").format(name, key)
    delete_all = sql.SQL("DELETE FROM {}").format(name)
    if _reaches_more(connection, mine, 0, delete, [other]) or _reaches_more(
        connection, mine, 1, delete_all, []
    ):
        return [Violation("delete", table.name, f"{mine} deletes rows of others")]
    return []


def _reaches_more(
    connection: psycopg.Connection,
    tenant: str,
    rows: int,
    statement: sql.Composed,
    values: list[object],
) -> bool:
    """Whether a statement of a tenant reaches more rows than these.

    One that neither has a condition nor reads a column is held by the policies for its own command
    alone, not by those for reading.
    """
    try:
        with connection.transaction(force_rollback=True):
            _become(connection, tenant)
            return connection.execute(statement, values).rowcount > rows
    except psycopg.errors.InsufficientPrivilege:
        return False
    except psycopg.errors.IntegrityError:
        return True  # what stopped it was not a policy


def _refused(
    connection: psycopg.Connection,
    tenant: str | None,
    statement: sql.Composed,
    values: list[object],
) -> bool:
    """Whether a policy refuses a statement; another error means that it let the rows through."""
    try:
        with connection.transaction(force_rollback=True):
            if tenant is not None:
                _become(connection, tenant)
            connection.execute(statement, values)
    except psycopg.errors.InsufficientPrivilege:
        return True
    except psycopg.errors.IntegrityError:
        return False
    return False


def _detours(connection: psycopg.Connection) -> Iterable[Violation]:
    """Views and functions that run with the rights of those who made them."""
    rows = connection.execute(
        """
        SELECT c.oid::regclass::text, 'a view with the rights of its owner' FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND (c.relkind = 'm' OR c.relkind = 'v'
          AND NOT coalesce(c.reloptions, '{}') && '{security_invoker=true,security_invoker=on}')
        UNION ALL
        SELECT p.oid::regprocedure::text, 'a function with the rights of its owner' FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
        ORDER BY 1
        """
    ).fetchall()
    for name, what in rows:
        yield Violation("detour", name, what)
