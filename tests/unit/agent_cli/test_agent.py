"""The command `agent`: its own commands, and Hardgate's with the reference runtime mounted."""

import json
import shutil
from pathlib import Path

import pytest

from agent_cli.__main__ import COMMANDS, main

SCRIPT = """\
turns:
  - kind: tool_calls
    calls: [{call_id: c1, name: math.calculate, arguments: {expression: 17 * 23}}]
  - kind: final
    text: 17 times 23 is 391.
"""


@pytest.fixture
def agent(tmp_path, monkeypatch):
    """`agent("run", "Hi", ...)` in a folder with a script and a deployment."""
    for name in ("BUILD_WORKING_DIRECTORY", "BUILD_WORKSPACE_DIRECTORY", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "script.yaml").write_text(SCRIPT)
    copy_deployment(tmp_path)
    monkeypatch.chdir(tmp_path)
    return lambda *words: main(list(words))


def copy_deployment(folder):
    """The workspace's own deployment, below `folder`."""
    shutil.copytree(Path("config").resolve(), folder / "config", symlinks=False)


RUN = ("run", "What is 17 * 23?", "--script", "script.yaml")


def test_a_message_is_run_to_its_answer(agent, capsys):
    assert agent(*RUN) == 0
    assert capsys.readouterr() == ("17 times 23 is 391.\n", "")


def test_json_tells_the_run(agent, capsys):
    assert agent(*RUN, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found.pop("run_id")
    assert found == {
        "schema_version": 1,
        "ok": True,
        "status": "COMPLETED",
        "failure_reason": None,
        "final_text": "17 times 23 is 391.",
        "steps": 2,
        "model_calls": 2,
        "tool_calls": 1,
    }


def test_ids_are_the_systems(agent, capsys):
    ids = set()
    for _ in range(2):
        agent(*RUN, "--json")
        ids.add(json.loads(capsys.readouterr().out)["run_id"])
    assert len(ids) == 2


def test_a_run_that_fails(agent, tmp_path, capsys):
    (tmp_path / "script.yaml").write_text("turns: [{kind: error, error_class: permanent}]\n")
    assert agent(*RUN) == 1
    assert capsys.readouterr() == (
        "",
        "agent run: the run ended as FAILED: model_permanent_error at step 1\n",
    )
    assert agent(*RUN, "--json") == 1
    assert json.loads(capsys.readouterr().out)["failure_reason"] == "model_permanent_error"


ASKS = """\
turns:
  - kind: tool_calls
    calls: [{call_id: q, name: conversation.ask_user, arguments: {question: Why?}}]
"""


def test_a_run_that_waits_is_neither_done_nor_failed(agent, tmp_path, capsys):
    (tmp_path / "script.yaml").write_text(ASKS)
    assert agent(*RUN, "--json") == 3
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["ok"], found["status"]) == (False, "WAITING_FOR_USER")
    assert "the run waits as WAITING_FOR_USER" in err


def test_turns_left_over_are_told(agent, tmp_path, capsys):
    (tmp_path / "script.yaml").write_text(SCRIPT + "  - {kind: final, text: more}\n")
    assert agent(*RUN) == 0
    assert capsys.readouterr().err == "agent run: 1 turn of the script left over\n"


def test_an_answer_is_printed_safely(agent, tmp_path, capsys):
    (tmp_path / "script.yaml").write_text('turns: [{kind: final, text: "a\\e[2J\\nb"}]\n')
    agent(*RUN)
    assert capsys.readouterr().out == "a\\x1b[2J\nb\n"


MISTAKES = [
    ((), 2, "usage: agent COMMAND"),
    (("runn",), 2, "agent: found no command 'runn'; did you mean 'run'?"),
    (("run",), 2, "the following arguments are required: TEXT, --script"),
    (("run", "Hi"), 2, "the following arguments are required: --script"),
    (("run", " ", "--script", "script.yaml"), 2, "found an empty TEXT"),
    ((*RUN, "--principle", "x"), 2, "found no option '--principle'; did you mean '--principal'?"),
    (
        (*RUN, "--principal", "local.usr"),
        2,
        "--principal: found no principal 'local.usr'; did you mean 'local.user'?",
    ),
    (("run", "Hi", "--script", "gone.yaml"), 4, "gone.yaml: No such file or directory"),
    (("run", "Hi", "--script", "config/deployment.yaml"), 4, "schema.unknown_key"),
    ((*RUN, "--deployment", "gone.yaml"), 4, "gone.yaml"),
    ((*RUN, "--deployment", "script.yaml"), 4, "script.yaml:1:1: "),
]


@pytest.mark.parametrize(("words", "code", "text"), MISTAKES)
def test_mistakes(words, code, text, agent, capsys):
    assert agent(*words) == code
    out, err = capsys.readouterr()
    assert text in out + err
    assert "Traceback" not in out + err


def test_paths_are_the_callers_and_the_deployment_the_workspaces(
    agent, tmp_path, monkeypatch, capsys
):
    (tmp_path / "below").mkdir()
    (tmp_path / "script.yaml").rename(tmp_path / "below" / "script.yaml")
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path / "below"))
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(tmp_path))
    monkeypatch.chdir("/")
    assert agent(*RUN) == 0


def test_the_help_names_every_command(agent, capsys):
    assert agent("--help") == 0
    out = capsys.readouterr().out
    for name, summary in COMMANDS.items():
        assert f"  {name}" in out
        assert summary in out
    assert agent("run", "--help") == 0
    assert capsys.readouterr().out.startswith("usage: agent run TEXT --script FILE")


def test_eval_mounts_hardgate_with_the_runtime_as_subject(agent, capsys):
    assert agent("eval", "--help") == 0
    assert capsys.readouterr().out.startswith("usage: agent eval COMMAND")
    assert agent("eval", "lnt") == 2
    assert "agent eval: found no command 'lnt'; did you mean 'lint'?" in capsys.readouterr().err
