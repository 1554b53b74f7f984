"""What `hardgate init --agent` writes: a small agent, a case of it, the gate upon the case."""

from __future__ import annotations

from collections.abc import Mapping

_AGENT = '''#!/usr/bin/env python3
"""Answers the question on standard input, with one tool (OpenAI's Chat Completions)."""

import json
import os
import sys
import urllib.request

NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
MULTIPLY = {"name": "multiply", "description": "Multiplies a and b.", "parameters": NUMBERS}


def ask(messages):
    """The model's next message."""
    body = {
        "model": "gpt-4.1-mini",
        "messages": messages,
        "tools": [{"type": "function", "function": MULTIPLY}],
    }
    headers = {
        "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"],
        "Content-Type": "application/json",
    }
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)["choices"][0]["message"]


def run(call):
    """The message with the result of one call."""
    numbers = json.loads(call["function"]["arguments"])
    result = numbers["a"] * numbers["b"]
    return {"role": "tool", "tool_call_id": call["id"], "content": str(result)}


messages = [{"role": "user", "content": sys.stdin.read()}]
while calls := (message := ask(messages)).get("tool_calls"):
    messages += [message, *map(run, calls)]
print(message["content"])
'''
_GUESSES = '''#!/usr/bin/env python3
"""A broken agent: its answer is right, but it never asked the model."""

print("17 * 23 is 391.")
'''
_AGENT_BUILD = """# Any executable is an agent: a file in any language, or what a rule builds.
exports_files([
    "agent.py",
    "guesses.py",
])
"""
_SPEC = """# The agent

It answers questions about numbers, and never by guessing.

## Hard gates

1. **`gate.agent.asks_its_tool`** — The agent lets its tool multiply, tells the model the result,
   and gives the model's answer. **M0.**
"""
_CASES_BUILD = """load("@hardgate//tools:defs.bzl", "hardgate_cases")
load("@{repository}//:index.bzl", "INDEX")

hardgate_cases(
    name = "suite",
    agent = "//agent:agent.py",
    index = INDEX,
)
"""
_CASE = """name: product
milestone: 0
input:
  text: What is 17 * 23?
model_fixture: product
subject:
  command: ["{agent}"]
  prompt: stdin
expected:
  terminal_status: completed
  contains: ["391"]
  tool_calls:
    - name: multiply
      count: 1
      arguments_subset: {a: 17, b: 23}
"""
_SCRIPT = """# What the model says, one turn for each request of the agent.
turns:
  - kind: tool_calls
    calls:
      - {call_id: call_1, name: multiply, arguments: {a: 17, b: 23}}
  - kind: final
    text: 17 * 23 is 391.
"""
_REGISTRY = """- id: gate.agent.asks_its_tool
  milestone: 0
  kind: case
  spec: docs/specs/agent.md#hard-gates
  statement: >-
    The agent lets its tool multiply, tells the model the result, and gives the model's answer.
  check: case:product
  counterexamples:
    - name: guesses
      agent: guesses
      reason: tool_calls.count
"""
_GATES_BUILD = """load("@hardgate//tools:defs.bzl", "hardgate_gates")
load("@{repository}//:index.bzl", "INDEX")

hardgate_gates(
    name = "gates",
    agent = "//agent:agent.py",
    broken_agents = {{"guesses": "//agent:guesses.py"}},
    index = INDEX,
)
"""


def agent_files(repository: str) -> Mapping[str, str]:
    """The agent, its case and its gate with all that they need, by path; MODULE.bazel is not in it.
    `repository` is the one that `gates.declare` makes."""
    return {
        "agent/BUILD.bazel": _AGENT_BUILD,
        "agent/agent.py": _AGENT,
        "agent/guesses.py": _GUESSES,
        "docs/specs/agent.md": _SPEC,
        "evals/BUILD.bazel": _CASES_BUILD.format(repository=repository),
        "evals/cases/01_product.yaml": _CASE,
        "evals/fixtures/models/product.yaml": _SCRIPT,
        "gates/BUILD.bazel": _GATES_BUILD.format(repository=repository),
        "gates/agent.yaml": _REGISTRY,
    }
