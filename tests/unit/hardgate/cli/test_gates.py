"""`hardgate gates`: the report, from wherever it is called."""

import os

import pytest

from hardgate.cli import gates
from tests.unit.hardgate.cli.samples import write


@pytest.fixture
def reported(monkeypatch):
    """The calls of the report: where, with which arguments, under which name, and from where."""
    calls = []

    def report(arguments, program, here):
        calls.append((os.getcwd(), arguments, program, str(here)))
        return 1

    monkeypatch.setattr(gates, "report", report)
    return calls


def test_options_and_exit_code_are_the_reports(workspace, hardgate, reported):
    write(workspace, "MODULE.bazel", "")
    assert hardgate("gates --failed --area tool", program="agent eval") == 1
    words = ["--failed", "--area", "tool"]
    assert reported == [(str(workspace), words, "agent eval gates", str(workspace))]


def test_a_registry_below_the_bazel_workspace_is_named(workspace, hardgate, reported, monkeypatch):
    write(workspace.parent, "MODULE.bazel", "")
    monkeypatch.chdir(workspace / "evals")
    hardgate("gates --json")
    words = ["--gates", "workspace/gates", "--json"]
    here = str(workspace / "evals")
    assert reported == [(str(workspace.parent), words, "hardgate gates", here)]


def test_another_workspace_can_be_named(workspace, hardgate, reported, monkeypatch):
    write(workspace, "WORKSPACE.bazel", "")
    monkeypatch.chdir(workspace.parent)
    hardgate("gates --workspace workspace")
    assert reported == [(str(workspace), [], "hardgate gates", str(workspace.parent))]


def test_without_bazel_there_is_nothing_to_run_the_gates(hardgate, reported, capsys):
    assert hardgate("gates") == 4
    assert "so there is no Bazel to run the gates; `hardgate run` runs the cases" in (
        capsys.readouterr().err
    )
    assert reported == []


def test_the_help_is_the_reports_under_the_commands_name(hardgate, capsys):
    assert hardgate("gates --help") == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: hardgate gates")
    assert "--no-run" in out


def test_a_mistake_is_reported_under_the_commands_name(workspace, hardgate, capsys):
    write(workspace, "MODULE.bazel", "")
    assert hardgate("gates --milestone x") == 2
    assert "usage: hardgate gates" in capsys.readouterr().err
