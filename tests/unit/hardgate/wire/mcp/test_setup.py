"""The servers of a case: the configuration that the agent reads, and what came of them."""

import json
import subprocess
import sys
import threading

import pytest

from hardgate.wire.mcp import rules
from hardgate.wire.mcp.setup import CONFIG_VARIABLE, prepare
from tests.unit.hardgate.wire.mcp.samples import BEGIN, CLIENT, TEXT, line, server_of

STDIO = server_of(TEXT.replace("transport: http", "transport: stdio"))
HTTP = server_of(TEXT.replace("server_id: notes", "server_id: web"))


def config(setup):
    assert setup.environment == {CONFIG_VARIABLE: setup.config_path}
    assert setup.placeholders == {"mcp_config": setup.config_path}
    with open(setup.config_path, encoding="utf-8") as file:
        return json.load(file)["mcpServers"]


def test_the_configuration(tmp_path):
    with prepare([STDIO, HTTP], str(tmp_path)) as setup:
        found = config(setup)
        assert list(found) == ["notes", "web"]
        assert found["notes"]["command"] == sys.executable
        assert found["notes"]["type"] == "stdio"
        assert found["web"]["type"] == "http"
        assert found["web"]["url"].startswith("http://127.0.0.1:")
        assert found["web"]["url"].endswith("/mcp")


def started(setup, data, environment=()):
    """What a server of stdio answers, started as the configuration says, somewhere else."""
    own = config(setup)["notes"]
    ended = subprocess.run(
        [own["command"], *own["args"]],
        input=data,
        capture_output=True,
        env=dict(environment),
        cwd="/",
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    return [json.loads(one) for one in ended.stdout.splitlines()]


CALL = line("tools/call", 2, name="read", arguments={"path": "a"})


def test_a_server_that_is_started_twice_goes_on_where_it_was(tmp_path):
    with prepare([STDIO], str(tmp_path)) as setup:
        texts = [started(setup, BEGIN + CALL)[1]["result"]["content"][0]["text"] for _ in "ab"]
        assert texts == ["the disk is on fire", "Buy milk."]
    results = setup.results()
    assert [call.ordinal for call in results.calls] == [1, 2]
    assert [entry.connection for entry in results.servers[0].entries] == [1, 1, 1, 2, 2, 2]
    (finding,) = results.findings
    assert (finding.rule, finding.server_id) == (rules.REPLY_UNUSED, "notes")


def test_a_server_imports_nothing_that_the_agents_environment_names(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('imported')\n")
    with prepare([STDIO], str(tmp_path)) as setup:
        answers = started(setup, BEGIN, {"PYTHONPATH": str(tmp_path)})
    assert [answer["id"] for answer in answers] == [1]


def test_the_transcript_survives_a_server_that_is_killed(tmp_path):
    with prepare([STDIO], str(tmp_path)) as setup:
        own = config(setup)["notes"]
        with subprocess.Popen(
            [own["command"], *own["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            process.stdin.write(line("initialize", 1, **CLIENT))
            process.stdin.flush()
            assert process.stdout.readline().startswith(b'{"jsonrpc"')
            process.kill()
        assert [one.method for one in setup.results().servers[0].entries] == ["initialize"]


def test_a_server_that_nobody_starts_is_all_left_over(tmp_path):
    with prepare([STDIO, HTTP], str(tmp_path)) as setup:
        pass
    assert [one.server_id for one in setup.results().findings] == ["notes"] * 3 + ["web"] * 3


def test_no_servers_are_a_configuration_too(tmp_path):
    with prepare([], str(tmp_path)) as setup:
        assert config(setup) == {}
    assert setup.results().findings == ()


def test_two_servers_of_one_id(tmp_path):
    with pytest.raises(ValueError, match="a server_id stands twice: notes, notes"):
        prepare([STDIO, STDIO], str(tmp_path))


def test_a_folder_that_is_not_there(tmp_path):
    setup = prepare([HTTP, STDIO], str(tmp_path / "none"))
    with pytest.raises(OSError, match="none"):
        setup.start()
    assert "wire-accept" not in {thread.name for thread in threading.enumerate()}
