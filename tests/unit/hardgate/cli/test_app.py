"""The application: which command is meant, and how one ends that cannot do what was asked."""

import json

import pytest

from hardgate.cli import app, lint
from hardgate.cli.exits import RefusedError, UsageError
from hardgate.verdicts.verdict import HARNESS_VERSION


def test_without_a_command_the_help_is_shown_and_that_is_a_mistake(hardgate, capsys):
    assert hardgate("") == 2
    assert hardgate("--help") == 0
    first, second = capsys.readouterr().out.split("usage: hardgate COMMAND")[1:]
    assert first == second
    for name, summary in app.COMMANDS.items():
        assert f"  {name}" in first
        assert summary in first


def test_the_version(hardgate, capsys):
    assert hardgate("--version", program="agent eval") == 0
    assert capsys.readouterr().out == f"agent eval {HARNESS_VERSION}\n"


@pytest.mark.parametrize(
    ("word", "complaint"),
    [
        ("lnt", "hardgate: found no command 'lnt'; did you mean 'lint'?\n"),
        ("EXPLAIN", "hardgate: found no command 'EXPLAIN'; did you mean 'explain'?\n"),
        ("x", "hardgate: found no command 'x'; there is: run, gates, explain, lint, init, new, schemas, doctor\n"),
        ("\x1b[2J", "hardgate: found no command '\\u001b[2J'; there is: "),
    ],
)
def test_an_unknown_command(word, complaint, hardgate, capsys):
    assert hardgate([word]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(complaint)


@pytest.mark.parametrize("command", [name for name in app.COMMANDS if name != "gates"])
def test_every_command_has_help_with_an_example_and_knows_json(command, hardgate, capsys):
    words = [f"{command} case", f"{command} gate"] if command == "new" else [command]
    for word in words:
        assert hardgate(f"{word} --help", program="agent eval") == 0
        text = capsys.readouterr().out
        assert text.startswith(f"usage: agent eval {word}")
        assert f"example:\n  agent eval {word}" in text
        assert "exit codes:\n  0  all is well\n" in text
        assert "--json" in text
        assert max(map(len, text.splitlines())) <= 100


def test_an_unknown_option_gets_the_nearest_one(hardgate, capsys):
    assert hardgate("lint --jsno --workspac=x") == 2
    assert capsys.readouterr().err == (
        "hardgate lint: found no option '--jsno'; did you mean '--json'?; "
        "found no option '--workspac=x'; did you mean '--workspace'?\n"
        "usage: hardgate lint [PATH...] [--agent PATH] [--workspace DIR] [--json]\n"
    )


@pytest.mark.parametrize("words", ["lnt --json", "lint --jsn --json", "run --tag x --json y"])
def test_mistakes_are_json_as_well(words, hardgate, capsys):
    code = hardgate(words)
    answer = json.loads(capsys.readouterr().out)
    assert (code, answer["ok"]) == (2, False)
    (problem,) = answer["problems"]
    assert problem["message"]


def test_too_many_words(hardgate, capsys):
    assert hardgate("explain greeting twice") == 2
    assert "hardgate explain: found 'twice', which is too much\n" in capsys.readouterr().err


ENDINGS = [
    (UsageError("found x; allowed: y"), 2, "hardgate lint: found x; allowed: y\n", "usage"),
    (RefusedError("not here"), 4, "hardgate lint: not here\n", "refused"),
    (
        PermissionError(13, "Permission denied", "gates/a.yaml"),
        4,
        "hardgate lint: gates/a.yaml: Permission denied\n",
        "file.unreadable",
    ),
    (KeyboardInterrupt(), 130, "hardgate lint: interrupted\n", None),
]


@pytest.mark.parametrize(("error", "code", "text", "rule"), ENDINGS)
def test_what_ends_a_command_early(error, code, text, rule, hardgate, capsys, monkeypatch):
    def fail(arguments, context):
        raise error

    monkeypatch.setattr(lint, "main", fail)
    assert hardgate("lint") == code
    assert capsys.readouterr() == ("", text)
    assert hardgate("lint --json") == code
    out, err = capsys.readouterr()
    assert err == text
    if rule is None:
        assert out == ""
        return
    answer = json.loads(out)
    assert answer["ok"] is False
    assert [problem["rule"] for problem in answer["problems"]] == [rule]


def test_a_defect_of_a_command_is_not_dressed_up(hardgate, monkeypatch):
    def fail(arguments, context):
        raise ZeroDivisionError

    monkeypatch.setattr(lint, "main", fail)
    with pytest.raises(ZeroDivisionError):
        hardgate("lint")
