"""What the listening side asks of whoever answers: a service behind the sockets."""

from typing import NamedTuple, Protocol

from hardgate.wire.http1 import BadRequest, Request
from hardgate.wire.reply import Reply


class Served(NamedTuple):
    """A reply and the number of its exchange, None where there is no exchange for it."""

    reply: Reply
    number: int | None


class Service(Protocol):
    """Answers requests, from any thread. Each reply with a number is followed by `finished`."""

    def answer(self, request: Request) -> Served:
        """What to reply to a request."""
        ...

    def refuse(self, error: BadRequest) -> Served:
        """What to reply to something that is no request."""
        ...

    def finished(self, number: int, delivered: bool) -> None:
        """How the reply to a request ended."""
        ...

    def hit(self, limit: str) -> None:
        """Note a limit that the connections reached."""
        ...

    def close(self) -> None:
        """Let nobody wait any longer."""
        ...
