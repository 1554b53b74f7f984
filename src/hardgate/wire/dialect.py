"""What the player asks of each provider's dialect."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from hardgate.documents.wording import quoted
from hardgate.wire.conversation import Answer, ModelRequest
from hardgate.wire.reading import Fields
from hardgate.wire.sse import Event

# 2026-01-01T00:00:00Z: what answers and models say they were made at, in seconds since 1970.
CREATED = 1_767_225_600

_TOOL_NAME = re.compile("[A-Za-z0-9_-]+")


class Failure(NamedTuple):
    """A failed request as a provider tells it: the HTTP status and what the body says.

    `code` is OpenAI's finer name of the failure, None where it gives none.
    """

    status: int
    type: str
    code: str | None
    message: str


class Dialect(Protocol):
    """One provider's API.

    `results_follow_calls`: the results have to stand right behind the calls they answer.
    `text_key` is the field of a whole answer that holds its text, `parameters` are the documented
    fields of a request, `request_id_header` carries the id of a request back. `failures` are what
    an error turn of a class becomes.
    """

    name: str
    results_follow_calls: bool
    text_key: str
    parameters: frozenset[str]
    request_id_header: str
    failures: Mapping[str, Failure]

    def absent_headers(self, headers: Mapping[str, str]) -> tuple[str, ...]:
        """The required headers that a request lacks; `authorization` stands for the credential."""

    def read(self, fields: Fields, *, counting: bool = False) -> ModelRequest:
        """The request in the fields of a body; what is wrong with it goes to its notes.

        With `counting` it asks for the number of its tokens, which needs fewer fields.
        """

    def keep(self, answer: Answer, request: ModelRequest) -> None:
        """Keep what later requests may refer to."""

    def whole(self, answer: Answer, request: ModelRequest) -> dict[str, Any]:
        """The body of an answer that is not streamed."""

    def stream(self, answer: Answer, request: ModelRequest) -> Iterator[Event]:
        """The events of a streamed answer, to its regular end."""

    def failure_body(self, failure: Failure, request_id: str) -> dict[str, Any]:
        """The body of a response that says that a request failed."""

    def failure_event(
        self, failure: Failure, answer: Answer, request: ModelRequest, sent: int
    ) -> bytes:
        """How a stream says that it failed after `sent` events."""

    def retry_headers(self, seconds: float) -> tuple[tuple[str, str], ...]:
        """The headers that ask to wait."""

    def refusal(self, status: int, message: str) -> Failure:
        """A refusal of this server, in the provider's words for that status."""


def tool_name(tool: Fields, longest: int) -> str:
    """The name of an offered tool; the providers take 1 to `longest` plain characters."""
    name = tool.text("name")
    if not (len(name) <= longest and _TOOL_NAME.fullmatch(name)):
        tool.notes.refuse(
            f"{tool.at('name')}: received {quoted(name)}; allowed: 1 to {longest} letters of "
            "ASCII, digits, _ and -"
        )
    return name
