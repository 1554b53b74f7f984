"""Cases about an agent that gets its tools from scripted MCP servers, from the file to the verdict."""

import os
import sys

import pytest

from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import DirectoryTree
from hardgate.kinds.case_run import run_case
from hardgate.subjects import collection
from hardgate.subjects.command.subject import ForeignAgent
from hardgate.verdicts.network import ATTEMPTS, NetworkProof

OFF = NetworkProof(True, (), tuple((name, "ENETUNREACH") for name in ATTEMPTS), "", "")
CASE = """\
name: notes
milestone: 0
input: {text: What did I want?}
model_fixture: notes
fixtures: {mcp_servers: [notes]}
subject:
  command: ["{agent}", BEHAVIOUR]
  limits: {wall_seconds: 120}
expected:
  terminal_status: completed
  final_text: You wanted to buy milk.
  tools: [read_note]
"""
SCRIPT = """\
turns:
  - kind: tool_calls
    calls: [{call_id: call_1, name: read_note, arguments: {path: todo.txt}}]
  - {kind: final, text: You wanted to buy milk.}
"""
SERVER = """\
server_id: notes
transport: TRANSPORT
tools:
  - name: read_note
    input_schema: {type: object, properties: {path: {type: string}}}
    replies: [{when: {path: todo.txt}, times: 1, content: Buy milk.}]
  - {name: erase_note, input_schema: {type: object}}
"""
TRANSPORTS = ["stdio", "http"]


def agent(folder):
    """An executable that runs the agent with what this process can import."""
    path = folder / "agent"
    program = os.path.abspath(os.path.join(os.path.dirname(__file__), "mcp_agent.py"))
    found = ":".join(os.path.abspath(entry) for entry in sys.path if entry)
    path.write_text(
        f"#!/bin/sh\nPYTHONPATH='{found}' PYTHONDONTWRITEBYTECODE=1 "
        f"exec '{sys.executable}' '{program}' \"$@\"\n"
    )
    path.chmod(0o755)
    return str(path)


def collected(folder, behaviour="good", case=CASE, script=SCRIPT, server=SERVER, transport="stdio"):
    """The case as it would run, and its subject."""
    files = {
        "cases/01_notes.yaml": case.replace("BEHAVIOUR", behaviour),
        "fixtures/models/notes.yaml": script,
        "fixtures/mcp/notes.yaml": server.replace("TRANSPORT", transport),
    }
    for path, text in files.items():
        target = folder / "evals" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    subject = ForeignAgent({"": agent(folder)}, os.environ)
    tree = DirectoryTree(folder)
    loaded = collection.load(tree, "evals/cases/01_notes.yaml")
    return collection.collect(tree, loaded, "evals/fixtures", subject), subject


def run(folder, **parts):
    runnable, subject = collected(folder, **parts)
    workspace = folder / "workspace"
    workspace.mkdir()
    result = run_case(runnable, subject, str(workspace), OFF)
    assert result.verdict.findings == ()
    assert os.listdir(workspace) == []
    return result


def failed(result):
    """What each failed check says, by name."""
    checks = result.verdict.checks
    return {check.name: check.message for check in checks if check.outcome != "pass"}


def mcp_events(result):
    (ran,) = result.runs
    return [one.payload for one in ran.record.events if one.type == "mcp.tool.called"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_good_agent_passes(tmp_path, transport):
    result = run(tmp_path, transport=transport)
    assert failed(result) == {}
    assert mcp_events(result) == [
        {
            "server_id": "notes",
            "ordinal": 1,
            "tool_name": "read_note",
            "arguments": {"path": "todo.txt"},
            "answered": True,
            "is_error": False,
        }
    ]


BAD = {
    "invents_a_result": {"mcp.reply_unused": "notes: reply 1 of read_note answered 0 calls"},
    "changes_the_arguments": {
        "mcp.no_reply": "notes: no reply is scripted for this call of read_note",
        "mcp.reply_unused": "notes: reply 1 of read_note answered 0 calls",
    },
    "erases": {"mcp.no_reply": "notes: no reply is scripted for this call of erase_note"},
    "calls_twice": {"mcp.no_reply": "notes: no reply is scripted for this call of read_note"},
}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("behaviour", BAD)
def test_a_bad_agent_fails_for_what_it_did(tmp_path, behaviour, transport):
    """To the model all of them look alike."""
    found = failed(run(tmp_path, behaviour=behaviour, transport=transport))
    for name, said in BAD[behaviour].items():
        assert found.pop(name).startswith(said)
    assert found.keys() == {"terminal_status", "subject.in_order", "implicit.errored_run"}
    assert "mcp_violation" in found["terminal_status"]


AGAIN = "replies: [{when: {path: todo.txt}, content: Buy milk.}]"
DISCONNECT = SERVER.replace(
    "replies: [{when: {path: todo.txt}, times: 1, content: Buy milk.}]", AGAIN
)
DISCONNECT += "script: [{at_call: ORDINAL, action: disconnect}]\n"


def test_an_agent_that_comes_back_after_a_disconnect(tmp_path):
    result = run(tmp_path, server=DISCONNECT.replace("ORDINAL", "1"))
    assert failed(result) == {}
    assert [one["answered"] for one in mcp_events(result)] == [False, True]


def test_a_disconnect_that_never_comes_fails_the_case(tmp_path):
    found = failed(run(tmp_path, server=DISCONNECT.replace("ORDINAL", "2")))
    assert found["mcp.action_unfired"].startswith("notes: disconnect at at_call 2 never happened")


def test_two_servers_and_the_path_of_the_configuration_in_the_command(tmp_path):
    (tmp_path / "evals/fixtures/mcp").mkdir(parents=True)
    other = SERVER.replace("server_id: notes", "server_id: mail").replace("TRANSPORT", "http")
    other = other.replace("read_note", "send_mail").replace("erase_note", "erase_mail")
    (tmp_path / "evals/fixtures/mcp/mail.yaml").write_text(other)
    case = CASE.replace("[notes]", "[notes, mail]").replace("BEHAVIOUR]", 'good, "{mcp_config}"]')
    result = run(tmp_path, case=case)
    assert failed(result)["mcp.reply_unused"].startswith("mail: reply 1 of send_mail")


def test_the_configuration_needs_servers(tmp_path):
    case = CASE.replace("fixtures: {mcp_servers: [notes]}\n", "")
    with pytest.raises(DefinitionError) as refused:
        collected(tmp_path, case=case.replace("BEHAVIOUR]", 'good, "{mcp_config}"]'))
    assert "without fixtures.mcp_servers" in refused.value.problems[0].message


def test_the_text_of_a_server_is_no_leak_and_arguments_of_the_agent_are(tmp_path):
    case = CASE + "  absent_strings: [todo.txt, Buy milk]\n"
    (leak,) = [
        check for check in run(tmp_path, case=case).verdict.checks if check.outcome != "pass"
    ]
    assert (leak.name, leak.expected) == ("absent_strings", "nowhere: todo.txt")
