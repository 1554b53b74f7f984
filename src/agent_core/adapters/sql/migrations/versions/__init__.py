"""The migrations, listed, because a program may be one archive in which no folder can be read."""

from agent_core.adapters.sql.migrations.versions import (
    m0001_records,
    m0002_row_level_security,
    m0003_tenant_eval,
)

MIGRATIONS = (m0001_records, m0002_row_level_security, m0003_tenant_eval)
