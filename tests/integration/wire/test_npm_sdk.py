"""An agent SDK for Node, unchanged: it takes base URL and key from the environment."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration.wire.clients import CALLS, FINAL, error_turn, rules, serving, statuses

ANSWER = "17 multiplied by 23 is 391."
MALFORMED = CALLS.replace("{a: 1, b: 391}", '\'{"a": 1, "b\'')
CORRECTED = CALLS.replace("call_1", "next_1").replace("call_2", "next_2")
APIS = {
    "chat": "openai_chat",
    "responses": "openai_responses",
    "messages": "anthropic_messages",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the agent and, beside it, its packages: Node looks for them there."""
    folder = tmp_path_factory.mktemp("npm")
    shutil.copy("tests/integration/wire/npm_agent.mjs", folder)
    modules = Path(os.environ["HARDGATE_NODE_MODULES"]).resolve()
    (folder / "node_modules").symlink_to(modules, target_is_directory=True)
    return folder


def run(folder, provider, api, way):
    """What the agent prints."""
    done = ran(folder, provider, api, way)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def ran(folder, provider, api, way):
    """The agent's process, once it has ended."""
    return subprocess.run(
        [Path(os.environ["HARDGATE_NODE"]).resolve(), "npm_agent.mjs", api, way],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **provider.environment()},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("way", ["whole", "stream"])
@pytest.mark.parametrize("api", APIS)
def test_calls_then_the_answer(folder, api, way):
    with serving(CALLS + FINAL) as provider:
        assert run(folder, provider, api, way) == ANSWER
    assert (rules(provider), provider.turns_consumed) == ([], 2)
    first, second = provider.transcript.exchanges
    assert (first.api, first.stream) == (APIS[api], way == "stream")
    assert first.offered == ("math_multiply",)
    results = [one for message in second.messages for one in message.tool_results]
    assert [(one.call_id, one.text) for one in results] == [("call_1", "391"), ("call_2", "391")]


@pytest.mark.parametrize("way", ["whole", "stream"])
@pytest.mark.parametrize("api", APIS)
def test_malformed_arguments_are_answered_and_corrected(folder, api, way):
    with serving(MALFORMED + CORRECTED + FINAL) as provider:
        assert run(folder, provider, api, way) == ANSWER
    assert (rules(provider), provider.turns_consumed) == ([], 3)


@pytest.mark.parametrize("fields", ["transient", "rate_limit, retry_after_seconds: 0.2"])
@pytest.mark.parametrize("way", ["whole", "stream"])
@pytest.mark.parametrize("api", APIS)
def test_a_failure_is_retried(folder, api, way, fields):
    with serving(error_turn(f"error_class: {fields}") + FINAL) as provider:
        assert run(folder, provider, api, way) == ANSWER
    assert rules(provider) == []
    assert [one.turn for one in provider.transcript.exchanges] == [1, 2]
    assert statuses(provider)[1] == 200


FAILURES = [
    ("permanent", "This request cannot be processed"),
    ("protocol", "AI_JSONParseError"),
    ("protocol, text: One moment, after_bytes: 3", "AI_JSONParseError"),
]


@pytest.mark.parametrize(("fields", "told"), FAILURES)
@pytest.mark.parametrize("way", ["whole", "stream"])
@pytest.mark.parametrize("api", APIS)
def test_what_no_retry_mends_is_told(folder, api, way, fields, told):
    with serving(error_turn(f"error_class: {fields}") + FINAL) as provider:
        done = ran(folder, provider, api, way)
    # A stream that breaks is an event to this SDK, and the agent ends as ever.
    assert told in done.stderr
    assert "391" not in done.stdout
    assert (rules(provider), provider.turns_consumed) == ([], 1)
