"""The reference runtime as a subject, composed for this workspace."""

from functools import partial

from agent_core.bootstrap import build_pinned_runtime, load_identity
from agent_core.domain.deployment import DeploymentMode
from agent_core.evals.subject import ReferenceSubject

IDENTITY = "evals/identity"
"""The folder of the principals and profiles of cases, relative to the workspace."""


def reference_subject() -> ReferenceSubject:
    """Runs cases under the identity of evaluations, which only the mode development accepts."""
    identity = partial(load_identity, IDENTITY, DeploymentMode.DEVELOPMENT)
    return ReferenceSubject(build_pinned_runtime, identity)
