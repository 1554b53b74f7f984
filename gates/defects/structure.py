"""The counterexamples of the area structure."""

from __future__ import annotations

from collections.abc import Callable

from agent_core.application import open_units
from agent_core.application.model_step import ModelStep
from agent_core.application.tool_pipeline import ToolPipeline
from hardgate.kinds.bench import Bench
from hardgate.kinds.code_edits import edited
from hardgate.kinds.python_edits import (
    add_import,
    add_to_function,
    append,
    dotted,
    first_module,
)
from hardgate.registry.allowances import line_digest
from hardgate.registry.check_options import ALLOWANCE_FILE
from hardgate.structural_checks import committed_secrets
from hardgate.structural_checks.committed_secrets import FoundSecret
from hardgate.verdicts.verdict import Finding

_DOMAIN = "src/agent_core/domain"
_PORTS = "src/agent_core/ports"
_APPLICATION = "src/agent_core/application"
_ADAPTERS = "src/agent_core/adapters"


def _import_of(bench: Bench, folder: str) -> str:
    """A statement that imports the first module of a folder."""
    return f"import {dotted(first_module(bench.tree, folder))}"


def upward_import(bench: Bench) -> None:
    """A module of the domain uses a module of the application."""
    add_import(bench.tree, first_module(bench.tree, _DOMAIN), _import_of(bench, _APPLICATION))


def lazy_upward_import(bench: Bench) -> None:
    """A function of the application imports an adapter when it is called."""
    path = first_module(bench.tree, _APPLICATION)
    add_to_function(bench.tree, path, _import_of(bench, _ADAPTERS))


def guarded_upward_import(bench: Bench) -> None:
    """A port imports the application for its annotations only, behind a condition."""
    statement = f"if __debug__:\n    {_import_of(bench, _APPLICATION)} as _service"
    add_import(bench.tree, first_module(bench.tree, _PORTS), statement)


def detour_import(bench: Bench) -> None:
    """The YAML loader gets a helper from a module that needs pydantic."""
    statement = "from hardgate.documents.validation import validate"
    add_import(bench.tree, "src/hardgate/documents/strict_yaml.py", statement)


def bootstrap_reused(bench: Bench) -> None:
    """A service of the application builds its own runtime."""
    path = first_module(bench.tree, _APPLICATION)
    add_to_function(bench.tree, path, "from agent_core.bootstrap import build_runtime")


def entry_point_imported(bench: Bench) -> None:
    """An adapter reuses a helper of the command line."""
    add_import(bench.tree, first_module(bench.tree, _ADAPTERS), "import agent_cli")


def library_in_domain(bench: Bench) -> None:
    """A value of the domain talks HTTP itself."""
    add_import(bench.tree, first_module(bench.tree, _DOMAIN), "import requests")


def framework_in_application(bench: Bench) -> None:
    """A service of the application raises the error class of a web framework."""
    statement = "from fastapi import HTTPException"
    add_import(bench.tree, first_module(bench.tree, _APPLICATION), statement)


def sdk_in_tool(bench: Bench) -> None:
    """A tool calls a model provider with the library of its vendor."""
    path = first_module(bench.tree, f"{_ADAPTERS}/tools")
    add_to_function(bench.tree, path, "from openai import OpenAI")


def database_in_tool(bench: Bench) -> None:
    """A tool opens a database session of its own."""
    path = first_module(bench.tree, f"{_ADAPTERS}/tools")
    add_import(bench.tree, path, "from sqlalchemy.orm import Session")


def policy_reads_clock(bench: Bench) -> None:
    """The policy engine takes a clock, so that equal actions may get different decisions."""
    path = first_module(bench.tree, f"{_ADAPTERS}/policy")
    add_import(bench.tree, path, "from agent_core.ports.determinism import Clock")


def adapter_chosen_in_evals(bench: Bench) -> None:
    """What binds the runtime to the harness picks an adapter past bootstrap."""
    path = first_module(bench.tree, "src/agent_core/evals")
    add_import(bench.tree, path, _import_of(bench, _ADAPTERS))


def runtime_in_hardgate(bench: Bench) -> None:
    """The harness imports an exception of the reference runtime to catch it."""
    path = first_module(bench.tree, "src/hardgate/subjects")
    add_import(bench.tree, path, "from agent_core.domain import errors")


def runtime_by_name(bench: Bench) -> None:
    """The harness loads the reference runtime by its name, so that no import statement shows it."""
    path = first_module(bench.tree, "src/hardgate/kinds")
    add_import(bench.tree, path, "from importlib import import_module")
    add_to_function(bench.tree, path, "import_module('agent_core.domain.errors')")


def package_order_broken(bench: Bench) -> None:
    """The lowest package of the harness uses a constant of a higher one."""
    path = "src/hardgate/documents/tree.py"
    add_to_function(bench.tree, path, "from hardgate.kinds.context import Examination")


def verdict_made_heavy(bench: Bench) -> None:
    """The verdict becomes a model of pydantic, which every verdict process then loads."""
    add_import(bench.tree, "src/hardgate/verdicts/verdict.py", "from pydantic import BaseModel")


def checks_shipped(bench: Bench) -> None:
    """A module that is shipped imports a check of this repository."""
    path = first_module(bench.tree, "src/hardgate/report")
    add_import(bench.tree, path, "from gates.checks import structure")


def contract_knows_service(bench: Bench) -> None:
    """A contract test sets up its port through a service of the application."""
    path = first_module(bench.tree, "tests/contract")
    add_import(bench.tree, path, _import_of(bench, _APPLICATION))


def module_without_place(bench: Bench) -> None:
    """Helpers for everybody in a module that belongs to no layer."""
    text = '"""Helpers."""\n\n\ndef first(values):\n    return next(iter(values), None)\n'
    bench.tree.write("src/agent_core/helpers.py", text)


# The planted secrets are made up, and put together from parts so that this file holds none.


def provider_key_committed(bench: Bench) -> None:
    """The key of a developer's own account stays in a module after a manual try."""
    key = "-".join(["sk", "ant", "api03", "Zq7" * 12])
    path = first_module(bench.tree, f"{_ADAPTERS}/models")
    append(bench.tree, path, f'_PROVIDER = {{"key": "{key}"}}')


def private_key_committed(bench: Bench) -> None:
    """The key of a local test server is checked in beside the test."""
    mark, kind = "-" * 5, " ".join(["PRIVATE", "KEY"])
    text = f"{mark}BEGIN {kind}{mark}\n{'MIIEvQ' * 10}\n{mark}END {kind}{mark}\n"
    bench.tree.write("tests/fixtures/server.pem", text)


def bearer_literal_committed(bench: Bench) -> None:
    """The transcript of a manual request, with its header, is pasted into the documentation."""
    token = "f3Kq" + "9xLw2" * 6
    path = next(iter(bench.tree.glob("docs/specs/*.md")), "docs/specs")
    append(bench.tree, path, f"    curl -H 'Authorization: {'Bearer'} {token}' $API/v1/runs")


def dsn_password_committed(bench: Bench) -> None:
    """A connection string that worked on one machine becomes the default of a setting."""
    path = first_module(bench.tree, _APPLICATION)
    append(bench.tree, path, f'DATABASE = "postgresql://agent:{"pw7" * 3}@db.internal/agent"')


def assigned_secret_committed(bench: Bench) -> None:
    """A password without the form of a key is written into a settings file."""
    name = "_".join(["webhook", "signing", "secret"])
    bench.tree.write("evals/settings.yaml", f"timeout_seconds: 5\n{name}: {'Tr0ub4dor' * 2}\n")


def stale_allowance(bench: Bench) -> None:
    """The allowed line is gone, its allowance is not."""
    _allow(bench, digest=line_digest("removed"), reason="It was a sample in a test.")


def allowance_without_reason(bench: Bench) -> None:
    """A line is allowed, and nobody says why."""
    _allow(bench, digest=line_digest("removed"), reason="")


def allowance_of_a_whole_file(bench: Bench) -> None:
    """An allowance names a file and a rule and leaves out the line."""
    _allow(bench, digest="", reason="Everything in this file is a sample.")


def _allow(bench: Bench, digest: str, reason: str) -> None:
    entry = f"path: README.md\n  rule: assigned_secret\n  line_sha256: '{digest}'"
    bench.tree.write(ALLOWANCE_FILE, f"- {entry}\n  reason: '{reason}'\n")


def secret_shown(bench: Bench) -> None:
    """A finding quotes what it found, to be helpful."""
    assigned_secret_committed(bench)

    def quoting(original: Callable[[FoundSecret], Finding]) -> Callable[[FoundSecret], Finding]:
        def secret_finding(found: FoundSecret) -> Finding:
            finding = original(found)
            return finding._replace(message=f"{finding.message} ({min(found.values)})")

        return secret_finding

    bench.replace(committed_secrets, "secret_finding", quoting)


# txn_hygiene

_MODEL_STEP = f"{_APPLICATION}/model_step.py"
_PIPELINE = f"{_APPLICATION}/tool_pipeline.py"


def model_asked_in_unit(bench: Bench) -> None:
    """The unit of work that charges an attempt is left only after the answer has arrived."""
    old = "async with self._clock.timeout(self._allowed_seconds(run)):"
    new = old.replace("async with ", "async with self._units() as unit, ")
    bench.tree.edit(_MODEL_STEP, old, new)


def tool_executed_in_unit(bench: Bench) -> None:
    """A tool runs in the unit of work that records how it ended."""
    old = "async with self._clock.timeout(spec.timeout_seconds):"
    new = old.replace("async with ", "async with self._units() as unit, ")
    bench.tree.edit(_PIPELINE, old, new)


def observer_told_in_unit(bench: Bench) -> None:
    """An observer, which may wait for anything, is told before the ending is committed."""
    old = "            sent = (await unit.invocations.get(row.id))"
    bench.tree.edit(_PIPELINE, old, f'            await self._at(13, "inside", run, row)\n{old}')


def stream_read_in_unit(bench: Bench) -> None:
    """The first words of the answer are read while the request is being recorded."""
    old = " " * 12 + "await self._journal.record(\n                unit, run, EventType.MODEL_REQUEST"
    read = "            async for _ in self._provider.stream(request):\n                break\n"
    bench.tree.edit(_MODEL_STEP, old, read + old)


def timeout_around_writes(bench: Bench) -> None:
    """A unit of work enters another context, which may wait."""
    old = "                await unit.invocations.add(row)\n"
    new = old.replace("await", "async with self._clock.timeout(1):\n                    await")
    bench.tree.edit(_PIPELINE, old, new)


def rows_handed_out_one_by_one(bench: Bench) -> None:
    """A generator keeps its unit of work open until somebody has read the last row."""
    lines = (
        "async def each_call(units, run_id):",
        "    async with units() as unit:",
        "        for row in await unit.invocations.list_for_run(run_id):",
        "            yield row",
    )
    append(bench.tree, f"{_APPLICATION}/rebuild.py", "\n".join(lines))


def unit_opened_elsewhere(bench: Bench) -> None:
    """A repository is used of a unit of work that nothing here has opened."""
    line = "async def turns_of(opened, run_id):\n    return await opened.turns.list_for_run(run_id)"
    append(bench.tree, f"{_APPLICATION}/rebuild.py", line)


def assertion_dropped_at_model(bench: Bench) -> None:
    """A model is asked whatever is open."""
    bench.replace(ModelStep, "_attempt", edited('assert_none_open("asking a model")', "pass"))


def assertion_dropped_at_tool(bench: Bench) -> None:
    """A tool is executed whatever is open."""
    bench.replace(ToolPipeline, "_execute", edited('assert_none_open("executing a tool")', "pass"))


def open_units_not_counted(bench: Bench) -> None:
    """Units of work are no longer counted when they are opened and left."""
    bench.replace(open_units, "opened", edited("_OPEN.set(_OPEN.get() + 1)", "pass"))
    bench.replace(open_units, "closed", edited("_OPEN.set(_OPEN.get() - 1)", "pass"))


# rows_ordered

_SQL = f"{_ADAPTERS}/sql"


def order_dropped(bench: Bench) -> None:
    """The events of a session come in any order."""
    path, old = f"{_SQL}/event_log.py", "later.order_by(EVENTS.c.sequence)"
    bench.tree.edit(path, old, "later")


def order_given_to_nobody(bench: Bench) -> None:
    """A query is ordered in a way that changes nothing: `order_by()` without a column."""
    bench.tree.edit(f"{_SQL}/reviews.py", "order_by(EFFECT_REVIEWS.c.id)", "order_by()")


def order_in_a_subquery_only(bench: Bench) -> None:
    """What is ordered is the row that is looked for, and not the rows that are returned."""
    path = f"{_SQL}/checkpoints.py"
    bench.tree.edit(path, "kept.order_by(version)", "kept")
    bench.tree.edit(path, ".scalar_subquery()", ".order_by(version).scalar_subquery()")


def rows_from_a_statement(bench: Bench) -> None:
    """Rows are taken from the way for statements, which asks for no order."""
    path = f"{_SQL}/invocations.py"
    old = "self._transaction.rows(found.order_by(TOOL_INVOCATIONS.c.id))"
    bench.tree.edit(path, old, "self._transaction.execute(found)")


def rows_from_the_connection(bench: Bench) -> None:
    """Rows are taken from the connection itself."""
    old = "self._transaction.rows(found)"
    bench.tree.edit(f"{_SQL}/hooks.py", old, "self._transaction._connection.execute(found).all()")


# migration_graph

_VERSIONS = f"{_SQL}/migrations/versions"
_NEXT = f"{_VERSIONS}/m0099_next.py"


def _migration(bench: Bench, revision: str, before: str) -> None:
    text = f'"""Changes something."""\n\nrevision = {revision}\ndown_revision = {before}\n'
    bench.tree.write(_NEXT, text)


def second_head(bench: Bench) -> None:
    """Two branches have each added a migration after the same one."""
    _migration(bench, '"0099"', '"0001"')


def heads_merged(bench: Bench) -> None:
    """Two heads are joined by a migration that follows both."""
    _migration(bench, '"0099"', '("0001", "0002")')


def revision_of_another(bench: Bench) -> None:
    """A migration was copied, and its number with it."""
    _migration(bench, '"0001"', '"0003"')


def follows_nothing(bench: Bench) -> None:
    """The migration that this one follows was renamed in a rebase."""
    _migration(bench, '"0099"', '"0098"')


def migration_not_listed(bench: Bench) -> None:
    """A migration is there and is never run."""
    old = "MIGRATIONS = (m0001_records, "
    bench.tree.edit(f"{_VERSIONS}/__init__.py", old, "MIGRATIONS = (")


def version_not_pinned_again(bench: Bench) -> None:
    """Programs still expect the schema before the last migration."""
    text = bench.tree.read(f"{_SQL}/schema_version.py").decode()
    bench.tree.write(f"{_SQL}/schema_version.py", text.replace('= "0', '= "1'))


# orm_confined


def session_in_service(bench: Bench) -> None:
    """A service of the application opens a database session when it is called."""
    path = first_module(bench.tree, _APPLICATION)
    add_to_function(bench.tree, path, "from sqlalchemy.orm import Session")


def driver_in_entry_point(bench: Bench) -> None:
    """An entry point looks into the file of the database itself."""
    add_import(bench.tree, first_module(bench.tree, "src/agent_cli"), "import sqlite3")


def library_by_name(bench: Bench) -> None:
    """An adapter loads the library by its name, so that no import statement shows it."""
    path = first_module(bench.tree, f"{_ADAPTERS}/tools")
    add_import(bench.tree, path, "from importlib import import_module")
    add_to_function(bench.tree, path, "import_module('sqlalchemy')")


def row_returned(bench: Bench) -> None:
    """A repository gives back the row of the library and not the record."""
    path, old = f"{_SQL}/reviews.py", "async def get(self, review_id: str) -> EffectReview:"
    bench.tree.edit(path, old, old.replace("EffectReview:", "RowMapping:"))
    add_import(bench.tree, path, "from sqlalchemy import RowMapping")


def connection_handed_out(bench: Bench) -> None:
    """The unit of work shows its transaction, for the one query that the ports do not have."""
    path, old = f"{_SQL}/unit_of_work.py", "    async def __aenter__(self) -> Self:"
    shown = (
        "    @property\n    def transaction(self) -> Transaction:\n        return self._open\n\n"
    )
    bench.tree.edit(path, old, shown + old)
