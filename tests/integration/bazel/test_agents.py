"""A workspace whose cases start its own agents: which program a target starts, and what reruns."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.bazel.nested import Done, NestedBazel, copy_sources, make_consumer

AGENT = """
import http.client
import json
import os
import sys
import urllib.parse


def run(answer):
    url = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
    messages = [{"role": "user", "content": sys.stdin.read()}]
    connection = http.client.HTTPConnection(url.hostname, url.port)
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    body = json.dumps({"model": "any", "messages": messages})
    connection.request("POST", "/v1/chat/completions", body, headers)
    said = json.loads(connection.getresponse().read())["choices"][0]["message"]["content"]
    print(answer.format(said=said))
"""
PROGRAM = "from agents.agent import run\n\nrun({answer!r})\n"
BUILD = """
load("@rules_python//python:defs.bzl", "py_library")
load("@hardgate//tools:defs.bzl", "python_program")

package(default_visibility = ["//visibility:public"])

[
    [
        py_library(name = name + "_sources", srcs = [name + ".py", "agent.py"]),
        python_program(name = name, main = "agents." + name, deps = [name + "_sources"]),
    ]
    for name in ["good", "loud", "mute"]
]
"""
CASE = """
name: {name}
milestone: 0
input: {{text: Say hello.}}
model_fixture: hello
{subject}expected: {{terminal_status: completed, final_text: {text}}}
"""
GATE = """
- id: gate.desk.{slug}
  milestone: 0
  kind: case
  spec: docs/specs/desk.md#hard-gates
  statement: The desk greets.
  check: case:{case}
  counterexamples:
    - {{name: mute, reason: final_text, agent: mute}}
    - {{name: same, reason: final_text, agent: same}}
    - {{name: nobody, reason: final_text, agent: nobody}}
"""
FILES = {
    "agents/BUILD.bazel": BUILD,
    "agents/agent.py": AGENT,
    "agents/good.py": PROGRAM.format(answer="{said}"),
    "agents/loud.py": PROGRAM.format(answer="{said}!"),
    "agents/mute.py": PROGRAM.format(answer=""),
    "evals/BUILD.bazel": """
load("@my_gates//:index.bzl", "INDEX")
load("@hardgate//tools:defs.bzl", "hardgate_cases")

hardgate_cases(
    name = "suite",
    agent = "//agents:good",
    agents = {"loud": "//agents:loud"},
    index = INDEX,
)
""",
    "evals/cases/01_plain.yaml": CASE.format(name="plain", subject="", text="Hello."),
    "evals/cases/02_loud.yaml": CASE.format(
        name="loud", subject="subject: {agent: loud}\n", text="Hello.!"
    ),
    "evals/cases/03_nobody.yaml": CASE.format(
        name="nobody", subject="subject:\n  agent: nobody\n", text="Hello."
    ),
    "evals/fixtures/models/hello.yaml": "turns:\n  - {kind: final, text: Hello.}\n",
    "gates/MILESTONE": "0\n",
    "gates/desk.yaml": GATE.format(slug="plain", case="plain")
    + GATE.format(slug="loud", case="loud").partition("  counterexamples:")[0]
    + "  counterexamples:\n    - {name: mute, reason: final_text, agent: mute}\n"
    + GATE.format(slug="nobody", case="nobody").partition("  counterexamples:")[0],
    "gates/BUILD.bazel": """
load("@my_gates//:index.bzl", "INDEX")
load("@hardgate//tools:defs.bzl", "hardgate_gates")

hardgate_gates(
    name = "gates",
    agent = "//agents:good",
    agents = {"loud": "//agents:loud"},
    broken_agents = {"mute": "//agents:mute", "same": "//agents:good"},
    index = INDEX,
)
""",
}
PASSED = {
    "//evals:cases/plain",
    "//evals:cases/loud",
    "//gates:desk/plain",
    "//gates:desk/plain.counterexample.mute",
    "//gates:desk/loud",
    "//gates:desk/loud.counterexample.mute",
}
# What cannot run, or proves nothing, and what its log says.
FAILED = {
    "//evals:cases/nobody": (
        "evals/cases/03_nobody.yaml:7: case.agent: found subject.agent 'nobody'; agents has: loud"
    ),
    "//gates:desk/nobody": "found subject.agent 'nobody'; agents has: loud",
    "//gates:desk/plain.counterexample.same": "the check passes with the defect in place",
    "//gates:desk/plain.counterexample.nobody": (
        "counterexample nobody: it names the agent 'nobody'; broken_agents has: mute, same"
    ),
}


@pytest.fixture(scope="module")
def bazel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NestedBazel]:
    scratch = tmp_path_factory.mktemp("agents")
    hardgate = copy_sources(scratch / "hardgate")
    with NestedBazel(make_consumer(scratch / "consumer", hardgate, FILES), hardgate) as bazel:
        yield bazel


@pytest.fixture(scope="module")
def first(bazel: NestedBazel) -> Done:
    return bazel.build("test", "//...")


def test_each_case_and_gate_starts_the_agent_that_it_names(first: Done) -> None:
    wanted = dict.fromkeys(PASSED, "PASSED") | dict.fromkeys(FAILED, "FAILED")
    assert first.statuses == wanted, first.err[-4000:]


@pytest.mark.parametrize(("label", "words"), FAILED.items())
def test_what_cannot_run_says_why(first: Done, label: str, words: str) -> None:
    assert words in first.logs[label]


def test_an_agent_is_an_input_of_the_tests_that_start_it(bazel: NestedBazel, first: Done) -> None:
    file = Path(bazel.workspace, "agents/mute.py")
    file.write_text(PROGRAM.format(answer="..."), encoding="utf-8")
    done = bazel.build("test", "--notest_keep_going", *sorted(PASSED))
    assert done.tests_run() == {label for label in PASSED if label.endswith(".mute")}
    assert done.code == 0
