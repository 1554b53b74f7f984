"""The reference runtime as a subject, composed for this workspace."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from agent_core.bootstrap import Identity, build_pinned_runtime, load_identity
from agent_core.domain.deployment import DeploymentMode
from agent_core.evals.subject import ReferenceSubject

if TYPE_CHECKING:
    from agent_core.evals.stored import Durable

IDENTITY = "evals/identity"
"""The folder of the principals and profiles of cases, relative to the workspace."""


def reference_subject(*, always_stored: bool = False) -> ReferenceSubject:
    """Runs cases under the identity of evaluations, which only the mode development accepts; with
    `always_stored` over SQLite, like those that kill workers."""
    return ReferenceSubject(
        build_pinned_runtime,
        partial(eval_identity, IDENTITY),
        _open_durable,
        always_stored=always_stored,
    )


def eval_identity(folder: str) -> Identity:
    """The principals and policies of cases. Raises ConfigurationRefused."""
    return load_identity(folder, DeploymentMode.DEVELOPMENT)


def _open_durable() -> Durable:
    # Imported here: most cases need no store and no process beside their own.
    from agent_cli.case_store import SqliteStore

    return SqliteStore(IDENTITY)
