"""Who may import whom, as data for the library's import rules. docs/specs/structure.md tells why.

Rules are tried in the order of the table and an import is reported once, under the first rule it
breaks: the particular ones come first.
"""

from __future__ import annotations

from hardgate.registry.check_options import THIRD_PARTY, ForbiddenImport
from hardgate.structural_checks.import_layers import layer_rules

RUNTIME_LAYERS = ("domain", "ports", "application", "adapters", "bootstrap")
HARNESS_ORDER = (
    ("documents",),
    ("registry", "cases", "fixtures", "verdicts"),
    ("expectations", "wire"),
    ("subjects",),
    ("kinds",),
    ("structural_checks",),
    ("report",),
    ("cli",),
)
SHIPPED = ("agent_core", "hardgate", "agent_cli")
JUDGED = (*SHIPPED, "tests.contract")
PACKAGES = ("agent_core", "hardgate")
PLACES = (
    *(f"agent_core.{name}" for name in (*RUNTIME_LAYERS, "evals")),
    *(f"hardgate.{name}" for names in HARNESS_ORDER for name in names),
)

# Judged by gate.harness.evals_isolation, so that one import never turns two gates red.
ELSEWHERE = (
    ForbiddenImport(
        reason="the runtime knows nothing of what evaluates it",
        importers=("agent_core",),
        importers_except=("agent_core.evals",),
        forbidden=("agent_core.evals", "hardgate"),
    ),
)

RULES: tuple[ForbiddenImport, ...] = (
    ForbiddenImport(
        rule="bootstrap_importer",
        reason="only an entry point puts the parts together, so only agent_cli imports bootstrap",
        importers=SHIPPED,
        forbidden=("agent_core.bootstrap",),
        importers_except=("agent_core.bootstrap", "agent_cli"),
    ),
    ForbiddenImport(
        rule="entry_point_import",
        reason="nothing imports an entry point",
        importers=("agent_core", "hardgate"),
        forbidden=("agent_cli",),
    ),
    ForbiddenImport(
        rule="test_import",
        reason="what is shipped needs neither tests nor gates nor build tools of this repository",
        importers=SHIPPED,
        forbidden=("gates", "tests", "tools"),
    ),
    ForbiddenImport(
        rule="runtime_import",
        reason="hardgate knows no runtime; a runtime is a subject behind a port",
        importers=("hardgate",),
        forbidden=("agent_core",),
    ),
    ForbiddenImport(
        rule="adapter_import",
        reason="bootstrap alone chooses the implementations of the ports",
        importers=("agent_core.evals", "agent_cli"),
        forbidden=("agent_core.adapters",),
        through_others=False,
    ),
    ForbiddenImport(
        rule="policy_import",
        reason="a policy decides from action and rules: it knows no model, store, tool or clock",
        importers=(
            "agent_core.domain.policy",
            "agent_core.ports.policies",
            "agent_core.application.policy",
            "agent_core.adapters.policy",
        ),
        forbidden=(
            "agent_core.adapters",
            "agent_core.application",
            "agent_core.domain.context",
            "agent_core.domain.model",
            "agent_core.ports",
            THIRD_PARTY,
        ),
        forbidden_except=(
            "agent_core.adapters.policy",
            "agent_core.application.policy",
            "agent_core.ports.policies",
            "pydantic",
        ),
        through_others=False,
    ),
    ForbiddenImport(
        rule="provider_sdk",
        reason="the libraries of model providers stay behind the adapters of the model port",
        importers=SHIPPED,
        forbidden=("anthropic", "cohere", "google", "litellm", "mistralai", "ollama", "openai"),
        importers_except=("agent_core.adapters.models",),
        through_others=False,
    ),
    ForbiddenImport(
        rule="database_library",
        reason="only the persistence adapters know that there is a database",
        importers=SHIPPED,
        forbidden=("aiosqlite", "alembic", "asyncpg", "psycopg", "sqlalchemy", "sqlite3"),
        importers_except=("agent_core.adapters.sql",),
        through_others=False,
    ),
    ForbiddenImport(
        rule="web_framework",
        reason="the application knows no web framework; it is called by one",
        importers=tuple(f"agent_core.{layer}" for layer in ("domain", "ports", "application")),
        forbidden=("aiohttp", "django", "fastapi", "flask", "starlette", "uvicorn"),
        through_others=False,
    ),
    *layer_rules([[f"agent_core.{layer}"] for layer in RUNTIME_LAYERS]),
    ForbiddenImport(
        rule="external_import",
        reason="the domain imports the standard library and pydantic, nothing else",
        importers=("agent_core.domain",),
        forbidden=(THIRD_PARTY,),
        forbidden_except=("pydantic",),
    ),
    ForbiddenImport(
        rule="external_import",
        reason="ports and application import no library but the standard one",
        importers=("agent_core.ports", "agent_core.application"),
        forbidden=(THIRD_PARTY,),
        through_others=False,
    ),
    *layer_rules(
        [[f"hardgate.{name}" for name in names] for names in HARNESS_ORDER], "package_order"
    ),
    ForbiddenImport(
        rule="heavy_import",
        reason="every verdict process starts here, so it takes the standard library only",
        importers=("hardgate.verdicts",),
        forbidden=("hardgate", THIRD_PARTY),
        forbidden_except=("hardgate.verdicts",),
    ),
    ForbiddenImport(
        rule="heavy_import",
        reason="the YAML loader also runs before any library is installed, so it takes PyYAML only",
        importers=(
            "hardgate.documents.problems",
            "hardgate.documents.strict_yaml",
            "hardgate.documents.tree",
        ),
        forbidden=(THIRD_PARTY,),
        forbidden_except=("yaml",),
    ),
    ForbiddenImport(
        rule="contract_import",
        reason="a contract test knows ports and domain; only the list of what it runs names adapters",
        importers=("tests.contract",),
        forbidden=("agent_core.application", "agent_core.bootstrap", "agent_core.evals"),
        through_others=False,
    ),
)
