"""Requests, scripts and replies that the tests of the wire share."""

import json

from hardgate.fixtures.model_script import load_script
from hardgate.wire.http1 import Request
from hardgate.wire.limits import Limits
from hardgate.wire.reading import Fields, Notes
from hardgate.wire.service import ModelService

BEARER = {"authorization": "Bearer x", "host": "h"}
ANTHROPIC = {"x-api-key": "x", "anthropic-version": "2023-06-01", "host": "h"}

CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"
MESSAGES = "/v1/messages"
PATHS = (CHAT, RESPONSES, MESSAGES)


class FakeClock:
    """A clock that stands until it is moved."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def script_of(turns):
    """A script of turns in the form of YAML."""
    return load_script("evals/fixtures/models/x.yaml", f"turns:\n{turns}".encode())


def service_of(turns, clock=None, **limits):
    return ModelService(
        script_of(turns), Limits(**limits), ("scripted-model",), clock or FakeClock()
    )


def post(path, body, headers=None):
    """A POST of a JSON body, with the credential that the path asks for."""
    default = ANTHROPIC if path.startswith(MESSAGES) else BEARER
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Request("POST", path, default if headers is None else headers, data)


def send(service, request):
    """The status, headers and bytes that a request gets; the reply counts as delivered."""
    served = service.answer(request)
    if served.number is not None:
        service.finished(served.number, True)
    return served.reply.status, dict(served.reply.headers), b"".join(served.reply.pieces)


def send_json(service, request):
    status, headers, data = send(service, request)
    return status, headers, json.loads(data)


def read(dialect, body):
    """What a dialect reads in a body, and the notes on it."""
    notes = Notes()
    return dialect.read(Fields(body, "", notes, dialect.parameters)), notes


# The tools of one name, a user's question, and the way a turn's calls are answered, by path.
TOOLS = {
    CHAT: [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}],
    RESPONSES: [{"type": "function", "name": "add", "parameters": {"type": "object"}}],
    MESSAGES: [{"name": "add", "input_schema": {"type": "object"}}],
}


def question(path, **more):
    """A first request; `more` are fields beside or instead of its own."""
    user = {"role": "user", "content": "What is 1 + 2?"}
    key = "input" if path == RESPONSES else "messages"
    fields = {"model": "m", key: [user]}
    if path == MESSAGES:
        fields["max_tokens"] = 100
    return {**fields, **more}


def answered(path, calls, results, **more):
    """The question, the calls the model made (id, name, arguments) and results (id, text)."""
    body = question(path, **more)
    if path == CHAT:
        made = [
            {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
            for i, n, a in calls
        ]
        if made:
            body["messages"].append({"role": "assistant", "content": None, "tool_calls": made})
        body["messages"] += [
            {"role": "tool", "tool_call_id": i, "content": text} for i, text in results
        ]
    elif path == RESPONSES:
        body["input"] += [
            {"type": "function_call", "call_id": i, "name": n, "arguments": json.dumps(a)}
            for i, n, a in calls
        ]
        body["input"] += [
            {"type": "function_call_output", "call_id": i, "output": text} for i, text in results
        ]
    else:
        made = [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls]
        if made:
            body["messages"].append({"role": "assistant", "content": made})
        blocks = [{"type": "tool_result", "tool_use_id": i, "content": text} for i, text in results]
        if blocks:
            body["messages"].append({"role": "user", "content": blocks})
    return body
