"""The version of the schema, for processes that do not migrate and so do not import Alembic."""

SCHEMA_VERSION = "0003"
"""The last migration."""
