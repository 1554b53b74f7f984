"""Every test of the commands starts in a workspace of its own."""

import sys

import pytest

from hardgate.cli.app import main
from tests.unit.hardgate.cli.samples import make_workspace


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """The sample workspace, as working directory; nothing of `bazel run` is around."""
    for name in ("BUILD_WORKING_DIRECTORY", "BUILD_WORKSPACE_DIRECTORY", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    root = make_workspace(tmp_path / "workspace")
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return root


@pytest.fixture
def hardgate(workspace):
    """`hardgate("lint --json")` runs a command and returns its exit code."""

    def run(words, subject=None, program="hardgate"):
        arguments = words.split() if isinstance(words, str) else list(words)
        return main(arguments, subject, program)

    return run
