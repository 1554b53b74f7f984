"""The page about storage says what is so."""

import re
import sqlite3
from pathlib import Path

import pytest

from agent_core.adapters.sql import engine, migrate
from agent_core.adapters.sql.tables import METADATA, TENANT_OWNED
from agent_core.adapters.sql.transaction import TENANT_SETTING
from agent_core.domain import errors

PAGE = Path("docs/reference/storage.md").read_text("utf-8")


def test_the_example_sets_a_database_up(tmp_path):
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "records.db"
    exec(example, {"OWNER_URL": f"sqlite:///{path}"})
    with sqlite3.connect(path) as connection:
        tenants = {name for (name,) in connection.execute("SELECT id FROM tenants")}
    assert tenants == {"tenant_a", "tenant_default", "tenant_eval"}
    assert {"tenant_default", "tenant_eval"} <= set(re.findall(r"`(tenant_\w+)`", PAGE))


@pytest.mark.parametrize(
    ("row", "value"),
    [
        ("waiting for a lock, or for a connection", f"{engine.WAIT_SECONDS} s"),
        ("a statement on PostgreSQL", f"{engine.STATEMENT_SECONDS} s"),
        ("connections of one process", str(engine.CONNECTIONS)),
    ],
)
def test_the_limits_are_those_of_the_program(row, value):
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {row}")]
    assert line.split("|")[2].strip() == value


def test_the_setting_and_the_errors_exist():
    assert f"`{TENANT_SETTING}`" in PAGE
    named = set(re.findall(r"^\| `(\w+)`", PAGE, re.MULTILINE)) - {"memory"}
    assert len(named) == 4
    assert all(issubclass(getattr(errors, name), errors.AgentCoreError) for name in named)


def test_the_application_changes_and_deletes_what_the_page_says():
    rights = {table.name: migrate.rights_to_run(table.name) for table in TENANT_OWNED}
    unchanged = {name for name, granted in rights.items() if "UPDATE" not in granted}
    deleted = {name for name, granted in rights.items() if "DELETE" in granted}
    assert unchanged == {"events", "model_turns"} < METADATA.tables.keys()
    assert deleted == {"checkpoints"}
    assert "change all but events and turns of the model; delete checkpoints" in PAGE
