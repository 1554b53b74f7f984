"""The tenant of evaluations: a tenant like any other."""

from __future__ import annotations

from alembic import op
from sqlalchemy import column, table

from agent_core.adapters.sql.columns import ExactText
from agent_core.adapters.sql.migrations.steps import act_for

revision = "0003"
down_revision = "0002"

TENANT = "tenant_eval"


def upgrade() -> None:
    act_for(TENANT)
    op.bulk_insert(table("tenants", column("id", ExactText)), [{"id": TENANT}])
