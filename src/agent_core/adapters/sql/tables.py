"""The tables. Every one but `tenants` is owned by tenants: its keys begin with the tenant, so that
no record can refer to another tenant's, and nobody learns from a key that is taken elsewhere.

What a record refers to has to be there when the transaction ends, whichever was written first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

from agent_core.adapters.sql.columns import ExactText, Instant, Json

METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def _text(name: str, *, optional: bool = False) -> Column[str]:
    return Column(name, ExactText, nullable=optional)


def _number(name: str, *, optional: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=optional)


def _instant(name: str, *, optional: bool = False) -> Column[Any]:
    return Column(name, Instant, nullable=optional)


def _json(name: str, *, optional: bool = False) -> Column[Any]:
    return Column(name, Json, nullable=optional)


def _owned(
    name: str,
    *columns: Column[Any],
    key: Sequence[str] = ("id",),
    unique: Sequence[Sequence[str]] = (),
    indexed: Sequence[Sequence[str]] = (),
    **refers: str,
) -> Table:
    """A table of records that tenants own; `refers` names the table that a column refers to."""
    return Table(
        name,
        METADATA,
        _text("tenant_id"),
        *columns,
        PrimaryKeyConstraint("tenant_id", *key),
        *(UniqueConstraint("tenant_id", *names) for names in unique),
        *(Index(None, "tenant_id", *names) for names in indexed),
        _reference(["tenant_id"], ["tenants.id"]),
        *(
            _reference(["tenant_id", column], [f"{table}.tenant_id", f"{table}.id"])
            for column, table in refers.items()
        ),
    )


def _reference(columns: Sequence[str], others: Sequence[str]) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(columns, others, deferrable=True, initially="DEFERRED")


TENANTS = Table("tenants", METADATA, _text("id"), PrimaryKeyConstraint("id"))

SESSIONS = _owned(
    "sessions",
    _text("id"),
    _text("principal_id"),
    _json("principal_scopes"),
    _json("tool_names"),
    _instant("created_at"),
)

EVENT_SEQUENCES = _owned(
    "event_sequences",
    _text("session_id"),
    _number("last"),
    key=("session_id",),
    session_id="sessions",
)

RUNS = _owned(
    "runs",
    _text("id"),
    _text("session_id"),
    _text("principal_id"),
    _json("principal_scopes"),
    _text("status"),
    _json("limits"),
    _instant("created_at"),
    _number("step_count"),
    _json("usage"),
    _json("failure", optional=True),
    _instant("started_at", optional=True),
    _instant("completed_at", optional=True),
    _text("lease_owner", optional=True),
    _instant("lease_expires_at", optional=True),
    _number("lease_epoch"),
    _number("attempts"),
    _instant("cancel_requested_at", optional=True),
    _number("seed_event_sequence"),
    _json("suspension", optional=True),
    indexed=[("session_id",), ("status", "created_at", "id")],
    session_id="sessions",
)

EVENTS = _owned(
    "events",
    _text("id"),
    _text("session_id"),
    _text("run_id", optional=True),
    _number("sequence"),
    _text("event_type"),
    _number("payload_schema_version"),
    _text("actor_type"),
    _text("actor_id"),
    _json("payload"),
    _instant("created_at"),
    unique=[("session_id", "sequence")],
    session_id="sessions",
    run_id="runs",
)

TOOL_INVOCATIONS = _owned(
    "tool_invocations",
    _text("id"),
    _text("run_id"),
    _number("step_number"),
    _text("call_id"),
    _text("tool_name"),
    _json("arguments"),
    _json("origin"),
    _text("status"),
    _instant("created_at"),
    _text("tool_version"),
    _text("tool_source", optional=True),
    _text("side_effect", optional=True),
    _text("risk", optional=True),
    _text("idempotency", optional=True),
    _text("normalized_arguments_hash", optional=True),
    _text("idempotency_key"),
    _text("policy_version", optional=True),
    _json("outcome", optional=True),
    _text("failure_kind", optional=True),
    _json("result", optional=True),
    _json("result_labels", optional=True),
    _number("output_bytes"),
    Column("truncated", Boolean, nullable=False),
    _text("parallel_group", optional=True),
    _instant("started_at", optional=True),
    _instant("effect_sent_at", optional=True),
    _instant("completed_at", optional=True),
    _number("lease_epoch"),
    _number("attempt_number"),
    _text("suspended_kind", optional=True),
    _text("nonce"),
    unique=[("idempotency_key",)],
    indexed=[("run_id",)],
    run_id="runs",
)

MODEL_TURNS = _owned(
    "model_turns",
    _text("run_id"),
    _number("step_number"),
    _json("item"),
    key=("run_id", "step_number"),
    run_id="runs",
)

EFFECT_REVIEWS = _owned(
    "effect_reviews",
    _text("id"),
    _text("run_id"),
    _text("invocation_id"),
    _text("tool_name"),
    _text("reason_code"),
    _instant("opened_at"),
    _text("resolution", optional=True),
    _instant("resolved_at", optional=True),
    _text("resolved_by", optional=True),
    _text("note"),
    unique=[("invocation_id",)],
    indexed=[("run_id",)],
    run_id="runs",
    invocation_id="tool_invocations",
)

HOOK_TASKS = _owned(
    "hook_tasks",
    _text("id"),
    _text("run_id"),
    _text("kind"),
    _text("status"),
    _instant("created_at"),
    _number("attempts"),
    _text("lease_owner", optional=True),
    _instant("lease_expires_at", optional=True),
    _instant("completed_at", optional=True),
    unique=[("run_id", "kind")],
    indexed=[("status", "created_at", "id")],
    run_id="runs",
)

CHECKPOINTS = _owned(
    "checkpoints",
    _text("run_id"),
    _number("version"),
    _text("trigger"),
    _number("step_count"),
    _json("usage"),
    _json("transcript"),
    _number("kept_items", optional=True),
    _instant("created_at"),
    key=("run_id", "version"),
    run_id="runs",
)

PROJECTIONS = _owned(
    "projections",
    _text("projection"),
    _text("session_id"),
    _number("builder_version"),
    _number("position"),
    _json("state"),
    key=("projection", "session_id"),
    session_id="sessions",
)

TENANT_OWNED = tuple(table for table in METADATA.sorted_tables if table is not TENANTS)
"""Every table with a `tenant_id`, those that others refer to first."""
