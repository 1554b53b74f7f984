"""The permissions that a principal may hold. A deployment grants no other."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    """Compared as exact strings: there is no hierarchy, and holding one implies no other."""

    SESSION_READ = "session.read"
    SESSION_WRITE = "session.write"
    RUN_READ = "run.read"
    RUN_WRITE = "run.write"
    RUN_CANCEL = "run.cancel"
    APPROVAL_READ = "approval.read"
    APPROVAL_RESOLVE = "approval.resolve"
    REVIEW_RESOLVE = "review.resolve"
    ARTIFACT_READ = "artifact.read"
    ARTIFACT_WRITE = "artifact.write"
    WORKSPACE_READ = "workspace.read"
    WORKSPACE_WRITE = "workspace.write"
    SANDBOX_EXECUTE = "sandbox.execute"
    SKILL_WRITE = "skill.write"
    DEMO_WRITE = "demo.write"
    KNOWLEDGE_WRITE = "knowledge.write"
