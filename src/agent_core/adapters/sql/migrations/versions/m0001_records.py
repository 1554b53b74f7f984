"""The records of tenants: conversations, their runs and events, and everything about a run."""

from __future__ import annotations

from alembic import op
from sqlalchemy import PrimaryKeyConstraint

from agent_core.adapters.sql.migrations.steps import (
    create_table_of_tenants,
    flag,
    instant,
    json,
    number,
    text,
)

revision = "0001"
down_revision = None


def upgrade() -> None:
    tenants = op.create_table("tenants", text("id"), PrimaryKeyConstraint("id", name="pk_tenants"))
    op.bulk_insert(tenants, [{"id": "tenant_default"}])
    _create_conversations()
    _create_tool_invocations()
    _create_what_belongs_to_a_run()
    _create_what_follows_a_log()


def _create_conversations() -> None:
    create_table_of_tenants(
        "sessions",
        text("id"),
        text("principal_id"),
        json("principal_scopes"),
        json("tool_names"),
        instant("created_at"),
    )
    create_table_of_tenants(
        "event_sequences",
        text("session_id"),
        number("last"),
        key=("session_id",),
        session_id="sessions",
    )
    create_table_of_tenants(
        "runs",
        text("id"),
        text("session_id"),
        text("principal_id"),
        json("principal_scopes"),
        text("status"),
        json("limits"),
        instant("created_at"),
        number("step_count"),
        json("usage"),
        json("failure", optional=True),
        instant("started_at", optional=True),
        instant("completed_at", optional=True),
        text("lease_owner", optional=True),
        instant("lease_expires_at", optional=True),
        number("lease_epoch"),
        number("attempts"),
        instant("cancel_requested_at", optional=True),
        number("seed_event_sequence"),
        json("suspension", optional=True),
        indexed=[("session_id",), ("status", "created_at", "id")],
        session_id="sessions",
    )
    create_table_of_tenants(
        "events",
        text("id"),
        text("session_id"),
        text("run_id", optional=True),
        number("sequence"),
        text("event_type"),
        number("payload_schema_version"),
        text("actor_type"),
        text("actor_id"),
        json("payload"),
        instant("created_at"),
        unique=[("session_id", "sequence")],
        session_id="sessions",
        run_id="runs",
    )


def _create_tool_invocations() -> None:
    create_table_of_tenants(
        "tool_invocations",
        text("id"),
        text("run_id"),
        number("step_number"),
        text("call_id"),
        text("tool_name"),
        json("arguments"),
        json("origin"),
        text("status"),
        instant("created_at"),
        text("tool_version"),
        text("tool_source", optional=True),
        text("side_effect", optional=True),
        text("risk", optional=True),
        text("idempotency", optional=True),
        text("normalized_arguments_hash", optional=True),
        text("idempotency_key"),
        text("policy_version", optional=True),
        json("outcome", optional=True),
        text("failure_kind", optional=True),
        json("result", optional=True),
        json("result_labels", optional=True),
        number("output_bytes"),
        flag("truncated"),
        text("parallel_group", optional=True),
        instant("started_at", optional=True),
        instant("effect_sent_at", optional=True),
        instant("completed_at", optional=True),
        number("lease_epoch"),
        number("attempt_number"),
        text("suspended_kind", optional=True),
        text("nonce"),
        unique=[("idempotency_key",)],
        indexed=[("run_id",)],
        run_id="runs",
    )
    create_table_of_tenants(
        "effect_reviews",
        text("id"),
        text("run_id"),
        text("invocation_id"),
        text("tool_name"),
        text("reason_code"),
        instant("opened_at"),
        text("resolution", optional=True),
        instant("resolved_at", optional=True),
        text("resolved_by", optional=True),
        text("note"),
        unique=[("invocation_id",)],
        indexed=[("run_id",)],
        run_id="runs",
        invocation_id="tool_invocations",
    )


def _create_what_belongs_to_a_run() -> None:
    create_table_of_tenants(
        "model_turns",
        text("run_id"),
        number("step_number"),
        json("item"),
        key=("run_id", "step_number"),
        run_id="runs",
    )
    create_table_of_tenants(
        "checkpoints",
        text("run_id"),
        number("version"),
        text("trigger"),
        number("step_count"),
        json("usage"),
        json("transcript"),
        number("kept_items", optional=True),
        instant("created_at"),
        key=("run_id", "version"),
        run_id="runs",
    )
    create_table_of_tenants(
        "hook_tasks",
        text("id"),
        text("run_id"),
        text("kind"),
        text("status"),
        instant("created_at"),
        number("attempts"),
        text("lease_owner", optional=True),
        instant("lease_expires_at", optional=True),
        instant("completed_at", optional=True),
        unique=[("run_id", "kind")],
        indexed=[("status", "created_at", "id")],
        run_id="runs",
    )


def _create_what_follows_a_log() -> None:
    create_table_of_tenants(
        "projections",
        text("projection"),
        text("session_id"),
        number("builder_version"),
        number("position"),
        json("state"),
        key=("projection", "session_id"),
        session_id="sessions",
    )
