"""The anthropic SDK, unchanged, against scripts of every kind of turn."""

import asyncio
import json

import anthropic
import httpx2
import pytest

from hardgate.wire import checks
from tests.integration.wire.agents import QUESTION, TOOL, Said
from tests.integration.wire.anthropic_agents import MessagesAgent
from tests.integration.wire.clients import (
    CALLS,
    FINAL,
    error_turn,
    rules,
    serving,
    statuses,
)

ANSWER = "17 multiplied by 23 is 391."
ONE_CALL = """\
  - kind: tool_calls
    calls: [{call_id: call_1, name: math.multiply, arguments: {a: 17, b: 23}}]
"""
MALFORMED = CALLS.replace("{a: 1, b: 391}", '\'{"a": 1, "b\'')
SAID = "text: One moment, after_bytes: 3"


def in_every_way(test):
    """Run a test whole and streamed, sync and async."""
    test = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])(test)
    return pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])(test)


@in_every_way
def test_calls_then_the_answer(stream, asynchronous):
    with serving(CALLS + FINAL) as provider:
        agent = MessagesAgent(provider.url, stream=stream, asynchronous=asynchronous)
        assert agent.run() == ANSWER
    first, last = agent.said
    assert first.text == "Let me see."
    assert first.calls == [
        ("call_1", TOOL, {"a": 17, "b": 23}),
        ("call_2", TOOL, {"a": 1, "b": 391}),
    ]
    assert (first.stop_reason, last.stop_reason) == ("tool_use", "end_turn")
    assert (rules(provider), provider.turns_consumed) == ([], 2)
    asked = provider.transcript.exchanges[1]
    results = [one for message in asked.messages for one in message.tool_results]
    assert [(one.call_id, one.text) for one in results] == [("call_1", "391"), ("call_2", "391")]
    assert asked.altered_calls == ()
    assert provider.transcript.exchanges[0].messages[0].role == "system"


@in_every_way
def test_a_single_call_and_what_it_used(stream, asynchronous):
    usage = "    usage: {input_tokens: 5, output_tokens: 7}\n"
    with serving(ONE_CALL + usage + FINAL) as provider:
        agent = MessagesAgent(provider.url, stream=stream, asynchronous=asynchronous)
        assert agent.run() == ANSWER
    assert agent.said[0] == Said("", [("call_1", TOOL, {"a": 17, "b": 23})], "tool_use", (5, 7))
    assert (rules(provider), provider.turns_consumed) == ([], 2)


@in_every_way
def test_an_answer_that_comes_late_is_waited_for(stream, asynchronous):
    with serving("  - {kind: final, text: So, delay_seconds: 0.2}\n") as provider:
        assert MessagesAgent(provider.url, stream=stream, asynchronous=asynchronous).run() == "So"
    with serving("  - {kind: final, text: So, delay_seconds: 5}\n") as provider:
        late = MessagesAgent(provider.url, stream=stream, asynchronous=asynchronous, timeout=0.1)
        with pytest.raises(anthropic.APITimeoutError):
            late.run()


def test_malformed_arguments_of_a_whole_answer_are_a_text():
    with serving(MALFORMED + FINAL) as provider:
        agent = MessagesAgent(provider.url)
        with agent.client() as client:
            said = agent.read(client)
    assert said.calls[1] == ("call_2", TOOL, '{"a": 1, "b')


def test_malformed_arguments_are_streamed_as_they_are():
    with serving(MALFORMED) as provider:
        agent = MessagesAgent(provider.url)
        with agent.client() as client:
            events = list(client.messages.create(**agent.fields(), stream=True))
    pieces = [
        event.delta.partial_json
        for event in events
        if event.type == "content_block_delta" and event.index == 2
    ]
    assert "".join(pieces) == '{"a": 1, "b'


@in_every_way
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_an_agent_answers_malformed_arguments_and_goes_on(stream, asynchronous):
    with serving(MALFORMED + FINAL) as provider:
        agent = MessagesAgent(provider.url, stream=stream, asynchronous=asynchronous)
        assert agent.run() == ANSWER
    assert rules(provider) == []
    (altered,) = provider.transcript.exchanges[1].altered_calls
    assert (altered.call_id, altered.sent) == ("call_2", '{"a": 1, "b')


def test_arguments_are_streamed_in_pieces():
    with serving(CALLS) as provider:
        agent = MessagesAgent(provider.url)
        with agent.client() as client:
            events = list(client.messages.create(**agent.fields(), stream=True))
    pieces = [
        event.delta.partial_json
        for event in events
        if event.type == "content_block_delta" and event.index == 1
    ]
    assert len(pieces) > 2
    assert json.loads("".join(pieces)) == {"a": 17, "b": 23}
    assert [event.type for event in events][-2:] == ["message_delta", "message_stop"]


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("end_turn", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("stop_sequence", "stop_sequence"),
        ("content_filter", "refusal"),
        ("incomplete", "model_context_window_exceeded"),
    ],
)
@in_every_way
def test_why_the_model_stopped_and_what_it_used(stream, asynchronous, reason, told):
    usage = "usage: {input_tokens: 11, output_tokens: 13}"
    turn = f"  - {{kind: final, text: So, stop_reason: {reason}, {usage}}}\n"
    with serving(turn) as provider:
        agent = MessagesAgent(provider.url, stream=stream, asynchronous=asynchronous)
        assert agent.run() == "So"
    assert (agent.said[0].stop_reason, agent.said[0].usage) == (told, (11, 13))


# The error class, what precedes it, and the exception of a whole answer and of a stream.
FAILURES = [
    ("transient", "", anthropic.InternalServerError, anthropic.InternalServerError),
    ("transient", SAID, anthropic.APIConnectionError, httpx2.RemoteProtocolError),
    ("permanent", "", anthropic.BadRequestError, anthropic.BadRequestError),
    ("permanent", SAID, anthropic.BadRequestError, anthropic.APIStatusError),
    ("rate_limit", "", anthropic.RateLimitError, anthropic.RateLimitError),
    ("rate_limit", SAID, anthropic.RateLimitError, anthropic.APIStatusError),
    ("protocol", "", json.JSONDecodeError, json.JSONDecodeError),
    ("protocol", SAID, json.JSONDecodeError, json.JSONDecodeError),
    ("timeout", "", anthropic.APITimeoutError, anthropic.APITimeoutError),
    ("timeout", SAID, anthropic.APITimeoutError, httpx2.ReadTimeout),
]


@pytest.mark.parametrize(("error_class", "said", "whole", "streamed"), FAILURES)
@in_every_way
def test_failures(stream, asynchronous, error_class, said, whole, streamed):
    fields = f"error_class: {error_class}" + (f", {said}" if said else "")
    options = {"timeout": 0.3} if error_class == "timeout" else {}
    with serving(error_turn(fields) + FINAL) as provider:
        agent = MessagesAgent(provider.url, stream=stream, asynchronous=asynchronous, **options)
        with pytest.raises(streamed if stream else whole) as caught:
            agent.run()
    if error_class == "transient" and not said:
        assert caught.value.status_code == 529
    if error_class == "rate_limit":
        assert caught.value.body["error"]["type"] == "rate_limit_error"
    assert (rules(provider), provider.turns_consumed) == ([], 1)


@pytest.mark.parametrize("error_class", ["transient", "permanent", "rate_limit", "timeout"])
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_stream_says_what_comes_before_it_breaks(asynchronous, error_class):
    turn = error_turn(f"error_class: {error_class}, {SAID}")
    with serving(turn, stall_seconds=0.3) as provider:
        agent = MessagesAgent(provider.url, asynchronous=asynchronous)
        with pytest.raises((anthropic.APIError, httpx2.HTTPError)):
            agent.streamed()
    deltas = [event.delta for event in agent.events if event.type == "content_block_delta"]
    assert "".join(delta.text for delta in deltas) == "One"


@pytest.mark.parametrize("fields", ["transient", "rate_limit, retry_after_seconds: 0.9"])
@in_every_way
def test_the_sdk_retries_and_gets_the_next_turn(stream, asynchronous, fields):
    turns = error_turn(f"error_class: {fields}")
    with serving(CALLS + turns + FINAL) as provider:
        agent = MessagesAgent(provider.url, stream=stream, asynchronous=asynchronous, max_retries=2)
        assert agent.run() == ANSWER
    assert statuses(provider) == [200, 529 if fields == "transient" else 429, 200]
    assert rules(provider) == []


@in_every_way
def test_the_sdk_gives_up_waiting_and_gets_the_next_turn(stream, asynchronous):
    options = {"timeout": 0.3, "max_retries": 1}
    with serving(CALLS + error_turn("error_class: timeout") + FINAL) as provider:
        agent = MessagesAgent(provider.url, stream=stream, asynchronous=asynchronous, **options)
        assert agent.run() == ANSWER
    assert statuses(provider) == [200, None, 200]
    assert rules(provider) == []


def test_a_permanent_failure_is_not_retried():
    with serving(error_turn("error_class: permanent") + FINAL) as provider:
        with pytest.raises(anthropic.BadRequestError) as caught:
            MessagesAgent(provider.url, max_retries=2).run()
    assert statuses(provider) == [400]
    assert caught.value.request_id == "req_0001"


def forgets_a_result(agent, said, results):
    MessagesAgent.answer(agent, said, results[:1])


def answers_another_call(agent, said, results):
    MessagesAgent.answer(agent, said, [("call_9", text) for _, text in results])


def asks_the_same_again(agent, said, results):
    pass


def drops_the_calls(agent, said, results):
    MessagesAgent.answer(agent, said, results)
    del agent.messages[-2]


BROKEN = [
    (forgets_a_result, checks.RESULTS_MISSING),
    (answers_another_call, checks.RESULTS_MISSING),
    (asks_the_same_again, checks.RESULTS_MISSING),
    (drops_the_calls, checks.CALLS_UNPAIRED),
]


@pytest.mark.parametrize(("fault", "rule"), BROKEN)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_broken_agent_is_refused_once_and_told_why(stream, fault, rule):
    with serving(CALLS + FINAL) as provider:
        agent = MessagesAgent(provider.url, stream=stream, max_retries=2)
        agent.answer = lambda said, results: fault(agent, said, results)
        with pytest.raises(anthropic.BadRequestError, match=rule):
            agent.run()
    assert rule in rules(provider)
    assert (statuses(provider), provider.turns_consumed) == ([200, 400], 1)


def test_an_agent_that_loops_runs_out_of_turns():
    with serving(CALLS) as provider:
        with pytest.raises(anthropic.BadRequestError, match=checks.EXHAUSTED):
            MessagesAgent(provider.url, max_retries=2).run()
    assert statuses(provider) == [200, 400]


def test_models_and_tokens():
    messages = [{"role": "user", "content": "x" * 9}]
    with serving(FINAL) as provider:
        with anthropic.Anthropic(base_url=provider.url, api_key="not-a-key") as client:
            assert [model.id for model in client.models.list()] == ["scripted-model"]
            assert client.models.retrieve("claude-x").id == "claude-x"
            counted = client.messages.count_tokens(model="m", messages=messages)
            assert counted.input_tokens == 3
    assert (rules(provider), provider.turns_consumed) == ([], 0)


def test_models_and_tokens_without_blocking():
    messages = [{"role": "user", "content": "x" * 9}]

    async def ask(url):
        async with anthropic.AsyncAnthropic(base_url=url, api_key="not-a-key") as client:
            models = [model.id async for model in client.models.list()]
            counted = await client.messages.count_tokens(model="m", messages=messages)
            return models, counted.input_tokens

    with serving(FINAL) as provider:
        assert asyncio.run(ask(provider.url)) == (["scripted-model"], 3)
    assert (rules(provider), provider.turns_consumed) == ([], 0)


def test_the_beta_form_of_the_endpoint():
    messages = [{"role": "user", "content": QUESTION}]
    with serving(FINAL) as provider:
        with anthropic.Anthropic(base_url=provider.url, api_key="not-a-key") as client:
            message = client.beta.messages.create(
                model="m", max_tokens=9, messages=messages, betas=["context-management-2025-06-27"]
            )
    assert message.content[0].text == ANSWER
    assert provider.transcript.exchanges[0].unknown_fields == ()


def test_the_environment_is_all_that_the_sdk_needs(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    messages = [{"role": "user", "content": QUESTION}]
    with serving(FINAL) as provider:
        for name, value in provider.environment().items():
            monkeypatch.setenv(name, value)
        with anthropic.Anthropic() as client:
            message = client.messages.create(model="m", max_tokens=9, messages=messages)
    assert message.content[0].text == ANSWER
