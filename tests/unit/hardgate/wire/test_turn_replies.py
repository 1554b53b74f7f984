"""Error turns as each provider sends them, before and after some of the text."""

import json

import pytest

from hardgate.wire.anthropic_messages import Messages
from hardgate.wire.conversation import Answer
from hardgate.wire.openai_chat import ChatCompletions
from hardgate.wire.openai_responses import Responses
from hardgate.wire.reply import body_pieces, head_bytes
from hardgate.wire.turn_replies import error_reply
from tests.unit.hardgate.wire.samples import CHAT, MESSAGES, RESPONSES, question, read, script_of

DIALECTS = {CHAT: ChatCompletions, RESPONSES: Responses, MESSAGES: Messages}
TEXT = 'Moment "bitte", gleich'
SAID = 'Moment "bitt'


def reply_of(path, turn, *, stream=False):
    """The reply to an error turn; `turn` are its fields beside the kind."""
    (error,) = script_of(f"  - {{kind: error, {turn}}}\n").turns
    dialect = DIALECTS[path]()
    request, _ = read(dialect, question(path, stream=stream))
    answer = Answer(3, "m", error.text, (), "end_turn", 5, 7)
    return error_reply(dialect, error, answer, request)


def after_text(error_class):
    return f"error_class: {error_class}, text: '{TEXT}', after_bytes: {len(SAID)}"


def data_of(reply):
    return b"".join(reply.pieces).decode()


def whole_body(path):
    dialect = DIALECTS[path]()
    request, _ = read(dialect, question(path))
    answer = Answer(3, "m", TEXT, (), "end_turn", 5, 7)
    return json.dumps(dialect.whole(answer, request), ensure_ascii=False)


STATUSES = [
    (CHAT, "transient", 500, {"type": "server_error", "param": None, "code": None}),
    (
        CHAT,
        "permanent",
        400,
        {"type": "invalid_request_error", "param": None, "code": "invalid_prompt"},
    ),
    (CHAT, "rate_limit", 429, {"type": "requests", "param": None, "code": "rate_limit_exceeded"}),
    (RESPONSES, "transient", 500, {"type": "server_error", "param": None, "code": None}),
    (
        RESPONSES,
        "permanent",
        400,
        {"type": "invalid_request_error", "param": None, "code": "invalid_prompt"},
    ),
    (
        RESPONSES,
        "rate_limit",
        429,
        {"type": "requests", "param": None, "code": "rate_limit_exceeded"},
    ),
    (MESSAGES, "transient", 529, {"type": "overloaded_error"}),
    (MESSAGES, "permanent", 400, {"type": "invalid_request_error"}),
    (MESSAGES, "rate_limit", 429, {"type": "rate_limit_error"}),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("path", "error_class", "status", "error"), STATUSES)
def test_before_any_text_the_status_tells(path, error_class, status, error, stream):
    reply = reply_of(path, f"error_class: {error_class}", stream=stream)
    body = json.loads(data_of(reply))
    assert reply.status == status
    assert reply.ending == "complete"
    assert not reply.streamed
    assert ("content-type", "application/json") in reply.headers
    message = body["error"].pop("message")
    assert message.endswith((".", "Overloaded"))
    assert body["error"] == error
    if path == MESSAGES:
        assert (body["type"], body["request_id"]) == ("error", "req_0003")
        assert ("request-id", "req_0003") in reply.headers
    else:
        assert list(body) == ["error"]
        assert ("x-request-id", "req_0003") in reply.headers


@pytest.mark.parametrize(
    ("path", "seconds", "headers"),
    [
        (CHAT, 2, {"retry-after": "2", "retry-after-ms": "2000"}),
        (CHAT, 0.25, {"retry-after": "1", "retry-after-ms": "250"}),
        (RESPONSES, 0, {"retry-after": "0", "retry-after-ms": "0"}),
        (MESSAGES, 2, {"retry-after": "2"}),
        (MESSAGES, 1.25, {"retry-after": "2"}),
    ],
)
def test_a_rate_limit_tells_how_long_to_wait(path, seconds, headers):
    reply = reply_of(path, f"error_class: rate_limit, retry_after_seconds: {seconds}")
    found = {name: value for name, value in reply.headers if name.startswith("retry-after")}
    assert found == headers


@pytest.mark.parametrize("path", DIALECTS)
def test_without_a_time_nothing_says_how_long_to_wait(path):
    reply = reply_of(path, "error_class: rate_limit")
    assert [name for name, _ in reply.headers if name.startswith("retry-after")] == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", DIALECTS)
def test_a_timeout_before_any_text_is_silence(path, stream):
    reply = reply_of(path, "error_class: timeout", stream=stream)
    assert (reply.status, reply.pieces, reply.ending) == (None, (), "stall")


@pytest.mark.parametrize(("error_class", "ending"), [("transient", "cut"), ("timeout", "stall")])
@pytest.mark.parametrize("path", DIALECTS)
def test_a_stream_ends_behind_the_bytes_that_were_said(path, error_class, ending):
    reply = reply_of(path, after_text(error_class), stream=True)
    assert (reply.status, reply.streamed, reply.ending) == (200, True, ending)
    assert said_in(reply) == SAID
    assert body_pieces(reply)[-1] != b"0\r\n\r\n"
    ends = ("[DONE]", '_reason": "', "completed", "message_stop", "event: error")
    assert not any(end in data_of(reply) for end in ends)


@pytest.mark.parametrize(("error_class", "ending"), [("transient", "cut"), ("timeout", "stall")])
@pytest.mark.parametrize("path", DIALECTS)
def test_a_whole_answer_ends_behind_the_bytes_that_were_said(path, error_class, ending):
    reply = reply_of(path, after_text(error_class))
    whole = whole_body(path)
    assert (reply.status, reply.streamed, reply.ending) == (200, False, ending)
    assert whole.startswith(data_of(reply))
    assert data_of(reply).endswith(json.dumps(SAID)[:-1])
    size = len(whole.encode())
    assert f"content-length: {size}\r\n".encode() in head_bytes(reply, close=False)


@pytest.mark.parametrize(
    ("path", "error_class", "last"),
    [
        (
            CHAT,
            "permanent",
            'data: {"error": {"message": "This request cannot be processed.", '
            '"type": "invalid_request_error", "param": null, "code": "invalid_prompt"}}\n\n',
        ),
        (
            CHAT,
            "rate_limit",
            'data: {"error": {"message": "Rate limit reached. Please try again later.", '
            '"type": "requests", "param": null, "code": "rate_limit_exceeded"}}\n\n',
        ),
        (
            MESSAGES,
            "permanent",
            'event: error\ndata: {"type": "error", "error": {"type": "invalid_request_error", '
            '"message": "This request cannot be processed."}}\n\n',
        ),
        (
            MESSAGES,
            "rate_limit",
            'event: error\ndata: {"type": "error", "error": {"type": "rate_limit_error", '
            '"message": "This request would exceed your rate limit."}}\n\n',
        ),
    ],
)
def test_a_stream_that_has_begun_says_that_it_failed(path, error_class, last):
    reply = reply_of(path, after_text(error_class), stream=True)
    assert (reply.status, reply.ending) == (200, "complete")
    assert said_in(reply) == SAID
    assert reply.pieces[-1].decode() == last


@pytest.mark.parametrize(
    ("error_class", "code"),
    [("permanent", "invalid_prompt"), ("rate_limit", "rate_limit_exceeded")],
)
def test_a_response_that_has_begun_ends_as_failed(error_class, code):
    reply = reply_of(RESPONSES, after_text(error_class), stream=True)
    assert said_in(reply) == SAID
    name, data = reply.pieces[-1].decode().split("\n")[:2]
    payload = json.loads(data.removeprefix("data: "))
    assert name == "event: response.failed"
    assert payload["sequence_number"] == len(reply.pieces) - 1
    assert payload["response"]["status"] == "failed"
    assert payload["response"]["error"]["code"] == code


@pytest.mark.parametrize("error_class", ["permanent", "rate_limit"])
@pytest.mark.parametrize("path", DIALECTS)
def test_a_whole_answer_has_no_place_for_a_failure_behind_text(path, error_class):
    reply = reply_of(path, after_text(error_class))
    assert reply.status == (429 if error_class == "rate_limit" else 400)
    assert SAID not in data_of(reply)


@pytest.mark.parametrize("turn", ["error_class: protocol", after_text("protocol")])
@pytest.mark.parametrize("path", DIALECTS)
def test_a_protocol_error_breaks_the_json_of_an_event(path, turn):
    reply = reply_of(path, turn, stream=True)
    assert (reply.status, reply.ending) == (200, "complete")
    assert body_pieces(reply)[-1] == b"0\r\n\r\n"
    *good, broken = [piece.decode() for piece in reply.pieces]
    for event in good:
        json.loads(event.split("data: ")[1])
    assert broken.endswith("\n\n")
    with pytest.raises(json.JSONDecodeError):
        json.loads(broken.split("data: ")[1])
    assert said_in(reply._replace(pieces=reply.pieces[:-1])) == (SAID if "text" in turn else "")


@pytest.mark.parametrize("turn", ["error_class: protocol", after_text("protocol")])
@pytest.mark.parametrize("path", DIALECTS)
def test_a_protocol_error_breaks_the_json_of_a_whole_answer(path, turn):
    reply = reply_of(path, turn)
    assert (reply.status, reply.ending, reply.missing_bytes) == (200, "complete", 0)
    with pytest.raises(json.JSONDecodeError):
        json.loads(data_of(reply))
    assert (json.dumps(SAID)[:-1] in data_of(reply)) is ("text" in turn)


def test_text_is_cut_at_bytes_not_at_characters():
    turn = "error_class: transient, text: 漢字, after_bytes: 3"
    assert said_in(reply_of(CHAT, turn, stream=True)) == "漢"
    assert data_of(reply_of(CHAT, turn)).endswith('"content": "漢')


def said_in(reply):
    """The text that the events of a reply carry."""
    said = ""
    for piece in reply.pieces:
        data = piece.decode().split("data: ")[1].strip()
        payload = json.loads(data) if data.startswith("{") else {}
        delta = payload.get("delta", {})
        if isinstance(delta, str):
            said += delta
        elif delta.get("type") == "text_delta":
            said += delta["text"]
        for choice in payload.get("choices", []):
            said += choice["delta"].get("content") or ""
    return said
