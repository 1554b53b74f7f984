"""The script that bazelw keeps: it starts the right program and knows when it is out of date."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.setup.launch import Launch


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    program = tmp_path / "it's a bazel"
    program.write_text('#!/bin/sh\nprintf "<%s>" "$SETTING" "$@"\n')
    program.chmod(0o755)
    beside = tmp_path / "beside"
    beside.write_text("x")
    return Launch(
        origin="a test",
        program=program,
        options=("--option=$HOME", "--other=a b"),
        environment={"SETTING": "it's set"},
        rests_on=(beside,),
    )


def shell(script: str, more: str) -> str:
    """What `more` prints after the script."""
    command = ["sh", "-uc", f"{script}\n{more}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


STILL_TRUE = 'if [ "$(state)" = "$expected" ]; then echo yes; else echo no; fi'


def test_program_gets_options_then_arguments_as_they_are(launch: Launch, tmp_path: Path) -> None:
    printed = shell(launch.script(tmp_path), "launch 'x y' '' '*'")
    assert printed == "<it's set><--option=$HOME><--other=a b><x y><><*>"


def test_bazelrc_is_named_only_when_there_is_one(launch: Launch, tmp_path: Path) -> None:
    assert launch.words(tmp_path) == [str(launch.program), *launch.options]
    with_rc = Launch("a test", launch.program, rc_lines=("common --x",))
    kept = tmp_path / "new/folder"
    with_rc.write_rc(kept)
    assert with_rc.words(kept, ["go"]) == [str(launch.program), f"--bazelrc={kept}/bazelrc", "go"]
    assert (kept / "bazelrc").read_text() == "common --x\n"
    assert [path.name for path in kept.iterdir()] == ["bazelrc"]


def test_answer_holds_while_nothing_changes(launch: Launch, tmp_path: Path) -> None:
    assert shell(launch.script(tmp_path), STILL_TRUE) == "yes\n"


@pytest.mark.parametrize("file", ["it's a bazel", "beside"])
@pytest.mark.parametrize("change", ["remove", "grow", "rewrite"])
def test_change_of_a_file_ends_the_answer(
    launch: Launch, tmp_path: Path, file: str, change: str
) -> None:
    script = launch.script(tmp_path)
    path = tmp_path / file
    content = path.read_bytes()
    if change == "remove":
        path.unlink()
    else:
        path.write_bytes(content + b"x" if change == "grow" else content[::-1])
    assert shell(script, STILL_TRUE) == "no\n"


def test_another_bazel_on_path_ends_the_answer(launch: Launch, tmp_path: Path) -> None:
    script = launch.script(tmp_path)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "bazelisk").write_text("#!/bin/sh\n")
    (folder / "bazelisk").chmod(0o755)
    assert shell(script, f'PATH="{folder}:$PATH"\n{STILL_TRUE}') == "no\n"
