"""Every rule a request can break, by name, on every dialect; and what the transcript keeps."""

import json
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgate.wire import checks
from hardgate.wire.http1 import BadRequest, Request
from tests.unit.hardgate.wire.samples import (
    ANTHROPIC,
    BEARER,
    CHAT,
    MESSAGES,
    PATHS,
    RESPONSES,
    TOOLS,
    FakeClock,
    answered,
    post,
    question,
    send,
    send_json,
    service_of,
)

CALL = "  - {kind: tool_calls, calls: [{call_id: c1, name: add, arguments: {a: 1}}]}\n"
TWO_CALLS = """\
  - kind: tool_calls
    calls:
      - {call_id: c1, name: add, arguments: {a: 1}}
      - {call_id: c2, name: add, arguments: {a: 2}}
"""
FINAL = "  - {kind: final, text: It is 3.}\n"
LIMITED = "  - {kind: error, error_class: rate_limit, retry_after_seconds: 2}\n"

ONE = [("c1", "add", {"a": 1})]
TWO = [("c1", "add", {"a": 1}), ("c2", "add", {"a": 2})]


def rules(service):
    return [violation.rule for _, violation in service.transcript.violations]


def message_of(path, body):
    assert body["error"]["type"]
    if path.startswith(MESSAGES):
        assert body["type"] == "error"
    return body["error"]["message"]


@pytest.mark.parametrize("path", PATHS)
def test_a_run_that_keeps_the_rules(path):
    service = service_of(TWO_CALLS + FINAL)
    tools = TOOLS[path]
    assert send(service, post(path, question(path, tools=tools)))[0] == 200
    body = answered(path, TWO, [("c1", "2"), ("c2", "3")], tools=tools)
    status, _, answer = send_json(service, post(path, body))
    assert (status, rules(service)) == (200, [])
    assert "It is 3." in json.dumps(answer)
    assert service.player.turns_consumed == 2
    first, second = service.transcript.exchanges
    assert (first.turn, first.delivered, second.turn) == (1, True, 2)
    assert first.played_names == (("add", "add"), ("add", "add"))
    assert first.offered == ("add",)
    # What the first request held is told once.
    assert (first.same_messages, len(first.messages)) == (0, 1)
    assert second.same_messages == 1
    results = [one for message in second.messages for one in message.tool_results]
    assert [(one.call_id, one.text) for one in results] == [("c1", "2"), ("c2", "3")]


BROKEN = {
    checks.RESULTS_MISSING: (TWO, [("c1", "2")]),
    checks.RESULTS_UNKNOWN: (TWO, [("c1", "2"), ("c2", "3"), ("c3", "4")]),
    checks.RESULTS_REPEATED: (TWO, [("c1", "2"), ("c2", "3"), ("c2", "4")]),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("rule", BROKEN)
def test_results_that_do_not_fit_are_refused_and_take_no_turn(path, rule):
    service = service_of(TWO_CALLS + FINAL)
    tools = TOOLS[path]
    send(service, post(path, question(path, tools=tools)))
    calls, results = BROKEN[rule]
    status, headers, body = send_json(
        service, post(path, answered(path, calls, results, tools=tools))
    )
    assert (status, headers["x-hardgate-violation"]) == (400, rule)
    assert headers["x-should-retry"] == "false"
    assert message_of(path, body).startswith(f"{rule}: ")
    assert rules(service) == [rule]
    (number, violation), *_ = service.transcript.violations
    assert (number, violation.expected) == (2, ["c1", "c2"])
    assert violation.received == [call_id for call_id, _ in results]
    assert service.player.turns_consumed == 1
    good = answered(path, TWO, [("c1", "2"), ("c2", "3")], tools=tools)
    assert send(service, post(path, good))[0] == 200


@pytest.mark.parametrize("path", PATHS)
def test_an_agent_that_forgets_the_conversation_is_refused(path):
    service = service_of(CALL + FINAL)
    body = question(path, tools=TOOLS[path])
    send(service, post(path, body))
    assert send(service, post(path, body))[0] == 400
    assert rules(service) == [checks.RESULTS_MISSING]


@pytest.mark.parametrize("path", PATHS)
def test_a_request_too_many_is_refused(path):
    service = service_of(FINAL)
    send(service, post(path, question(path)))
    assert send(service, post(path, question(path)))[0] == 400
    assert rules(service) == [checks.EXHAUSTED]


@pytest.mark.parametrize("path", PATHS)
def test_calls_without_tools_are_refused(path):
    service = service_of(CALL)
    status, _, body = send_json(service, post(path, question(path)))
    assert (status, rules(service)) == (400, [checks.TOOLS_MISSING])
    assert "'add'" in message_of(path, body)


REFUSED_TOOLS = {
    CHAT: [{"tool_choice": "none"}, {"parallel_tool_calls": False}],
    RESPONSES: [{"tool_choice": "none"}, {"parallel_tool_calls": False}],
    MESSAGES: [
        {"tool_choice": {"type": "none"}},
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
    ],
}


@pytest.mark.parametrize(
    ("path", "change"), [(path, one) for path, many in REFUSED_TOOLS.items() for one in many]
)
def test_calls_that_the_request_does_not_want_are_refused(path, change):
    service = service_of(TWO_CALLS)
    body = question(path, tools=TOOLS[path], **change)
    assert send(service, post(path, body))[0] == 400
    assert rules(service) == [checks.TOOLS_REFUSED]


@pytest.mark.parametrize("path", PATHS)
def test_a_retry_before_the_named_time_is_told_to_wait(path):
    clock = FakeClock()
    service = service_of(LIMITED + FINAL, clock)
    assert send(service, post(path, question(path)))[0] == 429
    clock.now += 0.5
    status, headers, _ = send(service, post(path, question(path)))
    assert (status, headers["retry-after"]) == (429, "2")
    assert "x-should-retry" not in headers
    clock.now += 1.5
    assert send(service, post(path, question(path)))[0] == 200
    assert rules(service) == [checks.RETRIED_EARLY]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Basic eA=="}, {"authorization": "Bearer "}, {"x-api-key": ""}],
)
def test_a_request_without_a_key_is_refused(path, headers):
    service = service_of(FINAL)
    headers = {"host": "h", "anthropic-version": "2023-06-01", **headers}
    status, _, body = send_json(service, post(path, question(path), headers))
    assert (status, rules(service)) == (401, [checks.AUTHENTICATION_MISSING])
    assert message_of(path, body)


@pytest.mark.parametrize(
    "headers", [{"x-api-key": "x"}, {"authorization": "bearer x"}, {"authorization": "Bearer x"}]
)
def test_anthropics_requests_name_a_version(headers):
    service = service_of(FINAL + FINAL)
    assert send(service, post(MESSAGES, question(MESSAGES), headers))[0] == 400
    assert rules(service) == [checks.HEADER_MISSING]
    headers = {**headers, "anthropic-version": "2023-06-01"}
    assert send(service, post(MESSAGES, question(MESSAGES), headers))[0] == 200


def test_openais_requests_carry_a_bearer_token():
    service = service_of(FINAL)
    assert send(service, post(CHAT, question(CHAT), ANTHROPIC))[0] == 401


@pytest.mark.parametrize(
    ("method", "path", "status", "rule", "words"),
    [
        ("POST", "/chat/completions", 404, checks.PATH_UNKNOWN, "http://HOST:PORT/v1"),
        ("POST", "/v1/v1/messages", 404, checks.PATH_UNKNOWN, "did you mean /v1/messages"),
        ("POST", "/v1/chat/completion", 404, checks.PATH_UNKNOWN, "/v1/chat/completions"),
        ("POST", "/v1/embeddings", 404, checks.PATH_UNKNOWN, "allowed: /v1/chat/completions"),
        ("GET", "/", 404, checks.PATH_UNKNOWN, "allowed"),
        ("POST", "/" + "a" * 10_000, 404, checks.PATH_UNKNOWN, "allowed"),
        ("GET", "/v1/chat/completions", 405, checks.METHOD_WRONG, "POST"),
        ("DELETE", "/v1/messages", 405, checks.METHOD_WRONG, "POST"),
        ("POST", "/v1/models", 405, checks.METHOD_WRONG, "GET"),
    ],
)
def test_other_paths_and_methods_are_refused(method, path, status, rule, words):
    service = service_of(FINAL)
    headers = {**BEARER, **ANTHROPIC}
    found, _, body = send_json(service, Request(method, path, headers, b"{}"))
    assert (found, rules(service)) == (status, [rule])
    assert words in body["error"]["message"]
    assert len(body["error"]["message"]) < 400


@pytest.mark.parametrize("path", PATHS)
def test_what_is_no_json_or_no_request_is_refused(path):
    service = service_of(FINAL)
    assert send(service, post(path, b"{"))[0] == 400
    assert send(service, post(path, question(path, model=None)))[0] == 400
    assert rules(service) == [checks.JSON_MALFORMED, checks.REQUEST_MALFORMED]
    assert send(service, post(path, question(path)))[0] == 200


def test_what_cannot_be_played_is_refused():
    service = service_of(FINAL)
    assert send(service, post(CHAT, question(CHAT, n=2)))[0] == 400
    assert rules(service) == [checks.REQUEST_UNSUPPORTED]


@pytest.mark.parametrize("path", PATHS)
def test_unknown_fields_are_kept_and_not_refused(path):
    service = service_of(FINAL)
    assert send(service, post(path, question(path, mood="good")))[0] == 200
    assert service.transcript.exchanges[0].unknown_fields == ("mood",)


MODEL_HEADERS = [(BEARER, "data"), (ANTHROPIC, "data")]


@pytest.mark.parametrize(("headers", "key"), MODEL_HEADERS)
def test_models_are_listed_in_the_form_of_the_provider(headers, key):
    service = service_of(FINAL)
    status, _, body = send_json(service, Request("GET", "/v1/models", headers, b""))
    assert (status, [one["id"] for one in body[key]]) == (200, ["scripted-model"])
    assert ("object" in body) is (headers is BEARER)
    assert ("has_more" in body) is (headers is ANTHROPIC)
    _, _, one = send_json(service, Request("GET", "/v1/models/any/name", headers, b""))
    assert one["id"] == "any/name"
    assert [exchange.api for exchange in service.transcript.exchanges] == [None, None]
    assert send(service, Request("GET", "/v1/models", {"host": "h"}, b""))[0] == 401


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/v1/messages/count_tokens", {"model": "m"}, {"input_tokens": 3}),
        (
            "/v1/responses/input_tokens",
            {},
            {"object": "response.input_tokens", "input_tokens": 3},
        ),
    ],
)
def test_tokens_are_counted(path, body, expected):
    service = service_of(FINAL)
    key = "messages" if path.startswith(MESSAGES) else "input"
    body = {**body, key: [{"role": "user", "content": "x" * 9}]}
    status, _, found = send_json(service, post(path, body))
    assert (status, found) == (200, expected)
    assert (rules(service), service.player.turns_consumed) == ([], 0)
    assert send(service, post(path, {key: 1}))[0] == 400


def test_keys_are_nowhere_in_the_transcript():
    service = service_of(FINAL)
    key = "k-" + "e" * 20
    for headers in ({**BEARER, "authorization": f"Bearer {key}"}, {**ANTHROPIC, "x-api-key": key}):
        for path in (*PATHS, "/v1/x", "/v1/models"):
            send(service, post(path, question(CHAT), headers))
    data = json.dumps(service.transcript.to_data())
    assert key not in data
    assert [one.credential for one in service.transcript.exchanges] == [True] * 10
    send(service, post(CHAT, question(CHAT), {"host": "h"}))
    assert not service.transcript.exchanges[-1].credential


def test_the_number_of_requests_is_limited():
    service = service_of(FINAL * 5, requests=2)
    found = [send(service, post(CHAT, question(CHAT)))[0] for _ in range(5)]
    assert found == [200, 200, 400, 503, 503]
    assert rules(service) == [checks.LIMIT]
    assert service.transcript.limits_hit == ("requests",)
    assert len(service.transcript.exchanges) == 3


def test_the_bytes_of_all_bodies_are_limited():
    service = service_of(FINAL * 5, all_bodies_bytes=250)
    body = json.dumps(question(CHAT)).encode().ljust(100)
    found = [send(service, post(CHAT, body))[0] for _ in range(4)]
    assert found == [200, 200, 400, 503]
    assert service.transcript.limits_hit == ("all_bodies_bytes",)


@pytest.mark.parametrize(
    ("error", "rule", "limits"),
    [
        (BadRequest(400, "no request"), checks.HTTP_MALFORMED, ()),
        (BadRequest(413, "too long", "body_bytes"), checks.LIMIT, ("body_bytes",)),
    ],
)
def test_what_is_no_http_is_recorded(error, rule, limits):
    service = service_of(FINAL)
    served = service.refuse(error)
    service.finished(served.number, True)
    assert served.reply.status == error.status
    assert (rules(service), service.transcript.limits_hit) == ([rule], limits)
    assert send(service, post(CHAT, question(CHAT)))[0] == 200


def test_what_is_no_http_counts_as_a_request():
    service = service_of(FINAL, requests=2)
    found = [service.refuse(BadRequest(400, "no request")).reply.status for _ in range(4)]
    assert found == [400, 400, 400, 503]
    assert rules(service) == [checks.HTTP_MALFORMED, checks.HTTP_MALFORMED, checks.LIMIT]


def test_a_fault_of_the_server_is_a_named_violation(monkeypatch, capsys):
    service = service_of(FINAL)
    monkeypatch.setattr(service.player, "violations", lambda *_, **__: 1 / 0)
    assert send(service, post(CHAT, question(CHAT)))[0] == 500
    assert rules(service) == [checks.INTERNAL]
    assert "ZeroDivisionError" in capsys.readouterr().err
    monkeypatch.undo()
    assert send(service, post(CHAT, question(CHAT)))[0] == 200


def test_an_answer_that_was_not_delivered_is_taken_back():
    service = service_of(CALL + FINAL)
    body = question(CHAT, tools=TOOLS[CHAT])
    served = service.answer(post(CHAT, body))
    service.finished(served.number, False)
    assert send(service, post(CHAT, body))[0] == 200
    assert [one.delivered for one in service.transcript.exchanges] == [False, True]
    assert rules(service) == []


def waiting(service, request):
    """A thread that asks for an answer, and the statuses it gets."""
    found = []
    thread = threading.Thread(
        target=lambda: found.append(service.answer(request).reply.status), daemon=True
    )
    thread.start()
    thread.join(0.05)
    return thread, found


def test_a_request_waits_until_the_turn_before_is_sent():
    service = service_of(FINAL + FINAL)
    request = post(CHAT, question(CHAT))
    served = service.answer(request)
    thread, found = waiting(service, request)
    assert found == []
    service.finished(served.number, True)
    thread.join(10)
    assert found == [200]


def test_nobody_waits_for_a_failure_or_for_a_closed_service():
    service = service_of("  - {kind: error, error_class: timeout}\n" + FINAL + FINAL)
    request = post(CHAT, question(CHAT))
    assert service.answer(request).reply.status is None
    assert service.answer(request).reply.status == 200
    thread, found = waiting(service, request)
    assert found == []
    service.close()
    thread.join(10)
    assert found == [503]
    assert service.player.turns_consumed == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)
FIELDS = ["model", "messages", "input", "tools", "tool_choice", "stream", "max_tokens", "system"]
FIELDS += ["instructions", "stop", "stream_options", "previous_response_id"]
ROLES = st.sampled_from(["user", "assistant", "tool", "system", 1, None])
TYPES = st.sampled_from(["text", "tool_use", "tool_result", "function_call", "function", None, 1])
MESSAGE = st.fixed_dictionaries(
    {},
    optional={"role": ROLES, "content": JSON, "type": TYPES, "tool_calls": JSON, "call_id": JSON},
)
BODIES = st.dictionaries(st.sampled_from(FIELDS), JSON | st.lists(MESSAGE, max_size=4))


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(PATHS), BODIES)
def test_no_body_is_a_fault_of_the_server(path, body):
    service = service_of(CALL + FINAL)
    status, _, answer = send(service, post(path, body))
    assert status in (200, 400)
    assert checks.INTERNAL not in rules(service)
    assert answer
    json.dumps(service.transcript.to_data())
