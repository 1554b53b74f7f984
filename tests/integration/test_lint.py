"""This repository's own definitions are sound: `agent eval lint` has nothing to say."""

import shutil
from pathlib import Path

import pytest

from agent_cli.__main__ import main


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of what lint reads: a test's own files are links that lead out of the workspace."""
    for name in ("docs", "evals", "gates"):
        shutil.copytree(Path(name).resolve(), tmp_path / name, symlinks=False)
    for page in Path(".").glob("*.md"):
        shutil.copy(page, tmp_path / page)
    for variable in ("BUILD_WORKING_DIRECTORY", "BUILD_WORKSPACE_DIRECTORY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_definition_is_sound(copy, capsys):
    code = main(["eval", "lint"])
    out, err = capsys.readouterr()
    assert (code, err) == (0, ""), out
    assert out.endswith(": no problem\n")


def test_the_same_lint_finds_a_mistake_in_each_kind_of_file(copy, capsys):
    """So that the test above means something."""
    edits = {
        "gates/harness.yaml": ("kind: structural", "kind: structura"),
        "evals/cases/01_direct_response.yaml": ("terminal_status:", "terminal_state:"),
        "evals/fixtures/models/direct_answer.yaml": ("kind: final", "kind: finish"),
        "docs/specs/structure.md": ("## Hard gates", "## Soft gates"),
    }
    for path, (old, new) in edits.items():
        text = (copy / path).read_text()
        assert old in text
        (copy / path).write_text(text.replace(old, new, 1))
    assert main(["eval", "lint"]) == 4
    found = {line.partition(":")[0] for line in capsys.readouterr().out.splitlines()[:-1]}
    assert set(edits) <= found
