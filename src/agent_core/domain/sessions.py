"""Who talks to the runtime, and the conversation they hold."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

DEFAULT_TENANT = "tenant_default"


class Principal(NamedTuple):
    """Somebody who submits runs. `scopes` are compared as exact strings; there is no hierarchy."""

    id: str
    scopes: frozenset[str] = frozenset()
    tenant_id: str = DEFAULT_TENANT


class Session(NamedTuple):
    """A conversation. `tool_names`: the tools that its runs may use, pinned when it opens."""

    id: str
    principal: Principal
    tool_names: tuple[str, ...]
    created_at: datetime
