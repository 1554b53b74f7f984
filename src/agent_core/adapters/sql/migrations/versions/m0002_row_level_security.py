"""Every table shows a tenant its own rows only."""

from __future__ import annotations

from agent_core.adapters.sql.migrations.steps import secure

revision = "0002"
down_revision = "0001"

_TABLES = (
    "sessions",
    "event_sequences",
    "runs",
    "events",
    "tool_invocations",
    "effect_reviews",
    "model_turns",
    "checkpoints",
    "hook_tasks",
    "projections",
)


def upgrade() -> None:
    secure("tenants", "id")
    for table in _TABLES:
        secure(table)
