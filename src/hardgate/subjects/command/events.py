"""The event log that Hardgate makes of what it sees of an agent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hardgate.cases import outside
from hardgate.cases.command import CommandSubject
from hardgate.cases.record import ObservedEvent
from hardgate.fixtures.model_script import (
    ErrorTurn,
    FinalTurn,
    ModelScript,
    ScriptedCall,
    ToolCallsTurn,
)
from hardgate.subjects.command.process import Ended
from hardgate.subjects.command.report import ReportedEvent
from hardgate.wire.checks import EXHAUSTED, Violation
from hardgate.wire.conversation import Message, ToolResult
from hardgate.wire.mcp.results import SeenCall
from hardgate.wire.transcript import Exchange, Transcript


class Request(NamedTuple):
    """A request for an answer, and the index of its event. `api` is None for no request at all."""

    api: str | None
    event: int


class Refusal(NamedTuple):
    """A broken rule, and the index of the event of the request that broke it."""

    violation: Violation
    event: int


class PlayedCall(NamedTuple):
    """A tool call that the model made in a step. `wire_name` is its name as it was sent, `offered`
    whether the request that it answers offered the tool."""

    step: int
    call: ScriptedCall
    wire_name: str
    offered: bool


class Seen(NamedTuple):
    """What was seen, in order.

    `turns` counts the turns played, `steps` the answers of the model, one that never came
    included. `results` has the first result of each call that came back, by call_id.
    """

    events: tuple[ObservedEvent, ...]
    turns: int
    steps: int
    exhausted_at_step: int | None
    requests: tuple[Request, ...]
    refusals: tuple[Refusal, ...]
    calls: tuple[PlayedCall, ...]
    results: Mapping[str, ToolResult]

    @property
    def call_names(self) -> dict[str, tuple[str, str]]:
        """The name of each call in the script and on the wire, by call_id."""
        return {one.call.call_id: (one.call.name, one.wire_name) for one in self.calls}


def seen(
    spec: CommandSubject,
    script: ModelScript,
    transcript: Transcript,
    ended: Ended,
    mcp_calls: Iterable[SeenCall] = (),
) -> Seen:
    """The log of an agent that has ended. What MCP servers were asked stands behind its end, and
    then what it reported itself."""
    log = _Log(script)
    log.add(outside.AGENT_STARTED, {"command": list(spec.command)})
    for exchange in transcript.exchanges:
        log.exchange(exchange)
    log.add(outside.AGENT_ENDED, _ending(ended))
    for call in mcp_calls:
        log.add(outside.MCP_CALLED, _asked(call))
    for one in ended.reports:
        if isinstance(one, ReportedEvent):
            log.add(one.event, one.payload)
    return log.seen()


def _ending(ended: Ended) -> dict[str, Any]:
    return {
        "exit_code": ended.exit_code,
        "signal": ended.signal,
        "limits_hit": list(ended.limits_hit),
        "left_behind": ended.left_behind,
        "stdout": ended.stdout.decode("utf-8", "replace"),
        "stderr": ended.stderr.decode("utf-8", "replace"),
    }


def _asked(call: SeenCall) -> dict[str, Any]:
    """A call that an MCP server was asked for; what it answered is the script's and not kept."""
    return {
        "server_id": call.server_id,
        "ordinal": call.ordinal,
        "tool_name": call.tool,
        "arguments": dict(call.arguments),
        "answered": call.text is not None or call.error is not None,
        "is_error": call.error is not None,
    }


class _Log:
    """Gathers the log, exchange by exchange."""

    def __init__(self, script: ModelScript) -> None:
        self._script = script
        self._names = {
            call.call_id: call.name
            for turn in script.turns
            for call in (turn.calls if isinstance(turn, ToolCallsTurn) else ())
        }
        self._events: list[ObservedEvent] = []
        self._requests: list[Request] = []
        self._refusals: list[Refusal] = []
        self._calls: list[PlayedCall] = []
        self._results: dict[str, ToolResult] = {}
        self._turns = 0
        self._answers = 0
        self._open_step = False
        self._exhausted_at_step: int | None = None

    def seen(self) -> Seen:
        return Seen(
            events=tuple(self._events),
            turns=self._turns,
            steps=self._answers + self._open_step,
            exhausted_at_step=self._exhausted_at_step,
            requests=tuple(self._requests),
            refusals=tuple(self._refusals),
            calls=tuple(self._calls),
            results=self._results,
        )

    def add(self, event_type: str, payload: Any) -> int:
        """Add an event; returns its index."""
        self._events.append(ObservedEvent(len(self._events) + 1, event_type, payload))
        return len(self._events) - 1

    def exchange(self, exchange: Exchange) -> None:
        """Add what one request and its answer are. Listing models and counting tokens is nothing
        that an agent does with a model."""
        if exchange.turn is None and not exchange.violations:
            return
        self._tool_results(exchange.messages)
        asked = {
            "step_number": self._answers + 1,
            "api": exchange.api,
            "model": exchange.model,
            "stream": exchange.stream,
            "offered": list(exchange.offered),
            "tool_choice": exchange.tool_choice,
            "same_messages": exchange.same_messages,
            "messages": [_message(one) for one in exchange.messages],
            "unknown_fields": list(exchange.unknown_fields),
            "altered_calls": [one._asdict() for one in exchange.altered_calls],
        }
        if exchange.turn is None:
            self._refused(exchange, asked)
        else:
            index = self.add(outside.MODEL_REQUEST, asked)
            self._requests.append(Request(exchange.api, index))
            self._turn(exchange, exchange.turn)

    def _refused(self, exchange: Exchange, asked: dict[str, Any]) -> None:
        rules = [{"rule": one.rule, "message": one.message} for one in exchange.violations]
        place = {"method": exchange.method, "path": exchange.path, "status": exchange.status}
        index = self.add(outside.REQUEST_REFUSED, {**asked, **place, "rules": rules})
        self._requests.append(Request(exchange.api, index))
        self._refusals += [Refusal(one, index) for one in exchange.violations]
        if any(one.rule == EXHAUSTED for one in exchange.violations):
            self._exhausted_at_step = self._exhausted_at_step or self._answers + 1

    def _turn(self, exchange: Exchange, number: int) -> None:
        """The answer to a request: a turn of the script, from 1."""
        turn = self._script.turns[number - 1]
        self._turns = max(self._turns, number)
        step = self._answers + 1
        told: dict[str, Any] = {"step_number": step, "turn": number}
        if isinstance(turn, ErrorTurn):
            self._open_step = True
            told |= {"error_class": turn.error_class, "after_bytes": turn.after_bytes}
            if turn.retry_after_seconds is not None:
                told["retry_after_seconds"] = turn.retry_after_seconds
            self.add(outside.MODEL_ERROR, told)
            return
        self._open_step = False
        self._answers += 1
        stop = {"stop_reason": turn.stop_reason} if isinstance(turn, FinalTurn) else {}
        self.add(outside.MODEL_ANSWER, {**told, "text": turn.text, **stop})
        calls = turn.calls if isinstance(turn, ToolCallsTurn) else ()
        for call, (_, wire_name) in zip(calls, exchange.played_names, strict=True):
            offered = wire_name in exchange.offered
            self._calls.append(PlayedCall(step, call, wire_name, offered))
            payload = {
                "step_number": step,
                "call_id": call.call_id,
                "tool_name": call.name,
                "arguments": call.arguments,
                "offered": offered,
            }
            self.add(outside.TOOL_PROPOSED, payload)

    def _tool_results(self, messages: Sequence[Message]) -> None:
        """The results that answer a call for the first time; what they say is not kept."""
        for result in _results(messages):
            if result.call_id in self._results or result.call_id not in self._names:
                continue
            self._results[result.call_id] = result
            payload = {
                "step_number": self._answers,
                "call_id": result.call_id,
                "tool_name": self._names[result.call_id],
                **_described(result),
            }
            self.add(outside.TOOL_ANSWERED, payload)


def _results(messages: Iterable[Message]) -> Iterable[ToolResult]:
    return (result for message in messages for result in message.tool_results)


def _described(result: ToolResult) -> dict[str, Any]:
    """A tool's result without its text: what a tool gives the agent is no leak."""
    return {
        "is_error": result.is_error,
        "characters": len(result.text),
        "text_sha256": hashlib.sha256(result.text.encode("utf-8", "replace")).hexdigest(),
    }


def _message(message: Message) -> dict[str, Any]:
    """A message that the agent sent, as plain data."""
    plain: dict[str, Any] = {"role": message.role, "text": message.text}
    if message.tool_calls:
        plain["tool_calls"] = [call._asdict() for call in message.tool_calls]
    if message.tool_results:
        plain["tool_results"] = [
            {"call_id": result.call_id, **_described(result)} for result in message.tool_results
        ]
    if message.other:
        plain["other"] = list(message.other)
    return plain
