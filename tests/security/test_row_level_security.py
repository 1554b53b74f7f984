"""That PostgreSQL keeps tenants apart, and that the examination sees every way in which it would not."""

from collections.abc import Iterator

import psycopg
import pytest

from agent_core.adapters.sql.tables import METADATA
from tests.support import postgres, row_level_security
from tests.support.row_level_security import SHARED_TABLES, TENANTS, examine

# Every table is broken in each of these ways, and all are reported under one of the rules.
BREAKS = {
    "the policy is dropped": (
        "DROP POLICY tenant_isolation ON {table}",
        "own_rows_hidden",
    ),
    "it is switched off": ("ALTER TABLE {table} DISABLE ROW LEVEL SECURITY", "read"),
    "everybody may read all": (
        "CREATE POLICY more ON {table} FOR SELECT USING (true)",
        "read",
    ),
    "everybody may do all": ("CREATE POLICY more ON {table} USING (true)", "update"),
    "everybody may insert": (
        "CREATE POLICY more ON {table} FOR INSERT WITH CHECK (true)",
        "insert",
    ),
    "everybody may change all": (
        "CREATE POLICY more ON {table} FOR UPDATE USING (true)",
        "update",
    ),
    "everybody may delete": (
        "CREATE POLICY more ON {table} FOR DELETE USING (true)",
        "delete",
    ),
    "nobody may insert": (
        "CREATE POLICY more ON {table} FOR INSERT"
        + " WITH CHECK (coalesce(current_setting('app.tenant', true), '') = '')",
        "insert_as_nobody",
    ),
    "no tenant is every tenant": (
        "CREATE POLICY more ON {table} USING (coalesce(current_setting('app.tenant', true), '') = '')",
        "read_as_nobody",
    ),
    "its owner is not held": (
        "ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY",
        "not_forced",
    ),
}
FUNCTION = """
CREATE FUNCTION notes() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM events'
"""
DETOURS = {
    "a table without a policy": ("CREATE TABLE notes (tenant_id text)", "not_enabled"),
    "a table without tenants": ("CREATE TABLE notes (id text)", "no_tenant"),
    "a view": ("CREATE VIEW notes AS SELECT * FROM events", "detour"),
    "a kept view": (
        "CREATE MATERIALIZED VIEW notes AS SELECT * FROM tenants",
        "detour",
    ),
    "a function": (FUNCTION, "detour"),
    "a key without the tenant": (
        "CREATE TABLE notes (tenant_id text, id text PRIMARY KEY)",
        "key_without_tenant",
    ),
    "a reference without the tenant": (
        "CREATE TABLE notes (tenant_id text, id text UNIQUE REFERENCES notes (id))",
        "key_without_tenant",
    ),
}


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    with postgres.server() as found:
        yield found


@pytest.fixture(scope="module")
def filled(server: postgres.Server) -> str:
    """A database with a row of each of two tenants in every table; others are copied from it."""
    database = server.fresh_database()
    with server.connect("admin", database) as admin:
        row_level_security.fill(admin)
    return database


def test_the_examination_is_not_made_by_a_role_that_passes_it_by(
    server: postgres.Server, filled: str
) -> None:
    with server.connect("app", server.fresh_database(filled)) as app:
        assert app.execute(
            "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
        ).fetchone() == (False, False)
        assert app.execute(
            "SELECT count(*) FROM pg_class WHERE relowner = current_user::regrole"
        ).fetchone() == (0,)


def test_every_table_of_the_adapter_is_examined_and_keeps_tenants_apart(
    server: postgres.Server, filled: str
) -> None:
    with server.connect("app", server.fresh_database(filled)) as app:
        found = examine(app)
    assert found.violations == ()
    assert set(found.tables) == METADATA.tables.keys()
    assert not SHARED_TABLES & set(found.tables)
    # Whatever else it was granted, it reads every table and adds to each that tenants own.
    assert found.attempts >= 2 * len(found.tables) - 1


def test_the_owner_who_may_do_everything_is_held_too(server: postgres.Server, filled: str) -> None:
    with server.connect("owner", server.fresh_database(filled)) as owner:
        found = examine(owner, owner=True)
    assert found.violations == ()
    assert found.attempts == 4 * len(found.tables)


def test_maintenance_which_deletes_is_held_too(server: postgres.Server, filled: str) -> None:
    with server.connect("maintenance", server.fresh_database(filled)) as maintenance:
        found = examine(maintenance)
        assert found.violations == ()
        maintenance.execute("SELECT set_config('app.tenant', %s, false)", [TENANTS[0]])
        assert maintenance.execute("DELETE FROM checkpoints").rowcount == 1
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            maintenance.execute("UPDATE runs SET status = 'COMPLETED'")


def test_a_tenant_sees_its_own_rows(server: postgres.Server, filled: str) -> None:
    with server.connect("app", server.fresh_database(filled)) as app:
        app.execute("SELECT set_config('app.tenant', %s, false)", [TENANTS[1]])
        for table in row_level_security.tables(app):
            column = "id" if table == "tenants" else "tenant_id"
            rows = app.execute(f"SELECT {column} FROM {table}").fetchall()
            assert rows == [(TENANTS[1],)]


@pytest.mark.parametrize("name", BREAKS)
def test_every_table_is_missed_when(server: postgres.Server, filled: str, name: str) -> None:
    statement, rule = BREAKS[name]
    with server.connect("owner", filled) as owner:
        names = row_level_security.tables(owner)
    assert len(names) > 4
    database = server.fresh_database(filled)
    with server.connect("owner", database) as owner:
        for table in names:
            owner.execute(statement.format(table=table))
        as_owner = examine(owner, owner=True)
    missed = {one.table for one in as_owner.violations if one.rule == rule}
    assert missed == set(names)


@pytest.mark.parametrize("name", BREAKS)
def test_the_application_would_see_it_in_a_single_table(
    server: postgres.Server, filled: str, name: str
) -> None:
    statement, rule = BREAKS[name]
    database = server.fresh_database(filled)
    with server.connect("owner", database) as owner:
        owner.execute(statement.format(table="checkpoints"))
    with server.connect("app", database) as app:
        found = examine(app)
    assert rule in found.rules
    assert {one.table for one in found.violations} == {"checkpoints"}


@pytest.mark.parametrize("name", DETOURS)
def test_a_way_around_is_found(server: postgres.Server, filled: str, name: str) -> None:
    statement, rule = DETOURS[name]
    database = server.fresh_database(filled)
    with server.connect("owner", database) as owner:
        owner.execute(statement)
    with server.connect("app", database) as app:
        assert rule in examine(app).rules


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ("ALTER ROLE {role} SUPERUSER", "superuser"),
        ("ALTER ROLE {role} BYPASSRLS", "bypasses"),
        ("GRANT hardgate_owner TO {role}", "owner"),
    ],
)
def test_a_role_with_too_many_rights_is_found(
    server: postgres.Server, filled: str, change: str, rule: str
) -> None:
    database = server.fresh_database(filled)
    with server.connect("admin", database) as admin:
        admin.execute("CREATE ROLE hardgate_too_strong")
        try:
            admin.execute(change.format(role="hardgate_too_strong"))
            admin.execute("GRANT USAGE ON SCHEMA public TO hardgate_too_strong")
            admin.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO hardgate_too_strong")
            admin.execute("SET ROLE hardgate_too_strong")
            assert rule in examine(admin).rules
        finally:
            admin.execute("RESET ROLE")
            admin.execute("DROP OWNED BY hardgate_too_strong")
            admin.execute("DROP ROLE hardgate_too_strong")


def test_a_column_of_an_unknown_type_is_said(server: postgres.Server) -> None:
    database = server.fresh_database()
    with server.connect("admin", database) as admin:
        admin.execute("CREATE TABLE places (tenant_id text, place point)")
        with pytest.raises(ValueError, match="places: no value is known for point"):
            row_level_security.fill(admin)


def test_the_connection_of_a_test_is_a_plain_one(server: postgres.Server, filled: str) -> None:
    with server.connect("app", filled) as app:
        assert app.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
        examine(app)
        assert app.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
        assert app.execute("SELECT current_setting('app.tenant', true)").fetchone() == ("",)
