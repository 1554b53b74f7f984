"""Which folder a command is about."""

import os

import pytest

from hardgate.cli.exits import RefusedError, UsageError
from hardgate.cli.workspace import MARKERS, Workspace, bazel_root, find_workspace
from tests.unit.hardgate.cli.samples import write


@pytest.fixture
def here(tmp_path, monkeypatch):
    folder = tmp_path / "outer" / "inner" / "deep"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("marker", MARKERS)
def test_the_nearest_folder_with_a_marker(marker, here):
    write(here.parents[1], "MODULE.bazel", "")
    write(here.parent, marker + ("/01_x.yaml" if marker.endswith("cases") else ""), "")
    assert find_workspace(None, {}) == Workspace(here.parent, here)


def test_a_folder_that_is_only_called_gates_is_no_workspace(here):
    write(here.parents[1], "MODULE.bazel", "")
    write(here.parent, "gates/test_x.py", "")
    assert find_workspace(None, {}).root == here.parents[1]


def test_where_bazel_run_was_called_counts_and_not_where_it_starts(here, tmp_path):
    called = tmp_path / "elsewhere" / "below"
    called.mkdir(parents=True)
    write(here, "MODULE.bazel", "")
    write(called.parent, "MODULE.bazel", "")
    environ = {"BUILD_WORKING_DIRECTORY": str(called)}
    assert find_workspace(None, environ) == Workspace(called.parent, called)


def test_outside_of_any_workspace_the_one_of_bazel_run_is_taken(here, tmp_path):
    root = tmp_path / "root"
    write(root, "MODULE.bazel", "")
    assert find_workspace(None, {"BUILD_WORKSPACE_DIRECTORY": str(root)}) == Workspace(root, here)


def test_no_workspace_at_all(here):
    with pytest.raises(RefusedError, match="found no workspace from .*deep upwards; allowed: "):
        find_workspace(None, {})


def test_a_named_workspace_is_relative_to_the_caller(here):
    write(here.parent, "gates/MILESTONE", "0\n")
    assert find_workspace("..", {}).root == here.parent
    with pytest.raises(UsageError, match=r"--workspace: found \.; allowed: a folder with gates"):
        find_workspace(".", {})


def test_paths_as_people_write_them(here):
    one = Workspace(here.parent, here)
    assert one.relative("x.yaml") == "deep/x.yaml"
    assert one.relative("../gates") == "gates"
    assert one.relative("..") == "."
    assert one.relative(str(here)) == "deep"
    with pytest.raises(UsageError, match="outside of the workspace"):
        one.relative("../../x")


def test_the_tree_holds_definitions_and_no_sources(here):
    for path in ("README.md", "src/a.py", "docs/a.md", "gates/a.yaml", "evals/b.yaml", "a.yaml"):
        write(here, path, "x")
    assert Workspace(here, here).tree().paths() == (
        "README.md",
        "docs/a.md",
        "evals/b.yaml",
        "gates/a.yaml",
    )


def test_a_subject_finds_the_root_as_working_directory(here):
    with Workspace(here.parent, here).entered():
        assert os.getcwd() == str(here.parent)
    assert os.getcwd() == str(here)


def test_the_bazel_workspace_around_a_workspace_of_gates(here):
    assert bazel_root(here) is None
    write(here.parent, "gates/MILESTONE", "0\n")
    write(here.parents[1], "WORKSPACE.bazel", "")
    assert bazel_root(here) == here.parents[1]
