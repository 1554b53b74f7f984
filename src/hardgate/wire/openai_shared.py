"""What OpenAI's two dialects have in common: credentials, failures, tools."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hardgate.wire.conversation import AUTO, NONE, REQUIRED, Answer, ModelRequest
from hardgate.wire.dialect import Failure, tool_name
from hardgate.wire.reading import Fields

_LONGEST_TOOL_NAME = 64
_INVALID = "invalid_request_error"
_SERVER_ERROR = Failure(
    500, "server_error", None, "The server had an error while processing your request."
)
_RATE_LIMIT = Failure(
    429, "requests", "rate_limit_exceeded", "Rate limit reached. Please try again later."
)
_PERMANENT = Failure(400, _INVALID, "invalid_prompt", "This request cannot be processed.")
_FUNCTION = frozenset("description name parameters strict".split())
_TOOL_CHOICE = frozenset("allowed_tools custom function mode name server_label tools type".split())
_REFUSAL_CODES = {401: "invalid_api_key", 404: "unknown_url", 429: "rate_limit_exceeded"}


class OpenAI:
    """The part of a dialect that OpenAI's APIs share."""

    request_id_header = "x-request-id"
    failures: Mapping[str, Failure] = {
        "transient": _SERVER_ERROR,
        "permanent": _PERMANENT,
        "rate_limit": _RATE_LIMIT,
    }

    def absent_headers(self, headers: Mapping[str, str]) -> tuple[str, ...]:
        """A bearer token is all that a request needs."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return () if scheme.lower() == "bearer" and token.strip() else ("authorization",)

    def keep(self, answer: Answer, request: ModelRequest) -> None:
        """Nothing refers back to an answer."""

    def failure_body(self, failure: Failure, request_id: str) -> dict[str, Any]:
        """An error object; the id of the request stands in a header only."""
        return {
            "error": {
                "message": failure.message,
                "type": failure.type,
                "param": None,
                "code": failure.code,
            }
        }

    def retry_headers(self, seconds: float) -> tuple[tuple[str, str], ...]:
        """Whole seconds, which HTTP allows alone, and milliseconds."""
        return (
            ("retry-after", str(math.ceil(seconds))),
            ("retry-after-ms", str(math.ceil(seconds * 1000))),
        )

    def refusal(self, status: int, message: str) -> Failure:
        """Every refusal is an invalid request; the code tells a few of them apart."""
        return Failure(status, _INVALID, _REFUSAL_CODES.get(status), message)


def offered_tools(fields: Fields, known: frozenset[str], nested: str | None) -> Iterator[str]:
    """The names of the function tools; `nested` is the field that holds a function, if any.

    Tools of other types are the provider's own and never in a script.
    """
    for tool in fields.objects("tools", known):
        if tool.text("type") != "function":
            continue
        function = tool.inside(nested, _FUNCTION, required=True) if nested else tool
        if function is not None:
            function.free_map("parameters")
            yield tool_name(function, _LONGEST_TOOL_NAME)


def tool_choice(fields: Fields, name_of: Callable[[Fields], str]) -> str:
    """`auto`, `none`, `required`, or the name of the tool that has to be called."""
    if isinstance(fields.raw("tool_choice"), dict):
        choice = fields.inside("tool_choice", _TOOL_CHOICE)
        if choice is not None and choice.text("type") == "function":
            return name_of(choice)
        return AUTO
    return fields.choice("tool_choice", {AUTO, NONE, REQUIRED}, AUTO)
