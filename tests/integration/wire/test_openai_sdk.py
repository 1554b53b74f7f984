"""The openai SDK, unchanged, against scripts of every kind of turn."""

import asyncio
import json
from contextlib import nullcontext

import httpx2
import openai
import pytest

from hardgate.wire import checks
from tests.integration.wire.agents import QUESTION, TOOL
from tests.integration.wire.clients import (
    CALLS,
    FINAL,
    error_turn,
    rules,
    serving,
    statuses,
)
from tests.integration.wire.openai_agents import ChatAgent, ResponsesAgent, StatefulAgent

AGENTS = [ChatAgent, ResponsesAgent, StatefulAgent]
ANSWER = "17 multiplied by 23 is 391."
ONE_CALL = """\
  - kind: tool_calls
    calls: [{call_id: call_1, name: math.multiply, arguments: {a: 17, b: 23}}]
"""
MALFORMED = CALLS.replace("{a: 1, b: 391}", '\'{"a": 1, "b\'')
SAID = "text: One moment, after_bytes: 3"


def in_every_way(*kinds):
    """Run a test with some agents, each whole and streamed, sync and async."""

    def marked(test):
        test = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])(test)
        test = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])(test)
        return pytest.mark.parametrize("kind", kinds)(test)

    return marked


@in_every_way(*AGENTS)
def test_calls_then_the_answer(kind, stream, asynchronous):
    with serving(CALLS + FINAL) as provider:
        agent = kind(provider.url, stream=stream, asynchronous=asynchronous)
        assert agent.run() == ANSWER
    first, last = agent.said
    assert first.text == "Let me see."
    assert first.calls == [
        ("call_1", TOOL, '{"a": 17, "b": 23}'),
        ("call_2", TOOL, '{"a": 1, "b": 391}'),
    ]
    assert (first.stop_reason, last.stop_reason) in (("tool_calls", "stop"), ("completed",) * 2)
    assert (rules(provider), provider.turns_consumed) == ([], 2)
    asked = provider.transcript.exchanges[1]
    results = [one for message in asked.messages for one in message.tool_results]
    assert [(one.call_id, one.text) for one in results] == [("call_1", "391"), ("call_2", "391")]
    assert asked.altered_calls == ()


@in_every_way(*AGENTS)
def test_malformed_arguments_reach_the_agent_and_come_back(kind, stream, asynchronous):
    with serving(MALFORMED + FINAL) as provider:
        agent = kind(provider.url, stream=stream, asynchronous=asynchronous)
        assert agent.run() == ANSWER
    assert agent.said[0].calls[1] == ("call_2", TOOL, '{"a": 1, "b')
    assert rules(provider) == []
    assert [one.altered_calls for one in provider.transcript.exchanges] == [(), ()]


@in_every_way(*AGENTS)
def test_a_single_call_and_what_it_used(kind, stream, asynchronous):
    usage = "    usage: {input_tokens: 5, output_tokens: 7}\n"
    with serving(ONE_CALL + usage + FINAL) as provider:
        agent = kind(provider.url, stream=stream, asynchronous=asynchronous)
        assert agent.run() == ANSWER
    assert agent.said[0].text == ""
    assert agent.said[0].calls == [("call_1", TOOL, '{"a": 17, "b": 23}')]
    assert agent.said[0].usage == (5, 7)
    assert (rules(provider), provider.turns_consumed) == ([], 2)


STOPS = [
    ("end_turn", "stop", "completed"),
    ("stop_sequence", "stop", "completed"),
    ("max_tokens", "length", "max_output_tokens"),
    ("content_filter", "content_filter", "content_filter"),
    ("incomplete", "length", "incomplete"),
]


USED = "usage: {input_tokens: 11, output_tokens: 13}"
SYNC_AND_ASYNC = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


@pytest.mark.parametrize(("reason", "chat", "responses"), STOPS)
@SYNC_AND_ASYNC
@pytest.mark.parametrize("kind", AGENTS[:2])
def test_why_the_model_stopped_and_what_it_used(kind, asynchronous, reason, chat, responses):
    with serving(f"  - {{kind: final, text: So, stop_reason: {reason}, {USED}}}\n") as provider:
        agent = kind(provider.url, asynchronous=asynchronous)
        assert agent.run() == "So"
    assert agent.said[0].stop_reason == (chat if kind is ChatAgent else responses)
    assert agent.said[0].usage == (11, 13)


# The SDK's own gathering of a stream raises where the model did not come to its end.
@pytest.mark.parametrize(("reason", "chat", "responses"), STOPS)
@SYNC_AND_ASYNC
def test_a_stream_tells_why_the_model_stopped(asynchronous, reason, chat, responses):
    turn = f"  - {{kind: final, text: So, stop_reason: {reason}, {USED}}}\n"
    with serving(turn + turn) as provider:
        agent = ChatAgent(provider.url, asynchronous=asynchronous)
        *chunks, last = agent.streamed()
        agent = ResponsesAgent(provider.url, asynchronous=asynchronous)
        event = agent.streamed()[-1]
    assert [one.choices[0].finish_reason for one in chunks[-2:]] == [None, chat]
    assert (last.usage.prompt_tokens, last.usage.completion_tokens) == (11, 13)
    said = agent.said_in(event.response)
    assert (said.text, said.stop_reason, said.usage) == ("So", responses, (11, 13))
    assert event.type == f"response.{'completed' if responses == 'completed' else 'incomplete'}"


@in_every_way(ChatAgent, ResponsesAgent)
def test_an_answer_that_comes_late_is_waited_for(kind, stream, asynchronous):
    with serving("  - {kind: final, text: So, delay_seconds: 0.2}\n") as provider:
        assert kind(provider.url, stream=stream, asynchronous=asynchronous).run() == "So"
    with serving("  - {kind: final, text: So, delay_seconds: 5}\n") as provider:
        late = kind(provider.url, stream=stream, asynchronous=asynchronous, timeout=0.1)
        with pytest.raises(openai.APITimeoutError):
            late.run()


def test_arguments_are_streamed_in_pieces():
    with serving(CALLS) as provider:
        agent = ChatAgent(provider.url)
        with agent.client() as client:
            chunks = list(client.chat.completions.create(**agent.fields(), stream=True))
    pieces = [
        call.function.arguments
        for chunk in chunks
        for choice in chunk.choices
        for call in choice.delta.tool_calls or []
        if call.index == 0
    ]
    assert len(pieces) > 2
    assert json.loads("".join(pieces)) == {"a": 17, "b": 23}


# The error class, what precedes it, and the exception of a whole answer and of a stream.
FAILURES = [
    ("transient", "", openai.InternalServerError, openai.InternalServerError),
    ("transient", SAID, openai.APIConnectionError, openai.APIConnectionError),
    ("permanent", "", openai.BadRequestError, openai.BadRequestError),
    ("permanent", SAID, openai.BadRequestError, (openai.APIError, RuntimeError)),
    ("rate_limit", "", openai.RateLimitError, openai.RateLimitError),
    ("rate_limit", SAID, openai.RateLimitError, (openai.APIError, RuntimeError)),
    ("protocol", "", json.JSONDecodeError, json.JSONDecodeError),
    ("protocol", SAID, json.JSONDecodeError, json.JSONDecodeError),
    ("timeout", "", openai.APITimeoutError, openai.APITimeoutError),
    ("timeout", SAID, openai.APITimeoutError, openai.APITimeoutError),
]


@pytest.mark.parametrize(("error_class", "said", "whole", "streamed"), FAILURES)
@in_every_way(ChatAgent, ResponsesAgent)
def test_failures(kind, stream, asynchronous, error_class, said, whole, streamed):
    fields = f"error_class: {error_class}" + (f", {said}" if said else "")
    options = {"timeout": 0.3} if error_class == "timeout" else {}
    with serving(error_turn(fields) + FINAL) as provider:
        agent = kind(provider.url, stream=stream, asynchronous=asynchronous, **options)
        with pytest.raises(streamed if stream else whole) as caught:
            agent.run()
    # A stream that has begun fails by what it says, and by no status.
    if stream and said and error_class in ("permanent", "rate_limit"):
        assert type(caught.value) in (openai.APIError, RuntimeError)
    assert (rules(provider), provider.turns_consumed) == ([], 1)


@pytest.mark.parametrize("error_class", ["transient", "permanent", "rate_limit", "timeout"])
@SYNC_AND_ASYNC
def test_a_stream_says_what_comes_before_it_breaks(asynchronous, error_class):
    turn = error_turn(f"error_class: {error_class}, {SAID}")
    broken = (openai.APIError, httpx2.HTTPError)
    with serving(turn + turn, stall_seconds=0.3) as provider:
        chat = ChatAgent(provider.url, asynchronous=asynchronous)
        with pytest.raises(broken):
            chat.streamed()
        responses = ResponsesAgent(provider.url, asynchronous=asynchronous)
        # It says by an event that it failed, which raises nothing.
        with pytest.raises(broken) if error_class in ("transient", "timeout") else nullcontext():
            responses.streamed()
    pieces = [choice.delta.content or "" for one in chat.events for choice in one.choices]
    assert "".join(pieces) == "One"
    texts = [one.delta for one in responses.events if one.type == "response.output_text.delta"]
    assert "".join(texts) == "One"


@in_every_way(ChatAgent, ResponsesAgent)
def test_the_sdk_waits_as_long_as_a_rate_limit_asks(kind, stream, asynchronous):
    turns = error_turn("error_class: rate_limit, retry_after_seconds: 0.2")
    with serving(CALLS + turns + turns + FINAL) as provider:
        agent = kind(provider.url, stream=stream, asynchronous=asynchronous, max_retries=2)
        assert agent.run() == ANSWER
    assert statuses(provider) == [200, 429, 429, 200]
    assert [one.turn for one in provider.transcript.exchanges] == [1, 2, 3, 4]
    assert rules(provider) == []


@pytest.mark.parametrize("error_class", ["transient", "rate_limit"])
@in_every_way(ChatAgent, ResponsesAgent)
def test_the_sdk_retries_and_gets_the_next_turn(kind, stream, asynchronous, error_class):
    with serving(error_turn(f"error_class: {error_class}") + FINAL) as provider:
        agent = kind(provider.url, stream=stream, asynchronous=asynchronous, max_retries=1)
        assert agent.run() == ANSWER
    assert statuses(provider) == [500 if error_class == "transient" else 429, 200]
    assert rules(provider) == []


@in_every_way(ChatAgent, ResponsesAgent)
def test_the_sdk_gives_up_waiting_and_gets_the_next_turn(kind, stream, asynchronous):
    options = {"timeout": 0.3, "max_retries": 1}
    with serving(CALLS + error_turn("error_class: timeout") + FINAL) as provider:
        agent = kind(provider.url, stream=stream, asynchronous=asynchronous, **options)
        assert agent.run() == ANSWER
    assert statuses(provider) == [200, None, 200]
    assert rules(provider) == []


@pytest.mark.parametrize("kind", AGENTS[:2])
def test_the_sdk_asks_again_for_a_body_that_was_cut(kind):
    with serving(error_turn(f"error_class: transient, {SAID}") + FINAL) as provider:
        assert kind(provider.url, max_retries=1).run() == ANSWER
    assert statuses(provider) == [200, 200]


@pytest.mark.parametrize("kind", AGENTS[:2])
def test_a_permanent_failure_is_not_retried(kind):
    with serving(error_turn("error_class: permanent") + FINAL) as provider:
        with pytest.raises(openai.BadRequestError) as caught:
            kind(provider.url, max_retries=2).run()
    assert statuses(provider) == [400]
    assert caught.value.code == "invalid_prompt"
    assert caught.value.request_id == "req_0001"


def forgets_a_result(agent, said, results):
    type(agent).answer(agent, said, results[:1])


def answers_another_call(agent, said, results):
    type(agent).answer(agent, said, [("call_9" + call_id, text) for call_id, text in results])


def answers_twice(agent, said, results):
    type(agent).answer(agent, said, results + results[:1])


def asks_the_same_again(agent, said, results):
    agent.previous = None


BROKEN = [
    (forgets_a_result, checks.RESULTS_MISSING),
    (answers_another_call, checks.RESULTS_MISSING),
    (answers_twice, checks.RESULTS_REPEATED),
    (asks_the_same_again, checks.RESULTS_MISSING),
]


@pytest.mark.parametrize(("fault", "rule"), BROKEN)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("kind", AGENTS)
def test_a_broken_agent_is_refused_once_and_told_why(kind, stream, fault, rule):
    with serving(CALLS + FINAL) as provider:
        agent = kind(provider.url, stream=stream, max_retries=2)
        agent.answer = lambda said, results: fault(agent, said, results)
        with pytest.raises(openai.BadRequestError, match=rule):
            agent.run()
    assert rule in rules(provider)
    assert (statuses(provider), provider.turns_consumed) == ([200, 400], 1)


def test_an_agent_that_loops_runs_out_of_turns():
    with serving(CALLS) as provider:
        agent = ChatAgent(provider.url, max_retries=2)
        with pytest.raises(openai.BadRequestError, match=checks.EXHAUSTED):
            agent.run()
    assert statuses(provider) == [200, 400]


def test_a_wrong_base_url_is_told():
    with serving(FINAL) as provider:
        client = openai.OpenAI(base_url=provider.url, api_key="not-a-key")
        with client, pytest.raises(openai.NotFoundError, match=r"base URL of http://HOST:PORT/v1"):
            client.chat.completions.create(model="m", messages=[])
    assert rules(provider) == [checks.PATH_UNKNOWN]


@pytest.mark.parametrize("previous", ["resp_0009", "resp_0001"])
def test_a_response_that_was_not_stored_is_unknown(previous):
    with serving(FINAL + FINAL) as provider:
        client = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="not-a-key")
        with client:
            client.responses.create(model="m", input=QUESTION, store=False)
            with pytest.raises(openai.BadRequestError, match="no such response is stored"):
                client.responses.create(model="m", input="And?", previous_response_id=previous)
    assert rules(provider) == [checks.REQUEST_MALFORMED]


def test_models_and_tokens():
    with serving(FINAL) as provider:
        with openai.OpenAI(base_url=f"{provider.url}/v1", api_key="not-a-key") as client:
            assert [model.id for model in client.models.list()] == ["scripted-model"]
            assert client.models.retrieve("gpt-x").id == "gpt-x"
            counted = client.responses.input_tokens.count(model="m", input="x" * 9)
            assert counted.input_tokens == 3
    assert (rules(provider), provider.turns_consumed) == ([], 0)


def test_models_and_tokens_without_blocking():
    async def ask(url):
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="not-a-key") as client:
            models = [model.id async for model in client.models.list()]
            counted = await client.responses.input_tokens.count(model="m", input="x" * 9)
            return models, counted.input_tokens

    with serving(FINAL) as provider:
        assert asyncio.run(ask(provider.url)) == (["scripted-model"], 3)
    assert (rules(provider), provider.turns_consumed) == ([], 0)


def test_the_environment_is_all_that_the_sdk_needs(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with serving(FINAL) as provider:
        for name, value in provider.environment().items():
            monkeypatch.setenv(name, value)
        with openai.OpenAI() as client:
            response = client.responses.create(model="m", input=QUESTION)
    assert response.output_text == ANSWER
