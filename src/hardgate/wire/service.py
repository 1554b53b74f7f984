"""Judges requests and answers them from a script; knows no sockets."""

import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

from hardgate.fixtures.model_script import ErrorTurn, ModelScript
from hardgate.wire import checks, endpoints
from hardgate.wire.anthropic_messages import Messages
from hardgate.wire.checks import Violation
from hardgate.wire.conversation import Message, ModelRequest, estimated_input_tokens
from hardgate.wire.dialect import Dialect
from hardgate.wire.endpoints import Endpoint, find_endpoint
from hardgate.wire.exchange import Served
from hardgate.wire.http1 import BadRequest, Request
from hardgate.wire.json_body import BadJson, parse_object
from hardgate.wire.limits import Limits
from hardgate.wire.openai_chat import ChatCompletions
from hardgate.wire.openai_responses import Responses
from hardgate.wire.reading import Fields, Notes
from hardgate.wire.reply import Reply
from hardgate.wire.script_player import Played, ScriptPlayer
from hardgate.wire.transcript import Exchange, Transcript
from hardgate.wire.turn_replies import (
    answer_reply,
    error_reply,
    json_reply,
    refusal_reply,
    request_id,
)

# The headers that carry a key.
_CARRIERS = ("authorization", "x-api-key")

# What a server says that has ended, or that has said once why it refuses.
_CLOSED = Reply(503)


class ModelService:
    """The providers' endpoints over one script. Its methods may be called from any thread.

    Each call of `answer` is followed by one of `finished`. Requests for an answer wait until the
    turn before is sent; a turn that fails keeps nobody waiting, since an agent may give it up.
    """

    def __init__(
        self,
        script: ModelScript,
        limits: Limits,
        models: tuple[str, ...],
        clock: Callable[[], float],
    ) -> None:
        self.transcript = Transcript()
        self.player = ScriptPlayer(script, clock)
        self._limits = limits
        self._models = models
        dialects: tuple[Dialect, ...] = (ChatCompletions(), Responses(), Messages())
        self._dialects = {dialect.name: dialect for dialect in dialects}
        self._free = threading.Condition()
        self._sending: Exchange | None = None
        self._closed = False
        self._requests = 0
        self._body_bytes = 0
        self._last_messages: tuple[Message, ...] = ()

    def answer(self, request: Request) -> Served:
        """Judge a request and say what to reply. Takes a turn if there is nothing to object to."""
        endpoint = find_endpoint(request.method, request.path, request.headers)
        with self._free:
            if endpoint.action == endpoints.GENERATE:
                self._free.wait_for(lambda: self._sending is None or self._closed)
            judging = _Judging(self._dialects[endpoint.dialect], request, self._requests + 1)
            self._body_bytes += len(request.body)
            return self._served(judging, lambda: self._reply(judging, endpoint))

    def refuse(self, error: BadRequest) -> Served:
        """Record something that is no request, and say what to reply."""
        rule = checks.HTTP_MALFORMED
        with self._free:
            if error.limit is not None:
                rule = checks.LIMIT
                self.transcript.hit(error.limit)
            request = Request("", "", {}, b"")
            judging = _Judging(self._dialects[endpoints.OPENAI_CHAT], request, self._requests + 1)
            violations = [Violation(rule, str(error))]
            return self._served(judging, lambda: judging.refuse(error.status, violations))

    def finished(self, number: int, delivered: bool) -> None:
        """Note how the answer to a request ended."""
        with self._free:
            self.transcript.finish(number, delivered)
            if self._sending is not None and self._sending.number == number:
                if not delivered and self._sending.turn is not None:
                    self.player.take_back(self._sending.turn)
                self._sending = None
                self._free.notify_all()

    def hit(self, limit: str) -> None:
        """Note a limit that the connections reached."""
        self.transcript.hit(limit)

    def close(self) -> None:
        """Let nobody wait any longer."""
        with self._free:
            self._closed = True
            self._free.notify_all()

    def _served(self, judging: "_Judging", reply_to: Callable[[], Reply]) -> Served:
        """The reply to one request, recorded; the second one over a limit is not."""
        limit = self._limit_reached()
        if self._closed or limit in self.transcript.limits_hit:
            return Served(_CLOSED, None)
        self._requests += 1
        try:
            if limit is not None:
                self.transcript.hit(limit)
                message = f"the limit {limit} is reached"
                reply = judging.refuse(400, [Violation(checks.LIMIT, message)])
            else:
                reply = reply_to()
        except Exception as error:
            # Whatever an agent sends, the server goes on and the case fails with a name.
            traceback.print_exc(file=sys.stderr)
            reply = judging.refuse(500, [Violation(checks.INTERNAL, type(error).__name__)])
        self.transcript.add(judging.exchange._replace(status=reply.status))
        return Served(reply, judging.exchange.number)

    def _limit_reached(self) -> str | None:
        if self._requests >= self._limits.requests:
            return "requests"
        return "all_bodies_bytes" if self._body_bytes > self._limits.all_bodies_bytes else None

    def _reply(self, judging: "_Judging", endpoint: Endpoint) -> Reply:
        if endpoint.violation is not None:
            return judging.refuse(endpoint.status, [endpoint.violation])
        absent = judging.dialect.absent_headers(judging.request.headers)
        if absent:
            status = 401 if "authorization" in absent else 400
            return judging.refuse(status, [_missing(header) for header in absent])
        if endpoint.action == endpoints.MODELS:
            body = endpoints.models_body(judging.dialect, self._models, endpoint.model)
            return judging.reply(body)
        counting = endpoint.action == endpoints.COUNT
        try:
            asked = judging.read(self._limits, counting=counting)
        except BadJson as error:
            return judging.refuse(400, [Violation(checks.JSON_MALFORMED, str(error))])
        if not counting:
            self._record_messages(judging, asked)
        if judging.complaints:
            return judging.refuse(400, judging.complaints)
        if counting:
            return judging.reply(
                endpoints.tokens_body(judging.dialect, estimated_input_tokens(asked))
            )
        return self._next_turn(judging, asked)

    def _record_messages(self, judging: "_Judging", asked: ModelRequest) -> None:
        """Keep the messages that the request before did not have; conversations grow."""
        same = 0
        for before, now in zip(self._last_messages, asked.messages, strict=False):
            if before != now:
                break
            same += 1
        new = asked.messages[same:]
        self._last_messages = asked.messages
        judging.note(same_messages=same, messages=new, altered_calls=self.player.altered(new))

    def _next_turn(self, judging: "_Judging", asked: ModelRequest) -> Reply:
        dialect = judging.dialect
        early_seconds = self.player.early_seconds()
        violations = self.player.violations(asked, results_follow=dialect.results_follow_calls)
        if violations and violations[0].rule == checks.RETRIED_EARLY:
            return judging.refuse(429, violations, early_seconds)
        if violations:
            return judging.refuse(400, violations)
        played = self.player.play(asked, judging.exchange.number)
        judging.note(turn=played.number, played_names=played.names)
        return self._turn_reply(judging, asked, played)

    def _turn_reply(self, judging: "_Judging", asked: ModelRequest, played: Played) -> Reply:
        dialect, turn = judging.dialect, played.turn
        if isinstance(turn, ErrorTurn):
            reply = error_reply(dialect, turn, played.answer, asked)
        else:
            self._sending = judging.exchange
            dialect.keep(played.answer, asked)
            reply = answer_reply(dialect, played.answer, asked)
        return reply._replace(delay_seconds=turn.delay_seconds)


class _Judging:
    """One request while it is judged; `exchange` gathers what there is to tell of it."""

    def __init__(self, dialect: Dialect, request: Request, number: int) -> None:
        self.dialect = dialect
        self.request = request
        self.complaints: list[Violation] = []
        self.exchange = Exchange(
            number=number,
            method=request.method[:20],
            path=request.path[:200],
            credential=not request.headers.keys().isdisjoint(_CARRIERS),
            status=None,
        )

    def note(self, **changes: Any) -> None:
        """Set fields of the exchange."""
        self.exchange = self.exchange._replace(**changes)

    def read(self, limits: Limits, *, counting: bool) -> ModelRequest:
        """The request in its body; what is wrong with it becomes `complaints`. Raises BadJson."""
        notes = Notes()
        value = parse_object(self.request.body, limits)
        asked = self.dialect.read(
            Fields(value, "", notes, self.dialect.parameters), counting=counting
        )
        for rule, sentences in (
            (checks.REQUEST_MALFORMED, notes.malformed),
            (checks.REQUEST_UNSUPPORTED, notes.unsupported),
        ):
            self.complaints += [Violation(rule, sentence) for sentence in sentences]
        self.note(
            api=self.dialect.name,
            model=asked.model,
            stream=asked.stream,
            offered=asked.offered,
            tool_choice=asked.tool_choice,
            unknown_fields=notes.unknown,
        )
        return asked

    def reply(self, body: dict[str, Any]) -> Reply:
        """A successful reply that is no answer of a model."""
        header = (self.dialect.request_id_header, request_id(self.exchange.number))
        return json_reply(200, body, (header,))

    def refuse(
        self, status: int, violations: list[Violation], retry_after_seconds: float | None = None
    ) -> Reply:
        """The refusal of the request for breaking rules."""
        self.note(violations=tuple(violations))
        number = self.exchange.number
        return refusal_reply(self.dialect, status, violations, number, retry_after_seconds)


def _missing(header: str) -> Violation:
    if header == "authorization":
        return Violation(checks.AUTHENTICATION_MISSING, "the request carries no key")
    return Violation(checks.HEADER_MISSING, f"the header {header} is missing")
