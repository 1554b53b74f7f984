"""What keeps an agent from starting is named."""

import os
import sys

import pytest

from hardgate.subjects.command.process import Launch, NotStarted, run


def refused(folder, *argv, **more):
    """The code and text of a refusal."""
    launch = Launch(argv, str(folder), {"PATH": os.defpath})._replace(**more)
    with pytest.raises(NotStarted) as caught:
        run(launch)
    assert str(caught.value) == caught.value.text
    return caught.value.reason_code, caught.value.text


def script(path, text, mode=0o755):
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


@pytest.mark.parametrize(
    ("name", "where"),
    [("./agent", "at that path"), ("/no/such/agent", "at that path"), ("no-agent", "on the PATH")],
)
def test_a_missing_program(tmp_path, name, where):
    code, text = refused(tmp_path, name)
    assert code == "agent.missing"
    assert f"found '{name}', but there is no such file {where}" in text


def test_a_folder(tmp_path):
    tmp_path.joinpath("agent").mkdir()
    code, text = refused(tmp_path, "./agent")
    assert (code, "which is a folder" in text) == ("agent.is_directory", True)


def test_a_file_that_is_not_executable(tmp_path):
    script(tmp_path / "agent", "#!/bin/sh\n", 0o644)
    code, text = refused(tmp_path, "./agent")
    assert (code, "which is not executable" in text) == ("agent.not_executable", True)


def test_something_that_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "agent", 0o755)
    code, text = refused(tmp_path, "./agent")
    assert (code, "which is no file" in text) == ("agent.not_executable", True)


@pytest.mark.parametrize("text", ["", "echo hello\n", "\x7fELF nonsense"])
def test_a_file_that_is_no_program(tmp_path, text):
    script(tmp_path / "agent", text)
    code, text = refused(tmp_path, "./agent")
    assert (code, "which is no program" in text) == ("agent.exec_format", True)


def test_a_missing_interpreter(tmp_path):
    script(tmp_path / "agent", "#!/no/such/interpreter\n")
    code, text = refused(tmp_path, "./agent")
    assert (code, "whose interpreter" in text) == ("agent.bad_interpreter", True)


def test_an_interpreter_that_may_not_be_executed(tmp_path):
    script(tmp_path / "interpreter", "", 0o644)
    script(tmp_path / "agent", f"#!{tmp_path}/interpreter\n")
    code, text = refused(tmp_path, "./agent")
    assert (code, "or whose interpreter" in text) == ("agent.not_executable", True)


@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_folder_to_start_in_that_is_none(tmp_path, name):
    tmp_path.joinpath("file").touch()
    code, text = refused(tmp_path / name, sys.executable)
    assert (code, "missing or no folder" in text) == ("agent.bad_directory", True)


@pytest.mark.parametrize(
    ("argv", "environment", "words"),
    [
        ((), {}, "found no program"),
        (("",), {}, "found no program"),
        (("a", "b\0c"), {}, "an argument or variable with a character"),
        (("a", "\ud800"), {}, "an argument or variable with a character"),
        (("a",), {"A": "b\0c"}, "an argument or variable with a character"),
        (("a",), {"A=B": "c"}, "found the variable 'A=B'"),
        (("a",), {"": "c"}, "found the variable ''"),
        (("a",), {"A\0": "c"}, "found the variable 'A\\u0000'"),
    ],
)
def test_what_no_program_can_be_given(tmp_path, argv, environment, words):
    code, text = refused(tmp_path, *argv, environment=environment)
    assert (code, words in text) == ("agent.bad_argument", True)


def test_more_than_the_system_takes(tmp_path):
    code, text = refused(tmp_path, sys.executable, "x" * 10_000_000)
    assert (code, "longer than the system takes" in text) == ("agent.too_long", True)
    assert len(text) < 1000


def test_a_refusal_shows_no_more_than_the_beginning_of_a_name(tmp_path):
    _, text = refused(tmp_path, "./\x1b[2J" + "x" * 10_000, "a secret argument")
    assert "\x1b" not in text
    assert "secret" not in text
    assert len(text) < 200


def test_a_name_is_looked_up_on_the_path_of_the_agent(tmp_path, monkeypatch):
    for folder, mode in (("first", 0o644), ("second", 0o755), ("third", 0o755)):
        tmp_path.joinpath(folder).mkdir()
        script(tmp_path / folder / "agent", f"#!/bin/sh\necho {folder} $0\n", mode)
    monkeypatch.setenv("PATH", str(tmp_path / "third"))
    path = f"{tmp_path}/first:{tmp_path}/second"
    ended = run(Launch(("agent",), str(tmp_path), {"PATH": path}))
    assert ended.stdout.decode() == f"second {tmp_path}/second/agent\n"
    ended = run(Launch(("agent",), str(tmp_path), {"PATH": "third"}))
    assert ended.stdout.decode() == f"third {tmp_path}/third/agent\n"


def test_a_path_is_relative_to_the_folder_of_the_agent(tmp_path):
    tmp_path.joinpath("bin").mkdir()
    script(tmp_path / "bin" / "agent", "#!/bin/sh\necho $1\n")
    ended = run(Launch(("bin/agent", "an argument"), str(tmp_path), {}))
    assert ended.stdout == b"an argument\n"
