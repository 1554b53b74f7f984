"""The counterexamples of the area storage that take more than one edit."""

from __future__ import annotations

from agent_core.adapters.sql import migrate
from hardgate.kinds.bench import Bench
from hardgate.kinds.code_edits import edited
from tests.support import postgres_roles


def role_bypasses(bench: Bench) -> None:
    """The application's role passes policies by, and nobody asks when it is granted its rights."""
    _ask_nothing(bench)
    bench.replace(postgres_roles, "make_roles", edited("NOBYPASSRLS", "BYPASSRLS"))


def role_joins_owner(bench: Bench) -> None:
    """The application's role is a member of the owner's, and nobody asks."""
    _ask_nothing(bench)
    old = 'inside.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC")'
    new = 'inside.execute("GRANT hardgate_owner TO hardgate_app")'
    bench.replace(postgres_roles, "make_database", edited(old, new))


def _ask_nothing(bench: Bench) -> None:
    bench.replace(migrate, "_grant", edited("if passes:", "if False:"))
