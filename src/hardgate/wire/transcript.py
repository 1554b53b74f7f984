"""What a provider saw of an agent, as plain data."""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from hardgate.wire.checks import Violation
from hardgate.wire.conversation import Message


class AlteredCall(NamedTuple):
    """A call that came back in the conversation other than it was made."""

    call_id: str
    field: str
    sent: str
    received: str


class Exchange(NamedTuple):
    """One request and what became of it.

    `number` counts requests from 1. `api` is the dialect's name, None where the request was none
    of a model's. `same_messages` tells how many messages at the start of the conversation equal
    those of the request before; `messages` are the others. `turn` is the turn of the script that
    answered, from 1, None where none did. `delivered` says that the whole answer was sent while
    the agent was there to read it; it is None until the answer ends. `credential` says only
    whether there was one.
    """

    number: int
    method: str
    path: str
    credential: bool
    status: int | None
    api: str | None = None
    model: str = ""
    stream: bool = False
    offered: tuple[str, ...] = ()
    tool_choice: str = ""
    same_messages: int = 0
    messages: tuple[Message, ...] = ()
    unknown_fields: tuple[str, ...] = ()
    altered_calls: tuple[AlteredCall, ...] = ()
    turn: int | None = None
    played_names: tuple[tuple[str, str], ...] = ()
    violations: tuple[Violation, ...] = ()
    delivered: bool | None = None


class Transcript:
    """The exchanges of one provider, in the order in which the requests were judged.

    Its methods may be called from any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._exchanges: list[Exchange] = []
        self._limits: list[str] = []

    def add(self, exchange: Exchange) -> None:
        """Add an exchange; its number is the next one."""
        with self._lock:
            self._exchanges.append(exchange)

    def finish(self, number: int, delivered: bool) -> None:
        """Say how the answer to a request ended."""
        with self._lock:
            self._exchanges[number - 1] = self._exchanges[number - 1]._replace(delivered=delivered)

    def hit(self, limit: str) -> None:
        """Note a limit that was reached."""
        with self._lock:
            if limit not in self._limits:
                self._limits.append(limit)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        with self._lock:
            return tuple(self._exchanges)

    @property
    def violations(self) -> tuple[tuple[int, Violation], ...]:
        """Every broken rule with the number of its request."""
        return tuple(
            (exchange.number, violation)
            for exchange in self.exchanges
            for violation in exchange.violations
        )

    @property
    def limits_hit(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._limits)

    def to_data(self) -> dict[str, Any]:
        """Maps, lists, texts, numbers, booleans and nulls only."""
        return {
            "exchanges": [_plain(exchange) for exchange in self.exchanges],
            "limits_hit": list(self.limits_hit),
        }


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return {key: _plain(one) for key, one in value._asdict().items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value
