"""The `subject` of a case: what it may say, and each kind of mistake where it stands."""

import re
from pathlib import Path

import pytest

from hardgate.cases.command import DEFAULT
from hardgate.cases.command_rules import DUMMY_KEY, PLACEHOLDERS, RESERVED
from hardgate.cases.loader import load_case
from hardgate.documents.problems import DefinitionError
from hardgate.wire.provider import KEY, ScriptedProvider

GUIDE = Path("docs/guide/your-agent.md")
PATH = "evals/cases/01_sample.yaml"
CASE = """\
name: sample
milestone: 0
input: {text: Hello?}
model_fixture: hello
expected: {terminal_status: completed}
subject:
"""


def loaded(subject, more=""):
    return load_case(PATH, f"{CASE}  {subject}\n{more}".encode())


def problems(subject, more=""):
    with pytest.raises(DefinitionError) as refused:
        loaded(subject, more)
    return [problem.render().removeprefix(f"{PATH}:") for problem in refused.value.problems]


def test_everything_that_a_subject_may_say():
    subject = loaded(
        "{agent: mine, command: ['{agent}', -c, '{mcp_config}', 'in={prompt_file}', '{workspace}'],"
        " prompt: file, api: openai_chat, environment: {LEVEL: '1', A_TOKEN: not-a-key}, answer: "
        "{file: out/a.txt}, limits: {wall_seconds: 2.5, output_bytes: 10, turns: 3},"
        " reports: [labels, events, effects]}",
        "fixtures: {mcp_servers: [files]}\n",
    ).case.subject
    assert subject.command[3] == "in={prompt_file}"
    assert (subject.answer.file, subject.limits.turns) == ("out/a.txt", 3)


def test_the_defaults():
    subject = loaded("{}").case.subject
    assert subject == DEFAULT
    assert (subject.command, subject.prompt, subject.answer) == (("{agent}",), "stdin", "stdout")


@pytest.mark.parametrize(
    ("subject", "place", "words"),
    [
        ("{command: []}", "7:13: schema.length", "at least 1 item"),
        ("{command: my-agent}", "7:13: schema.type", "allowed: a list"),
        ("{comand: [x]}", "7:4: schema.unknown_key", "did you mean 'command'?"),
        ("{command: ['{agnet}']}", "7:14: case.placeholder", "did you mean 'agent'?"),
        ("{command: [x, '{secret}']}", "7:17: case.placeholder", "allowed: {agent}, {mcp_config}"),
        ('{command: [x, "a\\0b"]}', "7:17: case.command", "found a NUL, which no program can be"),
        ("{command: [x], agent: mine}", "7:18: case.placeholder", "{agent} is not in the command"),
        ("{agent: My agent}", "7:11: case.name", "found 'My agent'"),
        ("{prompt: argument}", "7:12: case.prompt", "without {prompt} in the command"),
        ("{prompt: file}", "7:12: case.prompt", "without {prompt_file} in the command"),
        ("{command: [x, '{prompt}']}", "7:13: case.prompt", "with prompt argument only"),
        (
            "{command: [x, '{prompt}', '{prompt_file}'], prompt: file}",
            "7:13: case.prompt",
            "found {prompt} beside prompt file",
        ),
        ("{command: [x, '{mcp_config}']}", "7:13: case.placeholder", "fixtures.mcp_servers"),
        ("{prompt: environment}", "7:12: schema.value", "stdin, argument or file"),
        ("{api: openai}", "7:9: schema.value", "openai_chat"),
        ("{environment: {PATH: /x}}", "7:18: case.environment", "which Hardgate sets"),
        ("{environment: {HARDGATE_X: y}}", "7:18: case.environment", "which Hardgate sets"),
        ("{environment: {A_KEY: s3cr3t}}", "7:25: case.environment", "allowed: not-a-key"),
        ("{environment: {github_token: x}}", "7:32: case.environment", "like a secret"),
        ("{environment: {A: 1}}", "7:21: schema.type", "allowed: a text"),
        ("{environment: {A-B: x}}", "7:18: case.variable", "found 'A-B'"),
        ('{environment: {A: "x\\0y"}}', "7:21: case.environment", "found a NUL in 'A'"),
        ("{answer: stderr}", "7:12: schema", "stdout, last_turn or report"),
        ("{answer: {file: ../x}}", "7:19: case.path", "'..'"),
        ("{limits: {wall_seconds: 0}}", "7:27: schema.range", "more than 0"),
        ("{limits: {wall_seconds: 201}}", "7:27: schema.range", "at most 200"),
        ("{limits: {turns: 0}}", "7:20: schema.range", "at least 1"),
        ("{reports: [event]}", "7:14: schema.value", "did you mean 'events'?"),
        ("{reports: [events, events]}", "7:22: case.said_twice", "found 'events' again"),
    ],
)
def test_each_mistake_is_named_where_it_stands(subject, place, words):
    found = problems(subject)
    assert len(found) == 1, found
    assert found[0].startswith(place)
    assert words in found[0]


def test_all_mistakes_at_once():
    found = problems("{command: ['{agnet}'], prompt: file, environment: {PATH: x}}")
    assert [one.split(": ")[1] for one in found] == [
        "case.placeholder",
        "case.prompt",
        "case.environment",
    ]


def test_words_in_braces_that_are_no_placeholder_stay():
    words = loaded("""{command: [x, '{"a": 1}', '{}', '{a b}', '{1}']}""").case.subject.command
    assert words[1:] == ('{"a": 1}', "{}", "{a b}", "{1}")


def test_what_the_provider_sets_is_reserved():
    provider = ScriptedProvider.__new__(ScriptedProvider)
    provider._server = type("Server", (), {"port": 1})()
    assert set(provider.environment()) <= RESERVED
    assert DUMMY_KEY == KEY


def test_the_guide_names_every_placeholder_and_its_case_is_sound():
    text = GUIDE.read_text(encoding="utf-8")
    for name in PLACEHOLDERS:
        assert f"`{{{name}}}`" in text
    case = re.findall(r"^```yaml\n(name: .*?)^```$", text, re.S | re.M)[0]
    load_case("evals/cases/01_sum_is_answered.yaml", case.encode())
