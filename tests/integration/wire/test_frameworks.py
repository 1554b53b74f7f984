"""Two agent frameworks, unchanged: they take base URL and key from the environment."""

import asyncio

import agents
import openai
import pydantic_ai
import pytest

from tests.integration.wire.agents import QUESTION, SYSTEM
from tests.integration.wire.clients import CALLS, FINAL, error_turn, rules, serving, statuses

ANSWER = "17 multiplied by 23 is 391."
# Without a text: pydantic-ai's run_stream takes the first text for the answer.
QUIET = CALLS.replace("    text: Let me see.\n", "")
MALFORMED = QUIET.replace("{a: 1, b: 391}", '\'{"a": 1, "b\'')
CORRECTED = QUIET.replace("call_1", "next_1").replace("call_2", "next_2")


def math_multiply(a: int, b: int) -> int:
    """Multiplies."""
    return a * b


def run_pydantic_ai(model, stream):
    """The answer of an agent of pydantic-ai."""
    agent = pydantic_ai.Agent(model, system_prompt=SYSTEM, tools=[math_multiply], retries=2)

    async def run():
        if not stream:
            return (await agent.run(QUESTION)).output
        async with agent.run_stream(QUESTION) as result:
            return await result.get_output()

    return asyncio.run(run())


def run_openai_agents(api, stream):
    """The answer of an agent of openai-agents."""
    agents.set_tracing_disabled(True)
    agents.set_default_openai_api(api)
    tool = agents.function_tool(math_multiply)
    agent = agents.Agent(name="multiplier", instructions=SYSTEM, tools=[tool], model="gpt-x")

    async def run():
        async with openai.AsyncOpenAI() as client:
            agents.set_default_openai_client(client, use_for_tracing=False)
            if not stream:
                return (await agents.Runner.run(agent, QUESTION)).final_output
            result = agents.Runner.run_streamed(agent, QUESTION)
            async for _ in result.stream_events():
                pass
            return result.final_output

    return asyncio.run(run())


FRAMEWORKS = [
    (run_pydantic_ai, "openai-chat:gpt-x", "openai_chat"),
    (run_pydantic_ai, "openai-responses:gpt-x", "openai_responses"),
    (run_pydantic_ai, "anthropic:claude-x", "anthropic_messages"),
    (run_openai_agents, "chat_completions", "openai_chat"),
    (run_openai_agents, "responses", "openai_responses"),
]


@pytest.fixture
def serve(monkeypatch):
    """Serves a script to whoever reads the environment; gives what `serving` gives."""

    def start(turns):
        provider = serving(turns)
        started = provider.__enter__()
        opened.append(provider)
        for name, value in started.environment().items():
            monkeypatch.setenv(name, value)
        return started

    opened = []
    yield start
    for provider in opened:
        provider.__exit__(None, None, None)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("run", "choice", "api"), FRAMEWORKS)
def test_calls_then_the_answer(serve, run, choice, api, stream):
    provider = serve(QUIET + FINAL)
    assert run(choice, stream) == ANSWER
    assert (rules(provider), provider.turns_consumed) == ([], 2)
    first, second = provider.transcript.exchanges
    assert (first.api, first.stream, first.offered) == (api, stream, ("math_multiply",))
    results = [one for message in second.messages for one in message.tool_results]
    assert [(one.call_id, one.text) for one in results] == [("call_1", "391"), ("call_2", "391")]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("run", "choice", "api"), FRAMEWORKS)
def test_malformed_arguments_are_answered_and_corrected(serve, run, choice, api, stream):
    provider = serve(MALFORMED + CORRECTED + FINAL)
    assert run(choice, stream) == ANSWER
    assert (rules(provider), provider.turns_consumed) == ([], 3)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("run", "choice", "api"), FRAMEWORKS)
def test_a_rate_limit_is_waited_for(serve, run, choice, api, stream):
    provider = serve(error_turn("error_class: rate_limit, retry_after_seconds: 0.2") + FINAL)
    assert run(choice, stream) == ANSWER
    assert (rules(provider), statuses(provider)) == ([], [429, 200])


@pytest.mark.parametrize(("run", "choice", "api"), FRAMEWORKS)
def test_a_permanent_failure_ends_the_run(serve, run, choice, api):
    provider = serve(error_turn("error_class: permanent") + FINAL)
    with pytest.raises(Exception, match="This request cannot be processed"):
        run(choice, False)
    assert statuses(provider) == [400]
