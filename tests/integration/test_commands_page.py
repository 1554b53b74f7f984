"""The page about the commands, line by line: its examples are run, and its tables compared."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from agent_cli.__main__ import main as agent
from hardgate.cli import app
from hardgate.cli.exits import MEANINGS
from hardgate.registry.markdown import Markdown
from tests.support.pages import matches, steps

PAGE = "docs/guide/commands.md"
PROGRAMS = {"agent": agent, "hardgate": app.main}


class Example:
    """One command of the page, by words, and the lines that it says it prints on stdout."""

    def __init__(self, shown):
        self.words = shlex.split(shown.line)
        self.wanted = shown.wanted


def examples(text):
    """The examples in order, those of Bazel left out: they are looked at in test_docs."""
    found = [Example(shown) for shown in steps(text)]
    return [one for one in found if one.words[0] != "./bazelw"]


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A copy of everything that the commands read of this repository, as working directory."""
    for name in ("config", "docs", "evals", "gates"):
        shutil.copytree(Path(name).resolve(), tmp_path / name, symlinks=False)
    for page in Path(".").glob("*.md"):
        shutil.copy(page, tmp_path / page)
    for variable in ("BUILD_WORKING_DIRECTORY", "BUILD_WORKSPACE_DIRECTORY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_example_prints_what_the_page_says(workspace, capsys):
    ran = examples((workspace / PAGE).read_text())
    assert len(ran) > 12
    code = 0
    for example in ran:
        if example.words == ["echo", "$?"]:
            assert example.wanted == [str(code)]
            continue
        program, *words = example.words
        code = PROGRAMS[program](words)
        out, err = capsys.readouterr()
        # A shell shows both streams; the notes of a success are about the machine.
        printed = out.splitlines() if code == 0 else [*out.splitlines(), *err.splitlines()]
        assert matches(example.wanted, printed), (
            f"{shlex.join(example.words)} prints\n{os.linesep.join(printed)}"
        )


def test_the_tables_are_the_programs_own():
    text = Path(PAGE).read_text()
    commands = re.findall(r"^\| \[`(\w+)`\]\(#(\w+)\) \| (.*) \|$", text, re.M)
    assert [(name, summary) for name, _, summary in commands] == list(app.COMMANDS.items())
    assert {anchor for _, anchor, _ in commands} <= set(Markdown(text).anchors)
    codes = re.findall(r"^\| (\d) \| (.*) \|$", text, re.M)
    assert {int(code): meaning for code, meaning in codes} == MEANINGS


def test_every_command_is_on_the_page_with_its_help():
    helped = {tuple(one.words) for one in examples(Path(PAGE).read_text())}
    for name in app.COMMANDS:
        for words in ((name, "case"), (name, "gate")) if name == "new" else ((name,),):
            assert ("hardgate", *words, "--help") in helped or (
                ("agent", "eval", *words, "--help") in helped
            )


@pytest.mark.parametrize(
    ("wanted", "printed", "same"),
    [
        (["a ... c"], ["a b c"], True),
        (["a", "...", "c"], ["a", "b", "b", "c"], True),
        (["a"], ["b"], False),
        (["a"], ["a", "b"], False),
        (["a.c"], ["abc"], False),
        ([], ["a"], False),
    ],
)
def test_what_counts_as_the_same(wanted, printed, same):
    assert matches(wanted, printed) is same
