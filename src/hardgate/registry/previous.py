"""Finds the revision of the registry that came before the one in the working tree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hardgate.registry.git_tree import GitError, GitTree, git

WATCHED = ("gates", "evals/corpora")
_SHORT = 12


@dataclass(frozen=True)
class Revision:
    """A commit and the registry's folders in it."""

    commit: str
    tree: GitTree

    @property
    def name(self) -> str:
        """The commit as people write it."""
        return self.commit[:_SHORT]


class Why(StrEnum):
    """Why there is nothing to compare with."""

    FIRST_REVISION = "first_revision"
    OUTSIDE_GIT = "outside_git"
    SHALLOW_CLONE = "shallow_clone"
    GIT_FAILED = "git_failed"


@dataclass(frozen=True)
class Unavailable:
    """No earlier revision can be had. Only FIRST_REVISION is no reason to worry."""

    why: Why
    reason: str


def previous_revision(root: str | Path, base: str | None = None) -> Revision | Unavailable:
    """The newest revision whose registry or corpora differ from those of the working tree.

    With uncommitted or untracked changes that is HEAD, else the commit before the last change,
    following first parents, so that a merge is compared with the branch it went into. `base`, a
    branch or commit, asks for the commit where the work left that branch instead: for a branch of
    several commits, where the last one alone would not show what was lowered.
    """
    try:
        inside = git(root, "rev-parse", "--is-inside-work-tree").strip() == b"true"
    except GitError as error:
        return Unavailable(Why.OUTSIDE_GIT, str(error))
    if not inside:
        return Unavailable(Why.OUTSIDE_GIT, "the folder is not in a git working tree")
    try:
        commit = _find(root, base)
        if isinstance(commit, Unavailable):
            return commit
        tree = GitTree(root, commit, WATCHED)
        if tree.glob("gates/*.yaml"):
            return Revision(commit, tree)
    except GitError as error:
        return Unavailable(Why.GIT_FAILED, str(error))
    return Unavailable(Why.FIRST_REVISION, f"commit {commit[:_SHORT]} has no registry yet")


def _find(root: str | Path, base: str | None) -> str | Unavailable:
    """The commit to compare with, whatever it holds."""
    head = _commit(root, "HEAD")
    if head is None:
        return Unavailable(Why.FIRST_REVISION, "nothing has been committed yet")
    if base is not None:
        target = _commit(root, base)
        if target is None:
            return Unavailable(Why.GIT_FAILED, f"git knows no revision {base!r}")
        return git(root, "merge-base", target, head).decode().strip()
    if git(root, "status", "--porcelain", "--untracked-files=all", "--", *WATCHED):
        return head
    last = git(root, "log", "-1", "--first-parent", "--format=%H", head, "--", *WATCHED)
    changed_in = last.decode().strip()
    before = _commit(root, f"{changed_in}^1") if changed_in else None
    if before is not None:
        return before
    if git(root, "rev-parse", "--is-shallow-repository").strip() == b"true":
        reason = "the clone has not enough history (fetch all of it, for example depth 0)"
        return Unavailable(Why.SHALLOW_CLONE, reason)
    return Unavailable(Why.FIRST_REVISION, "the registry has not been changed since it was added")


def _commit(root: str | Path, revision: str) -> str | None:
    """The full name of a commit, or None when there is no such one."""
    wanted = f"{revision}^{{commit}}"
    try:
        return (
            git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
            .decode()
            .strip()
        )
    except GitError:
        return None
