"""Who may import whom, as data. docs/specs/structure.md tells why; structure_imports.py judges.

A package stands for itself and everything below it. Rules are tried in the order of the table and
an import is reported once, under the first rule it breaks: the particular ones come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hardgate.kinds.python_source import inside

# Any package that is neither of this repository nor in the standard library.
THIRD_PARTY = "(third-party)"

RUNTIME_LAYERS = ("domain", "ports", "application", "adapters", "bootstrap")
HARNESS_ORDER = (
    ("documents",),
    ("registry", "cases", "fixtures", "verdicts"),
    ("expectations", "wire"),
    ("subjects",),
    ("kinds",),
    ("report",),
    ("cli",),
)
PACKAGES = ("agent_core", "hardgate", "agent_cli")


@dataclass(frozen=True)
class ImportRule:
    """Modules of `sources` import nothing of `forbidden`; the other two fields are exceptions.

    With `chains`, neither do they import anything that leads there.
    """

    name: str
    statement: str
    sources: Sequence[str]
    forbidden: Sequence[str]
    other_sources: Sequence[str] = ()
    allowed: Sequence[str] = ()
    chains: bool = True

    def covers(self, module: str) -> bool:
        """Whether the rule binds a module."""
        return inside(module, self.sources) and not inside(module, self.other_sources)

    def forbids(self, module: str, *, third_party: bool) -> bool:
        """Whether the rule forbids to import a module; `third_party` says of which kind it is."""
        named = inside(module, self.forbidden) or (third_party and THIRD_PARTY in self.forbidden)
        return named and not inside(module, self.allowed)


@dataclass(frozen=True)
class ImportException:
    """One import that a rule would forbid, and the reason to allow it all the same."""

    importer: str
    imported: str
    reason: str


EXCEPTIONS: tuple[ImportException, ...] = ()


def _layer_rule(lower: str) -> ImportRule:
    higher = RUNTIME_LAYERS[RUNTIME_LAYERS.index(lower) + 1 :]
    return ImportRule(
        "layer_order",
        f"{lower} is below {', '.join(higher)}; imports inside agent_core run downwards only",
        sources=(f"agent_core.{lower}",),
        forbidden=tuple(f"agent_core.{layer}" for layer in higher),
    )


def _order_rules() -> tuple[ImportRule, ...]:
    rules: list[ImportRule] = []
    for level, names in enumerate(HARNESS_ORDER[:-1]):
        higher = [name for above in HARNESS_ORDER[level + 1 :] for name in above]
        rules.append(
            ImportRule(
                "package_order",
                f"{', '.join(names)} of hardgate may not know {', '.join(higher)}",
                sources=tuple(f"hardgate.{name}" for name in names),
                forbidden=tuple(f"hardgate.{name}" for name in higher),
            )
        )
    return tuple(rules)


RULES: tuple[ImportRule, ...] = (
    ImportRule(
        "bootstrap_importer",
        "only an entry point puts the parts together, so only agent_cli imports bootstrap",
        sources=PACKAGES,
        forbidden=("agent_core.bootstrap",),
        other_sources=("agent_core.bootstrap", "agent_cli"),
    ),
    ImportRule(
        "entry_point_import",
        "nothing imports an entry point",
        sources=("agent_core", "hardgate"),
        forbidden=("agent_cli",),
    ),
    ImportRule(
        "test_import",
        "what is shipped does not need the tests, the gates or the build tools of this repository",
        sources=PACKAGES,
        forbidden=("gates", "tests", "tools"),
    ),
    ImportRule(
        "runtime_import",
        "hardgate knows no runtime; a runtime is a subject behind a port",
        sources=("hardgate",),
        forbidden=("agent_core",),
    ),
    ImportRule(
        "adapter_import",
        "bootstrap alone chooses the implementations of the ports",
        sources=("agent_core.evals", "agent_cli"),
        forbidden=("agent_core.adapters",),
        chains=False,
    ),
    ImportRule(
        "policy_import",
        "a policy decides from the action and the rules: it knows no model, store, tool or clock",
        sources=(
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
        allowed=(
            "agent_core.adapters.policy",
            "agent_core.application.policy",
            "agent_core.ports.policies",
            "pydantic",
        ),
        chains=False,
    ),
    ImportRule(
        "provider_sdk",
        "the libraries of model providers stay behind the adapters of the model port",
        sources=PACKAGES,
        forbidden=("anthropic", "cohere", "google", "litellm", "mistralai", "ollama", "openai"),
        other_sources=("agent_core.adapters.models",),
        chains=False,
    ),
    ImportRule(
        "database_library",
        "only the persistence adapters know that there is a database",
        sources=PACKAGES,
        forbidden=("aiosqlite", "alembic", "asyncpg", "psycopg", "sqlalchemy", "sqlite3"),
        other_sources=("agent_core.adapters.persistence",),
        chains=False,
    ),
    ImportRule(
        "web_framework",
        "the application knows no web framework; it is called by one",
        sources=tuple(f"agent_core.{layer}" for layer in ("domain", "ports", "application")),
        forbidden=("aiohttp", "django", "fastapi", "flask", "starlette", "uvicorn"),
        chains=False,
    ),
    *(_layer_rule(layer) for layer in RUNTIME_LAYERS[:-1]),
    ImportRule(
        "external_import",
        "the domain imports the standard library and pydantic, nothing else",
        sources=("agent_core.domain",),
        forbidden=(THIRD_PARTY,),
        allowed=("pydantic",),
    ),
    ImportRule(
        "external_import",
        "ports and application import no library but the standard one",
        sources=("agent_core.ports", "agent_core.application"),
        forbidden=(THIRD_PARTY,),
        chains=False,
    ),
    *_order_rules(),
    ImportRule(
        "heavy_import",
        "every verdict process starts here, so hardgate.verdicts takes the standard library only",
        sources=("hardgate.verdicts",),
        forbidden=("hardgate", THIRD_PARTY),
        allowed=("hardgate.verdicts",),
    ),
    ImportRule(
        "heavy_import",
        "the YAML loader also runs before any library is installed, so it takes PyYAML only",
        sources=(
            "hardgate.documents.problems",
            "hardgate.documents.strict_yaml",
            "hardgate.documents.tree",
        ),
        forbidden=(THIRD_PARTY,),
        allowed=("yaml",),
    ),
    ImportRule(
        "contract_import",
        "a contract test knows ports and domain, and only the list of what it runs names adapters",
        sources=("tests.contract",),
        forbidden=("agent_core.application", "agent_core.bootstrap", "agent_core.evals"),
        chains=False,
    ),
)
