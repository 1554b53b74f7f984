"""Texts from outside, brought to every place where a call can fail, and looked for afterwards.

Each member says by its vector where its text comes in. The run that it is part of is made twice:
with the member's text, and with a harmless one. A piece of the text that is found in the first run
and not in the second came from the member.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from typing import Any

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.domain.canonical import JsonObject, canonical_json
from agent_core.domain.context import ItemKind, ModelRequest, ShownItem
from agent_core.domain.events import EventType
from agent_core.domain.model import StreamEvent
from agent_core.domain.model_script import FinalTurn, ScriptedToolCall, ScriptedTurn, ToolCallsTurn
from agent_core.domain.outcomes import REASONS, ToolOutcome
from agent_core.domain.tools import (
    IdempotencyClass,
    TargetKind,
    ToolFailure,
    ToolFailureKind,
    ToolResult,
    ToolSource,
    ToolSpec,
)
from agent_core.domain.trust import TrustLevel
from agent_core.ports.tools import ToolContext
from gates.checks.driving import (
    Listening,
    Played,
    Probe,
    Stage,
    call_of,
    one_call,
    probe_spec,
)
from hardgate.fixtures.corpus import Member
from hardgate.kinds.checking import Violation, require
from hardgate.kinds.corpus import CorpusContext

PIECE_CHARACTERS = 12
_HARMLESS = "zzzz qqqq 1234"
# What a person or a model says is in the log on purpose; nothing else of a run may be.
_SPOKEN = (EventType.USER_MESSAGE_CREATED, EventType.ASSISTANT_MESSAGE_COMPLETED)
_NON_IDEMPOTENT = probe_spec(idempotency=IdempotencyClass.NON_IDEMPOTENT)
_OF_SERVER = probe_spec(
    name="mcp.server.probe",
    source=ToolSource.MCP,
    target_kind=TargetKind.MCP,
    server_id="server",
    output_trust=TrustLevel.EXTERNAL_UNTRUSTED,
)


def check(context: CorpusContext) -> None:
    context.for_each(nothing_of_the_text_is_said)


def nothing_of_the_text_is_said(member: Member) -> None:
    """The call ends as the member says, in the words of the table and in no others."""
    play = VECTORS.get(member.vector)
    if play is None:
        known = ", ".join(sorted(VECTORS))
        raise Violation("unknown_vector", f"{member.vector} is none of {known}")
    played, harmless = play(member.body), play(_HARMLESS)
    told = pieces(member.body)
    for rule, look in _PLACES.items():
        known_before = folded(look(harmless))
        said = folded(look(played))
        leaked = sorted(one for one in told if one in said and one not in known_before)
        require(not leaked, rule, f"{len(leaked)} of {len(told)} pieces are there: {leaked[:1]}")
    _require_ending(member, played)


def _require_ending(member: Member, played: Played) -> None:
    outcomes = _outcomes(played)
    ends = [one.reason_code for one in outcomes]
    if played.run.failure is not None:
        ends.append(str(played.run.failure.reason))
    require(ends == [member.expect], "other_ending", f"expected {member.expect}, ended as {ends}")
    for outcome in outcomes:
        message = REASONS[outcome.reason_code].message
        require(outcome.message == message, "message_not_of_table", "the message is another one")


def pieces(text: str) -> frozenset[str]:
    """Every run of 12 characters of a text; a shorter text is one piece."""
    whole = folded(text)
    count = max(len(whole) - PIECE_CHARACTERS + 1, 1)
    return frozenset(whole[start : start + PIECE_CHARACTERS] for start in range(count))


def folded(text: str) -> str:
    """A text without what an encoder may change: case, compatibility forms, kinds of blanks."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"\s+", " ", plain).strip()


# Where a text could turn up.


def _outcomes(played: Played) -> list[ToolOutcome]:
    return [row.outcome for row in played.invocations if row.outcome is not None]


def _in_outcomes(played: Played) -> str:
    return _joined(list(outcome) for outcome in _outcomes(played))


def _in_events(played: Played) -> str:
    return _joined(one.payload for one in played.events if one.event_type not in _SPOKEN)


def _in_failure(played: Played) -> str:
    return _joined([list(played.run.failure or ())])


def _outside_envelopes(played: Played) -> str:
    """What the model was shown of the calls' results, without what stands in an envelope."""
    shown = [one for request in played.requests for one in request.body]
    return _joined(_without_envelope(one) for one in shown if one.item.kind is ItemKind.TOOL_RESULT)


def _without_envelope(one: ShownItem) -> str:
    """The text up to the envelope and after it; the nonce, and nothing else, finds its end."""
    nonce = re.escape(one.item.nonce)
    return re.sub(
        rf"<item [^>]*nonce={nonce}>.*</item nonce={nonce}>", "", one.text, flags=re.DOTALL
    )


_PLACES: dict[str, Callable[[Played], str]] = {
    "text_in_outcome": _in_outcomes,
    "text_in_failure": _in_failure,
    "text_in_event": _in_events,
    "text_outside_envelope": _outside_envelopes,
}


def _joined(values: Any) -> str:
    return "\n".join(text for value in values for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value, keys included."""
    if isinstance(value, str):
        yield str(value)
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from (*_texts(key), *_texts(member))
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _texts(member)


# The ways in, by the names of the vectors.


Play = Callable[[str], Played]


Work = Callable[[str, ToolContext], ToolResult | Awaitable[ToolResult]]


def _tool(work: Work, spec: ToolSpec | None = None) -> Play:
    """A run in which a tool does `work(text, context)`, which may raise."""

    def play(text: str) -> Played:
        async def run(arguments: JsonObject, context: ToolContext) -> ToolResult:
            result = work(text, context)
            return result if isinstance(result, ToolResult) else await result

        declared = spec or probe_spec()
        return Stage(one_call(call_of(declared.name)), tools=[Probe(declared, run)]).play()

    return play


def _raising(make: Callable[[str], Exception], spec: ToolSpec | None = None) -> Play:
    def work(text: str, context: ToolContext) -> ToolResult:
        raise make(text)

    return _tool(work, spec)


def _chained(text: str) -> Exception:
    error = OSError(text)
    error.__cause__ = ValueError(text)
    error.add_note(text)
    return error


def _unreachable(text: str) -> Exception:
    error = ToolFailure(ToolFailureKind.TRANSPORT, "tool.unreachable")
    error.__cause__ = ConnectionError(text)
    return error


def _calling(make: Callable[[str], ScriptedToolCall]) -> Play:
    """A run in which the model makes a call that holds the text itself."""

    def play(text: str) -> Played:
        return Stage(one_call(make(text)), tools=[Probe(probe_spec(), _answer)]).play()

    return play


async def _answer(arguments: JsonObject, context: ToolContext) -> ToolResult:
    return ToolResult({"text": "done"}, "done")


async def _mark_and_break(text: str, context: ToolContext) -> ToolResult:
    await context.mark_effect_sent()
    raise ConnectionError(text)


def _call_of_provider(text: str) -> Played:
    """A provider that puts the text where a call has its id, in every attempt."""
    turn = ToolCallsTurn((call_of("demo.probe", call_id=text),))
    return Stage([turn] * 3, tools=[Probe(probe_spec(), _answer)]).play()


class _Relaying(Listening):
    """A provider whose adapter hands on what the vendor said, as an event of its own making."""

    text = ""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        event: Any = {"type": "error", "message": self.text, self.text: self.text}
        yield event


class _Crashing(_Relaying):
    """A provider whose adapter lets the exception of the vendor's library through."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        raise LookupError(self.text)
        yield


def _provider(kind: type[_Relaying], broken_by: type[Exception] | None = None) -> Play:
    """A run with a provider that fails with the text, in every attempt."""

    def play(text: str) -> Played:
        def model(turns: Sequence[ScriptedTurn], clock: PinnedClock) -> Listening:
            made = kind(turns, clock)
            made.text = text
            return made

        return Stage([FinalTurn("Done.")], model=model).play(broken_by=broken_by)

    return play


VECTORS: dict[str, Play] = {
    "exception_text": _raising(RuntimeError),
    "exception_chain": _raising(_chained),
    "failure_code": _raising(lambda text: ToolFailure(ToolFailureKind.UPSTREAM_ERROR, text)),
    "file_name": _raising(lambda text: FileNotFoundError(2, "No such file", text)),
    "server_error": _raising(_unreachable, _OF_SERVER),
    "timeout_text": _raising(TimeoutError),
    "result_not_declared": _tool(lambda text, context: ToolResult({"other": text, text: 1}, text)),
    "result_too_large": _tool(lambda text, context: ToolResult({"text": "x"}, text * 3000)),
    "tool_output": _tool(lambda text, context: ToolResult({"text": text}, text), _OF_SERVER),
    "effect_unknown": _tool(_mark_and_break, _NON_IDEMPOTENT),
    "unmarked_success": _tool(
        lambda text, context: ToolResult({"text": text}, text), _NON_IDEMPOTENT
    ),
    "malformed_arguments": _calling(
        lambda text: ScriptedToolCall("call_1", "demo.probe", text + "{")
    ),
    "invalid_arguments": _calling(
        lambda text: ScriptedToolCall("call_1", "demo.probe", canonical_json({text: text}))
    ),
    "tool_name": _calling(lambda text: call_of(text.strip())),
    "call_id": _call_of_provider,
    "provider_error": _provider(_Relaying),
    "provider_crash": _provider(_Crashing, LookupError),
}
