"""The counterexamples of the area structure."""

from __future__ import annotations

from collections.abc import Callable

from hardgate.kinds.bench import Bench
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
