"""What is told at the end: everything broken, and everything that never happened."""

import json

import pytest

from hardgate.wire.mcp import rules
from hardgate.wire.mcp.results import McpResults, ServerResults
from tests.unit.hardgate.wire.mcp.samples import TEXT, Agent, server_of

SCRIPT = "script: [{at_call: 3, action: disconnect}, {at_connect: 2, action: unauthorized}]\n"


def rest(agent):
    """The rules and the messages of what never happened."""
    return [(one.rule, one.message) for one in agent.results().findings()]


def test_a_server_that_nobody_used():
    assert rest(Agent(TEXT + SCRIPT)) == [
        (rules.REPLY_UNUSED, "reply 1 of read answered 0 calls; expected 1"),
        (rules.REPLY_UNUSED, "reply 2 of read answered 0 calls; expected 1 or more"),
        (rules.REPLY_UNUSED, "reply 3 of read answered 0 calls; expected 1 or more"),
        (rules.ACTION_UNFIRED, "disconnect at at_call 3 never happened; there were 0"),
        (rules.ACTION_UNFIRED, "unauthorized at at_connect 2 never happened; there were 0"),
    ]


def test_expected_and_received_are_told():
    agent = Agent(TEXT + SCRIPT).open()
    for path in "ab":
        agent.call("read", {"path": path})
    values = [(one.expected, one.received) for one in agent.results().findings()]
    assert values == [("1 or more", 0), (3, 2), (2, 1)]


@pytest.mark.parametrize(("times", "calls", "left"), [(2, 1, True), (2, 2, False), (1, 1, False)])
def test_a_reply_with_times_is_used_exactly_that_often(times, calls, left):
    agent = Agent(TEXT.replace("times: 1", f"times: {times}")).open()
    for _ in range(calls):
        agent.call("read", {"path": "a"})
    found = [message for _, message in rest(agent) if message.startswith("reply 1")]
    assert found == ([f"reply 1 of read answered {calls} calls; expected {times}"] if left else [])


def test_what_the_agent_did_comes_first_with_the_number_of_its_message():
    agent = Agent().open()
    agent.call("nothing")
    first, *others = agent.results().findings()
    assert (first.rule, first.message_number, first.server_id) == (rules.TOOL_UNKNOWN, 3, "notes")
    assert {one.message_number for one in others} == {None}


def test_broken_lines_of_a_transcript():
    results = ServerResults(server_of("server_id: a\ntransport: stdio\ntools: []\n"), (), (), 2)
    (finding,) = results.findings()
    assert (finding.rule, finding.received) == (rules.TRANSCRIPT_BROKEN, 2)


def test_all_servers_of_a_case():
    one, other = Agent().open(), Agent(requests=2).open()
    one.call("read", {"path": "b"})
    other.call("read", {"path": "b"})
    results = McpResults((one.results(), other.results()))
    assert [call.text for call in results.calls] == ["one\ntwo"]
    assert results.limits_hit == ("requests",)
    assert {finding.rule for finding in results.findings} == {rules.REPLY_UNUSED, rules.LIMIT}
    data = json.loads(json.dumps(results.to_data()))
    assert data[0]["calls"][0]["arguments"] == {"path": "b"}
    assert [entry["number"] for entry in data[0]["entries"]] == [1, 2, 3]
    assert data[1]["findings"][0]["rule"] == rules.LIMIT
    assert data[1]["limits_hit"] == ["requests"]
