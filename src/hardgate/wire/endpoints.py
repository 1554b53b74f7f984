"""Which paths the scripted provider answers, and what it says about models."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hardgate.documents.wording import LIKE, choices, nearest, quoted
from hardgate.wire import checks
from hardgate.wire.checks import Violation
from hardgate.wire.dialect import CREATED, Dialect

GENERATE = "generate"
COUNT = "count"
MODELS = "models"

_MODELS_PATH = "/v1/models"
_CREATED_TEXT = "2026-01-01T00:00:00Z"

OPENAI_CHAT = "openai_chat"
OPENAI_RESPONSES = "openai_responses"
ANTHROPIC = "anthropic_messages"

# path -> (the name of the dialect, what it does)
_POSTED = {
    "/v1/chat/completions": (OPENAI_CHAT, GENERATE),
    "/v1/responses": (OPENAI_RESPONSES, GENERATE),
    "/v1/responses/input_tokens": (OPENAI_RESPONSES, COUNT),
    "/v1/messages": (ANTHROPIC, GENERATE),
    "/v1/messages/count_tokens": (ANTHROPIC, COUNT),
}
_PATHS = (*_POSTED, _MODELS_PATH)


class Endpoint(NamedTuple):
    """What a path does; `dialect` is the name of its API, `violation` why it does nothing.

    `model` is the model asked for, empty for the list of all.
    """

    dialect: str
    action: str
    model: str = ""
    violation: Violation | None = None
    status: int = 200


def find_endpoint(method: str, path: str, headers: Mapping[str, str]) -> Endpoint:
    """The endpoint of a request; one that is none tells the nearest that is."""
    if path in _POSTED:
        dialect, action = _POSTED[path]
        return Endpoint(dialect, action) if method == "POST" else _wrong_method(dialect, "POST")
    anthropic = "anthropic-version" in headers or "messages" in path
    dialect = ANTHROPIC if anthropic else OPENAI_CHAT
    if path == _MODELS_PATH or path.startswith(_MODELS_PATH + "/"):
        if method != "GET":
            return _wrong_method(dialect, "GET")
        return Endpoint(dialect, MODELS, path[len(_MODELS_PATH) + 1 :])
    near = nearest(path[:100], _PATHS, LIKE)
    hint = f"; did you mean {near}, with a base URL of {_base(near)}?" if near else ""
    message = f"there is no {quoted(path)}; allowed: {choices(_PATHS)}{hint}"
    violation = Violation(checks.PATH_UNKNOWN, message, list(_PATHS), path[:200])
    return Endpoint(dialect, "", violation=violation, status=404)


def models_body(dialect: Dialect, models: tuple[str, ...], wanted: str) -> dict[str, Any]:
    """One model or the list of all, in the form of a provider. Any name is a model's name."""
    one = _anthropic_model if dialect.name == ANTHROPIC else _openai_model
    if wanted:
        return one(wanted)
    listed = [one(model) for model in models]
    if dialect.name != ANTHROPIC:
        return {"object": "list", "data": listed}
    ends = {"first_id": models[0], "last_id": models[-1]} if models else {}
    return {"data": listed, "has_more": False, **ends}


def tokens_body(dialect: Dialect, tokens: int) -> dict[str, Any]:
    """The number of tokens of a request, in the form of a provider."""
    kind = {} if dialect.name == ANTHROPIC else {"object": "response.input_tokens"}
    return {**kind, "input_tokens": tokens}


def _wrong_method(dialect: str, allowed: str) -> Endpoint:
    violation = Violation(checks.METHOD_WRONG, f"allowed here: {allowed}", allowed)
    return Endpoint(dialect, "", violation=violation, status=405)


def _base(path: str) -> str:
    """What an SDK takes as its base: OpenAI's ends in /v1, Anthropic's before it."""
    return "http://HOST:PORT" if "messages" in path else "http://HOST:PORT/v1"


def _openai_model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "scripted"}


def _anthropic_model(name: str) -> dict[str, Any]:
    return {
        "type": "model",
        "id": name,
        "display_name": name,
        "created_at": _CREATED_TEXT,
        "lifecycle": "active",
    }
