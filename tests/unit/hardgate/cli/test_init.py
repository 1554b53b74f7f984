"""`hardgate init`: everything or nothing, and what the example has."""

import json
import subprocess
from pathlib import Path

import pytest

from hardgate.cli.app import main
from hardgate.cli.init_files import gate_files, module_file

EXAMPLE = Path("examples/hello_gate").resolve()
WRITTEN = [
    ".bazelrc",
    ".bazelversion",
    ".gitignore",
    "MODULE.bazel",
    "docs/specs/hello.md",
    "gates/BUILD.bazel",
    "gates/checks/hello.py",
    "gates/hello.yaml",
]
TITLE = "The smallest workspace with gates: one of kind structural, one of kind property."
COMMENT = "# The example lies in Hardgate's repository and uses the Hardgate around it.\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    for variable in ("BUILD_WORKING_DIRECTORY", "BUILD_WORKSPACE_DIRECTORY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def files(folder):
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def test_the_example_is_what_is_written():
    made = dict(gate_files("hello_gate"))
    made["MODULE.bazel"] = module_file("hello_gate", TITLE, "../..", COMMENT)
    assert made == {path: (EXAMPLE / path).read_text() for path in files(EXAMPLE)}
    assert len(made) == 5


def test_a_new_folder_becomes_a_workspace(here, capsys):
    assert main(["init", "new_gates"]) == 0
    assert files(here / "new_gates") == WRITTEN
    printed = capsys.readouterr().out
    assert printed.splitlines()[-1] == "next: bazel test //..."
    assert 'module(name = "new_gates")' in (here / "new_gates/MODULE.bazel").read_text()
    assert main(["lint", "--workspace", "new_gates"]) == 0


def test_a_workspace_with_an_agent_that_passes_and_one_that_is_broken(here, capsys):
    assert main(["init", "sums", "--agent"]) == 0
    written = files(here / "sums")
    assert set(written) - {"agent/agent.py", "agent/guesses.py"} >= {"gates/agent.yaml", ".bazelrc"}
    assert "gates/hello.yaml" not in written
    assert "bazelw" not in written
    assert main(["lint", "--workspace", "sums"]) == 0
    command = ["run", "--workspace", "sums", "product", "--agent"]
    assert main([*command, "sums/agent/agent.py"]) == 0
    capsys.readouterr()
    assert main([*command, "sums/agent/guesses.py"]) == 1
    assert "tool_calls.count" in capsys.readouterr().out


def test_a_folder_with_a_module_keeps_it_and_is_told_the_lines(here, capsys):
    (here / "MODULE.bazel").write_text('module(name = "theirs")\n')
    (here / ".bazelrc").write_text("build --jobs=2\n")
    assert main(["init", "--name", "theirs", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["written"] == [path for path in WRITTEN if path not in (".bazelrc", "MODULE.bazel")]
    assert 'name = "theirs_index"' in told["add_to_module"]
    assert (here / "MODULE.bazel").read_text() == 'module(name = "theirs")\n'
    assert (here / ".bazelrc").read_text() == "build --jobs=2\n"


def test_nothing_is_overwritten_and_nothing_half_written(here, capsys):
    (here / "gates").mkdir()
    (here / "gates/hello.yaml").write_text("mine\n")
    assert main(["init", "--name", "theirs"]) == 2
    assert "found gates/hello.yaml, which is not overwritten" in capsys.readouterr().err
    assert files(here) == ["gates/hello.yaml"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--name", "Not-A-Name"], "--name: found 'Not-A-Name'; allowed: a module's name"),
        (["--name", ""], "--name: found ''; allowed: a module's name"),
        (["--name", "rules_python"], "'rules_python', the name of another module; allowed: a mod"),
        (["hardgate"], "found a folder hardgate, the name of another module; allowed: a module's"),
        (["7up"], "found a folder 7up; allowed: a module's name"),
        (["there", "--hardgate", "nowhere"], "--hardgate: found nowhere; allowed: the top folder"),
        (["plain.txt"], "found plain.txt, which is no folder; allowed: a folder"),
        (["there", "--nmae", "x"], "found no option '--nmae'; did you mean '--name'?"),
    ],
)
def test_bad_words_are_refused(here, capsys, words, complaint):
    (here / "plain.txt").write_text("")
    assert main(["init", *words]) == 2
    assert complaint in capsys.readouterr().err
    assert files(here) == ["plain.txt"]


def test_the_sources_of_hardgate_are_named_from_the_new_workspace(here, capsys):
    write(here / "hardgate/tools/extensions.bzl", "")
    assert main(["init", "deep/er", "--hardgate", "hardgate"]) == 0
    assert 'path = "../../hardgate"' in (here / "deep/er/MODULE.bazel").read_text()
    assert capsys.readouterr().out.splitlines()[-1] == "next: ./bazelw test //..."


def test_where_hardgate_comes_from_a_folder_its_bazel_is_started(here):
    write(here / "hard gate's/tools/extensions.bzl", "")
    write(here / "hard gate's/bazelw", '#!/bin/sh\necho "$PWD" "$@"\n')
    (here / "hard gate's/bazelw").chmod(0o755)
    assert main(["init", "deep/er", "--hardgate", "hard gate's"]) == 0
    done = subprocess.run(
        ["../bazelw", "test", "//a b"],
        cwd=here / "deep/er/gates",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{here / 'deep/er/gates'} test //a b\n"
