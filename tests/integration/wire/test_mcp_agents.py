"""An agent framework whose model and whose tools are both scripted: it finds the tools over MCP."""

import asyncio
import json

import agents
import openai
import pytest
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

from hardgate.fixtures.mcp_server import load_mcp_server
from hardgate.wire.mcp import rules
from hardgate.wire.mcp.setup import prepare
from tests.integration.wire.clients import rules as provider_rules
from tests.integration.wire.clients import serving

SERVER = """\
server_id: notes
transport: TRANSPORT
tools:
  - name: read_note
    description: Reads a note.
    input_schema: {type: object, properties: {path: {type: string}}, required: [path]}
    replies:
      - {when: {path: shopping.txt}, content: Buy milk.}
"""
TURNS = """\
  - kind: tool_calls
    calls: [{call_id: call_1, name: read_note, arguments: {path: PATH}}]
  - {kind: final, text: You wanted to buy milk.}
"""


def setup_of(folder, transport):
    text = SERVER.replace("TRANSPORT", transport)
    return prepare([load_mcp_server("evals/fixtures/mcp/notes.yaml", text.encode())], str(folder))


def framework_server(config_path):
    """What the configuration file tells of the server, in the framework's own terms."""
    with open(config_path, encoding="utf-8") as file:
        own = json.load(file)["mcpServers"]["notes"]
    if "url" in own:
        return MCPServerStreamableHttp({"url": own["url"]}, client_session_timeout_seconds=60)
    params = {"command": own["command"], "args": own["args"]}
    return MCPServerStdio(params, client_session_timeout_seconds=60)


async def answer(url, config_path):
    """What the agent says in the end."""
    agents.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="not-a-key", max_retries=0)
    model = agents.OpenAIChatCompletionsModel("scripted-model", client)
    async with framework_server(config_path) as server:
        agent = agents.Agent("assistant", model=model, mcp_servers=[server])
        return (await agents.Runner.run(agent, "What did I want?")).final_output


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_tool_call_goes_from_the_model_to_the_server_and_back(tmp_path, transport):
    setup = setup_of(tmp_path, transport)
    with serving(TURNS.replace("PATH", "shopping.txt")) as provider, setup:
        said = asyncio.run(answer(provider.url, setup.config_path))
    assert said == "You wanted to buy milk."
    assert provider_rules(provider) == []
    assert setup.results().findings == ()
    (call,) = setup.results().calls
    assert (call.server_id, call.tool, call.arguments, call.text) == (
        "notes",
        "read_note",
        {"path": "shopping.txt"},
        "Buy milk.",
    )
    # The model was told what the server said.
    last = provider.transcript.exchanges[-1].messages
    assert "Buy milk." in json.dumps([str(message) for message in last])


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_call_that_the_server_does_not_expect(tmp_path, transport):
    setup = setup_of(tmp_path, transport)
    with serving(TURNS.replace("PATH", "other.txt")) as provider, setup:
        asyncio.run(answer(provider.url, setup.config_path))
    found = [finding.rule for finding in setup.results().findings]
    assert set(found) == {rules.NO_REPLY, rules.REPLY_UNUSED}
