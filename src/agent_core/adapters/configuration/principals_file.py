"""Who may act, as a file: `principals.yaml`."""

from __future__ import annotations

import re

from agent_core.adapters.configuration.checker import Checker, Form
from agent_core.adapters.configuration.yaml_reader import Document
from agent_core.domain.scopes import Scope
from agent_core.domain.sessions import Principal

_TENANT = Form(re.compile(r"[a-z][a-z0-9_]*"), "a name such as tenant_a (a-z, 0-9 and _)")


def parse_principals(document: Document) -> list[Principal]:
    """The principals of a file, at least one. Raises `ConfigurationRefused`."""
    checker = Checker(document)
    checker.keys((), ("schema_version", "principals"))
    checker.schema_version()
    principals = [_principal(checker, name) for name in checker.names(("principals",))]
    checker.finish()
    return principals


def _principal(checker: Checker, name: str) -> Principal:
    at = ("principals", name)
    checker.keys(at, ("tenant", "scopes"))
    scopes = checker.each((*at, "scopes"), lambda item: checker.choice(item, Scope))
    tenant = checker.text((*at, "tenant"), _TENANT)
    return Principal(name, frozenset(str(scope) for scope in scopes), tenant)
