"""From a turn of a script to the bytes a provider sends for it."""

from collections.abc import Mapping, Sequence
from typing import Any

from hardgate.fixtures.model_script import ErrorTurn
from hardgate.wire.checks import Violation
from hardgate.wire.conversation import Answer, ModelRequest
from hardgate.wire.dialect import Dialect, Failure
from hardgate.wire.json_body import as_json
from hardgate.wire.reply import COMPLETE, CUT, STALL, Reply
from hardgate.wire.sse import CLOSING, broken

TIMEOUT = "timeout"
PROTOCOL = "protocol"
RATE_LIMIT = "rate_limit"

# How a connection ends on which an answer has begun; other classes end it as usual.
_ENDINGS = {"transient": CUT, TIMEOUT: STALL}
_STREAM = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))
_VIOLATION_HEADER = "x-hardgate-violation"


def request_id(number: int) -> str:
    """The id of a request, as it goes back in a header."""
    return f"req_{number:04d}"


def answer_reply(dialect: Dialect, answer: Answer, request: ModelRequest) -> Reply:
    """The reply that carries an answer, streamed if the request asks for that."""
    headers = _id_header(dialect, answer.number)
    if request.stream:
        events = tuple(event.data for event in dialect.stream(answer, request))
        return Reply(200, (*_STREAM, *headers), events, streamed=True)
    return json_reply(200, dialect.whole(answer, request), headers)


def error_reply(dialect: Dialect, turn: ErrorTurn, answer: Answer, request: ModelRequest) -> Reply:
    """The reply of an error turn; `answer` is what the model would have said.

    Before any text a class becomes a status, or silence (timeout), or broken JSON (protocol).
    After some text the stream ends early (transient), stops (timeout), breaks (protocol) or says
    that it failed. An answer that is not streamed has no place for the last: it is the status.
    """
    said = turn.text.encode()[: turn.after_bytes].decode()
    failure = dialect.failures.get(turn.error_class)
    if turn.error_class == TIMEOUT and not said:
        return Reply(None, ending=STALL)
    cut_short = turn.error_class in _ENDINGS
    if failure is not None and not (said and (request.stream or cut_short)):
        return failure_reply(dialect, failure, answer.number, turn.retry_after_seconds)
    if request.stream:
        return _failing_stream(dialect, turn, answer._replace(text=said), request)
    return _failing_whole(dialect, turn, answer, request, said)


def failure_reply(
    dialect: Dialect, failure: Failure, number: int, retry_after_seconds: float | None = None
) -> Reply:
    """The reply that says by its status that a request failed."""
    headers = _id_header(dialect, number)
    if retry_after_seconds is not None:
        headers += dialect.retry_headers(retry_after_seconds)
    return json_reply(failure.status, dialect.failure_body(failure, request_id(number)), headers)


def refusal_reply(
    dialect: Dialect,
    status: int,
    violations: Sequence[Violation],
    number: int,
    retry_after_seconds: float | None = None,
) -> Reply:
    """The reply to a request that broke rules; SDKs are told not to send it again."""
    message = "; ".join(f"{one.rule}: {one.message}" for one in violations)
    failure = dialect.refusal(status, message)
    reply = failure_reply(dialect, failure, number, retry_after_seconds)
    headers = [(_VIOLATION_HEADER, violations[0].rule)]
    if retry_after_seconds is None:
        headers.append(("x-should-retry", "false"))
    return reply._replace(headers=(*reply.headers, *headers))


def json_reply(
    status: int, body: Mapping[str, Any], headers: tuple[tuple[str, str], ...] = ()
) -> Reply:
    """A reply with a JSON body."""
    data = as_json(body).encode()
    return Reply(status, (("content-type", "application/json"), *headers), (data,))


def _id_header(dialect: Dialect, number: int) -> tuple[tuple[str, str], ...]:
    return ((dialect.request_id_header, request_id(number)),)


def _failing_stream(
    dialect: Dialect, turn: ErrorTurn, said: Answer, request: ModelRequest
) -> Reply:
    events = list(dialect.stream(said, request))
    kept = [event.data for event in events if event.stage != CLOSING]
    failure = dialect.failures.get(turn.error_class)
    if turn.error_class == PROTOCOL:
        kept.append(broken(events[len(kept)]))
    elif turn.error_class not in _ENDINGS and failure is not None:
        kept.append(dialect.failure_event(failure, said, request, len(kept)))
    headers = (*_STREAM, *_id_header(dialect, said.number))
    ending = _ENDINGS.get(turn.error_class, COMPLETE)
    return Reply(200, headers, tuple(kept), streamed=True, ending=ending)


def _failing_whole(
    dialect: Dialect, turn: ErrorTurn, answer: Answer, request: ModelRequest, said: str
) -> Reply:
    """The body up to the end of what was said; of a protocol error that is all of it."""
    reply = json_reply(200, dialect.whole(answer, request), _id_header(dialect, answer.number))
    body = reply.pieces[0]
    beginning = f'"{dialect.text_key}": {as_json(said)[:-1]}'.encode()
    found = body.find(beginning)
    kept = body[: found + len(beginning)] if found >= 0 else body[: len(body) // 2]
    missing = len(body) - len(kept) if turn.error_class in _ENDINGS else 0
    ending = _ENDINGS.get(turn.error_class, COMPLETE)
    return reply._replace(pieces=(kept,), missing_bytes=missing, ending=ending)
