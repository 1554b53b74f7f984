"""What is read of units of work, rows, migrations and the SQL adapter's signatures."""

from textwrap import dedent, indent

import pytest

from gates.checks.structure import migration_graph, orm_confined, rows_ordered
from gates.checks.structure_open_units import assertion_findings
from gates.checks.structure_transactions import TransactionJudge
from tests.unit.gates.sources import examine, parsed, said

PORT = """\
from typing import Protocol

class UnitOfWork(Protocol):
    @property
    def runs(self): ...
    @property
    def turns(self): ...
"""


def judged(source):
    judge = TransactionJudge(
        parsed(
            {
                "src/agent_core/ports/persistence.py": PORT,
                "src/agent_core/application/service.py": dedent(source),
            }
        )
    )
    return [finding.rule for finding in judge.findings()], judge.examined


def in_unit(body):
    opened = "class S:\n    async def f(self):\n        async with self._units() as unit:\n"
    return judged(
        "from agent_core.ports.persistence import UnitOfWork\n"
        "async def helper(unit: UnitOfWork): await unit.runs.get('x')\n"
        f"{opened}{indent(dedent(body), ' ' * 12)}"
    )


@pytest.mark.parametrize(
    "body", ["await unit.runs.get(1)", "await helper(unit)", "await TABLE[kind](unit, 1)", "x = 1"]
)
def test_a_unit_awaits_its_own_repositories(body):
    assert in_unit(body)[0] == []


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("await self.model.ask()", "await_in_transaction"),
        ("await other.runs.get(1)", "await_in_transaction"),
        ("await helper(1)", "await_in_transaction"),
        ("await unknown(unit)", "await_in_transaction"),
        ("await self.future", "await_in_transaction"),
        ("async for event in self.stream(): pass", "stream_in_transaction"),
        ("async with self.timeout(1): pass", "context_in_transaction"),
        ("yield 1", "yield_in_transaction"),
    ],
)
def test_whatever_else_is_awaited_in_a_unit_is_found(body, rule):
    found, examined = in_unit(body)
    assert rule in found
    assert examined >= 1


def test_a_repository_of_a_unit_that_nothing_has_opened_is_found():
    found, _ = judged("async def f(unit): return await unit.turns.list_for_run('x')")
    assert found == ["transaction_unrecognised"]


def test_the_assertion_is_asked_at_both_calls():
    assert assertion_findings() == ([], 2)


QUERIES = "src/agent_core/adapters/sql/runs.py"
HEAD = "from sqlalchemy import select\nclass R:\n    def f(self):\n"


def ordered(body):
    source = HEAD + indent(dedent(body), " " * 8)
    return [one.split(": ")[1] for one in said(examine(rows_ordered, {QUERIES: source}))]


@pytest.mark.parametrize(
    "body",
    [
        "return self.t.rows(select(T).order_by(T.id))",
        "found = select(T).order_by(T.id)\nreturn self.t.rows(found)",
        "return self.t.rows(select(T).order_by(T.id).limit(1))",
        "self.t.execute(delete(T))\nself.t.rows(select(T).order_by(T.id))",
    ],
)
def test_rows_that_say_their_order_pass(body):
    assert ordered(body) == []


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("return self.t.rows(select(T))", "order_missing"),
        ("return self.t.rows(select(T).order_by())", "order_missing"),
        ("found = select(T)\nreturn self.t.rows(found)", "order_missing"),
        ("x = select(T).order_by(1)\nx = select(T)\nreturn self.t.rows(x)", "order_missing"),
        ("return self.t.execute(select(T).order_by(T.id))", "rows_past_order"),
        ("found = select(T)\nreturn self.t.execute(found)", "rows_past_order"),
        ("return self.t.execute(x).all()", "rows_past_order"),
    ],
)
def test_rows_in_any_order_are_found(body, rule):
    assert rule in ordered(body)


def test_who_passes_a_query_on_is_a_way_to_rows_itself():
    source = (
        "class R:\n    def all_of(self, query):\n        return self.t.rows(query)\n"
        "    def f(self):\n        return self.all_of(select(T))\n"
    )
    assert said(examine(rows_ordered, {QUERIES: source})) == [f"{QUERIES}:5: order_missing"]


VERSIONS = "src/agent_core/adapters/sql/migrations/versions"
PINNED = "src/agent_core/adapters/sql/schema_version.py"


def migrations(second='"0001"', listed="(m1, m2)", pinned='"0002"', revision='"0002"'):
    return {
        f"{VERSIONS}/__init__.py": f"MIGRATIONS = {listed}",
        f"{VERSIONS}/m1.py": 'revision = "0001"\ndown_revision = None',
        f"{VERSIONS}/m2.py": f"revision = {revision}\ndown_revision = {second}",
        PINNED: f"SCHEMA_VERSION = {pinned}",
    }


def test_one_chain_of_migrations_passes():
    examination = examine(migration_graph, migrations())
    assert (said(examination), examination.examined) == ([], 2)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"second": "None"}, "second_head"),
        ({"second": '("0001", "x")'}, "migration_merged"),
        ({"second": '"0009"'}, "revision_unknown"),
        ({"revision": '"0001"'}, "revision_repeated"),
        ({"listed": "(m1,)"}, "migration_unlisted"),
        ({"listed": "(m2, m1)"}, "migration_unlisted"),
        ({"pinned": '"0001"'}, "schema_version_stale"),
    ],
)
def test_what_is_no_chain_is_found(changes, rule):
    found = said(examine(migration_graph, migrations(**changes)))
    assert rule in [one.split(": ")[1] for one in found]


ADAPTER = "src/agent_core/adapters/sql/runs.py"
REPOSITORY = """\
from sqlalchemy import Connection, RowMapping
from agent_core.adapters.sql.transaction import Transaction
from agent_core.ports.repositories import RunRepository

class SqlRunRepository(RunRepository):
    def __init__(self, transaction: Transaction) -> None: ...
    async def get(self, run_id: str) -> {returned}: ...
    def _row(self) -> RowMapping: ...
"""


@pytest.mark.parametrize(
    ("returned", "found"),
    [
        ("str", []),
        ("RowMapping", ["connection_shown"]),
        ("tuple[Connection, ...]", ["connection_shown"]),
        ("Transaction | None", ["connection_shown"]),
    ],
)
def test_a_method_of_a_port_shows_nothing_of_the_database(returned, found):
    source = REPOSITORY.format(returned=returned)
    assert [one.split(": ")[1] for one in said(examine(orm_confined, {ADAPTER: source}))] == found


@pytest.mark.parametrize("line", ["import sqlalchemy", "def f():\n    from sqlite3 import dbapi2"])
def test_a_library_of_sql_is_found_outside_the_adapter(line):
    files = {"src/agent_core/application/service.py": line, "src/agent_core/__init__.py": ""}
    found = said(examine(orm_confined, files))
    assert [one.split(": ")[1] for one in found] == ["database_library"]
