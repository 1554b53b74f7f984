"""The schema's history, on SQLite: one line of it, which ends at the tables that are used."""

import sqlite3

import pytest
from alembic import op
from sqlalchemy import Column, Integer

from agent_core.adapters.sql import migrate
from agent_core.adapters.sql.migrations import versions
from agent_core.adapters.sql.migrations.versions import m0003_tenant_eval
from agent_core.adapters.sql.schema_version import SCHEMA_VERSION
from agent_core.adapters.sql.store import SqlStore
from agent_core.adapters.sql.tables import METADATA, TENANT_OWNED
from agent_core.domain.errors import SchemaMismatch, StorageUnavailable


@pytest.fixture
def path(tmp_path):
    return tmp_path / "records.db"


@pytest.fixture
def url(path):
    return f"sqlite:///{path}"


def query(path, statement):
    connection = sqlite3.connect(path)
    try:
        with connection:
            return connection.execute(statement).fetchall()
    finally:
        connection.close()


def tables(path):
    return {name for (name,) in query(path, "SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_there_is_one_head_and_processes_that_do_not_migrate_know_it():
    assert list(migrate.heads()) == [SCHEMA_VERSION]


def test_every_module_of_the_folder_is_listed():
    modules = {name for name in vars(versions) if name.startswith("m0")}
    assert {one.__name__.rpartition(".")[2] for one in versions.MIGRATIONS} == modules
    assert len({one.revision for one in versions.MIGRATIONS}) == len(versions.MIGRATIONS)


def test_a_new_database_has_the_tables_that_are_used(path, url):
    migrate.upgrade(url)
    assert migrate.differences(url) == []
    assert tables(path) == METADATA.tables.keys() | {"alembic_version"}
    SqlStore(url).check_schema()


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE runs DROP COLUMN suspension",
        "ALTER TABLE runs ADD COLUMN more TEXT",
        "DROP TABLE projections",
        "CREATE TABLE more (id TEXT)",
        "DROP INDEX ix_effect_reviews_tenant_id_run_id",
    ],
)
def test_a_difference_is_seen(path, url, change):
    migrate.upgrade(url)
    query(path, change)
    assert len(migrate.differences(url)) == 1


def test_upgrading_again_changes_nothing(path, url):
    migrate.upgrade(url)
    query(path, "INSERT INTO tenants VALUES ('tenant_x')")
    migrate.upgrade(url)
    assert query(path, "SELECT id FROM tenants ORDER BY id") == [
        ("tenant_default",),
        ("tenant_eval",),
        ("tenant_x",),
    ]


def test_an_older_database_is_brought_forward(path, url, monkeypatch):
    monkeypatch.setattr(migrate, "MIGRATIONS", versions.MIGRATIONS[:2])
    migrate.upgrade(url)
    assert query(path, "SELECT id FROM tenants") == [("tenant_default",)]
    with pytest.raises(SchemaMismatch, match=f"the schema is 0002; needed: {SCHEMA_VERSION}"):
        SqlStore(url).check_schema()
    monkeypatch.undo()
    migrate.upgrade(url)
    assert ("tenant_eval",) in query(path, "SELECT id FROM tenants")
    SqlStore(url).check_schema()


def test_a_newer_database_is_left_alone(path, url):
    migrate.upgrade(url)
    query(path, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(SchemaMismatch, match="does not know"):
        migrate.upgrade(url)
    with pytest.raises(SchemaMismatch, match=f"the schema is 9999; needed: {SCHEMA_VERSION}"):
        SqlStore(url).check_schema()


def test_a_migration_that_fails_leaves_nothing_of_the_attempt(path, url, monkeypatch):
    def broken():
        op.create_table("half", Column("id", Integer))
        raise KeyError("mine")

    monkeypatch.setattr(m0003_tenant_eval, "upgrade", broken)
    with pytest.raises(KeyError, match="mine"):
        migrate.upgrade(url)
    assert tables(path) == set()


def test_a_database_without_tables_is_told_from_one_with_others(url):
    with pytest.raises(SchemaMismatch, match="not there"):
        SqlStore(url).check_schema()


def test_a_file_that_is_no_database_is_said_to_be_unavailable(path, url):
    path.write_text("these are not records\n" * 100)
    with pytest.raises(StorageUnavailable, match="SQLITE_NOTADB"):
        SqlStore(url).check_schema()
    with pytest.raises(StorageUnavailable, match="SQLITE_NOTADB"):
        migrate.upgrade(url)


def test_every_key_and_reference_begins_with_the_tenant():
    assert len(TENANT_OWNED) == len(METADATA.tables) - 1
    for table in TENANT_OWNED:
        assert next(iter(table.primary_key.columns)).name == "tenant_id"
        for reference in table.foreign_key_constraints:
            assert reference.column_keys[0] == "tenant_id"
            assert reference.deferrable and reference.initially == "DEFERRED"
