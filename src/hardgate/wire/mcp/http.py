"""A scripted MCP server over streamable HTTP, as a service behind the sockets of `wire.server`."""

import base64
import threading
from typing import Any, NamedTuple

from hardgate.documents.wording import quoted, shown
from hardgate.wire.exchange import Served
from hardgate.wire.http1 import BadRequest, Request
from hardgate.wire.json_body import as_json
from hardgate.wire.limits import Limits
from hardgate.wire.mcp import entries, messages, rules
from hardgate.wire.mcp.ledger import MemoryLedger
from hardgate.wire.mcp.messages import BadMessage, Incoming, read_message
from hardgate.wire.mcp.player import (
    ENVELOPE_VERSIONS,
    VERSION_KEY,
    Player,
    Refused,
    Session,
    Taken,
    is_enveloped,
)
from hardgate.wire.reply import CUT, Reply

PATH = "/mcp"

_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_JSON, _EVENTS = "application/json", "text/event-stream"
_BASE64 = "=?base64?", "?="
_NAMED = frozenset({"tools/call"})

# How the codes of refusals show in the status of a request that stands for itself.
_STATUS_OF_CODE = {
    rules.PARSE_ERROR: 400,
    rules.INVALID_REQUEST: 400,
    rules.INVALID_PARAMS: 400,
    rules.HEADER_MISMATCH: 400,
    rules.UNSUPPORTED_VERSION: 400,
    rules.METHOD_NOT_FOUND: 404,
}
_ALLOW = (("allow", "POST, DELETE"),)
_CLOSED = Reply(503)
_OVER_LIMIT = Reply(429)


class _Unfit(NamedTuple):
    """A request that is refused before its message counts, with a status of HTTP."""

    status: int
    refused: Refused
    headers: tuple[tuple[str, str], ...] = ()


class McpHttpService:
    """The one endpoint of a server; a connection of the protocol is a session."""

    def __init__(self, player: Player, ledger: MemoryLedger, limits: Limits, answers: str) -> None:
        self._player = player
        self._ledger = ledger
        self._limits = limits
        self._streams = answers == "sse"
        self._lock = threading.Lock()
        self._sessions: dict[str, Session] = {}
        self._begun = 0
        self._connection_limits: list[str] = []
        self._closed = False

    def answer(self, request: Request) -> Served:
        """Judge one request and say what to reply."""
        if self._closed:
            return Served(_CLOSED, None)
        if request.method == "GET" and request.path == PATH:
            # It asks for a stream of what the server says by itself, and this one says nothing.
            return Served(Reply(405, _ALLOW), None)
        unfit = _unfit(request)
        if unfit is not None:
            return self._refuse(unfit, len(request.body))
        if request.method == "DELETE":
            return self._end_session(request)
        try:
            message = read_message(request.body, self._limits)
        except BadMessage as problem:
            refused = Refused(problem.code, str(problem), problem.rule, id=problem.id)
            return self._refuse(_Unfit(400, refused), len(request.body))
        enveloped = is_enveloped(message) or request.headers.get(_VERSION) in ENVELOPE_VERSIONS
        session: Session | _Unfit
        if enveloped:
            session = _header_mismatch(request, message) or _stateless()
        else:
            session = self._session(request, message)
        if isinstance(session, _Unfit):
            return self._refuse(session, len(request.body), message)
        return self._take(session, message, request, enveloped=enveloped)

    def refuse(self, error: BadRequest) -> Served:
        """Record something that is no request, and say what to reply."""
        rule = rules.HTTP_MALFORMED if error.limit is None else rules.LIMIT
        refused = Refused(rules.INVALID_REQUEST, str(error), rule, error.limit)
        return self._refuse(_Unfit(error.status, refused), 0)

    def finished(self, number: int, delivered: bool) -> None:
        """Nothing follows: each message was written down before."""

    def hit(self, limit: str) -> None:
        """Note a limit that the connections reached."""
        with self._lock:
            if limit not in self._connection_limits:
                self._connection_limits.append(limit)

    def close(self) -> None:
        """Answer nothing any more."""
        self._closed = True

    @property
    def limits_hit(self) -> tuple[str, ...]:
        """The limits that were reached."""
        with self._lock:
            return tuple(dict.fromkeys([*self._ledger.counts.limits, *self._connection_limits]))

    def _take(
        self, session: Session, message: Incoming, request: Request, *, enveloped: bool
    ) -> Served:
        with self._lock:
            # One message at a time: a session is begun by one answer.
            taken = self._player.take(session, message, len(request.body))
            headers = self._after(session, message, request, taken)
        if taken is None:
            return Served(_OVER_LIMIT, None)
        return Served(self._reply(taken, enveloped=enveloped, headers=headers), None)

    def _after(
        self, session: Session, message: Incoming, request: Request, taken: Taken | None
    ) -> tuple[tuple[str, str], ...]:
        """Begin or end the session that the message was for; the headers that say so."""
        if taken is None:
            return ()
        if taken.entry.outcome == entries.DISCONNECTED:
            self._sessions.pop(request.headers.get(_SESSION, ""), None)
        elif message.method == "initialize" and taken.entry.outcome == entries.ANSWERED:
            self._begun += 1
            name = f"session-{self._begun}"
            self._sessions[name] = session
            return ((_SESSION, name),)
        return ()

    def _reply(
        self, taken: Taken, *, enveloped: bool, headers: tuple[tuple[str, str], ...]
    ) -> Reply:
        outcome = taken.entry.outcome
        if outcome == entries.DISCONNECTED:
            return Reply(None, ending=CUT)
        if outcome == entries.UNAUTHORIZED:
            return Reply(401, (("www-authenticate", "Bearer"),))
        if taken.answer is None:
            return Reply(202 if outcome == entries.ACCEPTED else 400)
        code = taken.entry.code
        status = _STATUS_OF_CODE.get(code, 200) if enveloped and code is not None else 200
        if self._streams and status == 200:
            event = f"event: message\ndata: {as_json(taken.answer)}\n\n".encode()
            kind = ("content-type", _EVENTS)
            return Reply(200, (kind, ("cache-control", "no-store"), *headers), (event,), True)
        return _json(status, taken.answer, headers)

    def _session(self, request: Request, message: Incoming) -> Session | _Unfit:
        """The session of a message, a new one for the first."""
        name = request.headers.get(_SESSION)
        if name is None:
            if message.method == "initialize":
                return Session()
            text = f"the header {_SESSION} is missing"
            return _unfit_for(400, text, rules.SESSION_MISSING)
        session = self._named(name)
        if isinstance(session, _Unfit):
            return session
        version = request.headers.get(_VERSION, session.version)
        if version != session.version:
            text = f"{_VERSION}: received {quoted(version)}, agreed was {session.version}"
            return _unfit_for(400, text, rules.HEADER_WRONG)
        return session

    def _named(self, name: str) -> Session | _Unfit:
        with self._lock:
            if name in self._sessions:
                return self._sessions[name]
            begun = [f"session-{number + 1}" for number in range(self._begun)]
        if name in begun:
            return _unfit_for(404, "the session has ended")
        text = f"{_SESSION}: {quoted(name)} is no session of this server"
        return _unfit_for(404, text, rules.SESSION_UNKNOWN)

    def _end_session(self, request: Request) -> Served:
        """What DELETE asks for; it is no message and is not recorded unless it is wrong."""
        name = request.headers.get(_SESSION)
        if name is None:
            text = f"the header {_SESSION} is missing"
            return self._refuse(_unfit_for(400, text, rules.SESSION_MISSING), 0)
        session = self._named(name)
        if isinstance(session, _Unfit):
            return self._refuse(session, 0)
        with self._lock:
            self._sessions.pop(name, None)
        return Served(Reply(204), None)

    def _refuse(self, unfit: _Unfit, size_bytes: int, message: Incoming | None = None) -> Served:
        taken = self._player.refuse(_stateless(), unfit.refused, size_bytes, message)
        if taken is None or taken.answer is None:
            return Served(_OVER_LIMIT, None)
        return Served(_json(unfit.status, taken.answer, unfit.headers), None)


def _unfit_for(
    status: int,
    message: str,
    rule: str | None = None,
    code: int = rules.INVALID_REQUEST,
    headers: tuple[tuple[str, str], ...] = (),
) -> _Unfit:
    return _Unfit(status, Refused(code, message, rule), headers)


def _stateless() -> Session:
    return Session(lasting=False)


def _json(status: int, answer: dict[str, Any], headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    kind = ("content-type", _JSON)
    return Reply(status, (kind, *headers), (as_json(answer).encode(),))


def _unfit(request: Request) -> _Unfit | None:
    """Why a request cannot carry a message of the protocol."""
    if request.path != PATH:
        text = f"there is no {quoted(request.path)}; allowed: {PATH}"
        return _unfit_for(404, text, rules.PATH_UNKNOWN)
    if request.method == "DELETE":
        return None
    if request.method != "POST":
        text = "allowed here: POST or DELETE"
        return _unfit_for(405, text, rules.METHOD_WRONG, headers=_ALLOW)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON:
        text = f"content-type: received {shown(kind)}, expected {_JSON}"
        return _unfit_for(415, text, rules.HEADER_WRONG)
    accepted = request.headers.get("accept", "").lower()
    if "*/*" not in accepted and not (_JSON in accepted and _EVENTS in accepted):
        text = f"accept: received {quoted(accepted)}, expected {_JSON}, {_EVENTS}"
        return _unfit_for(406, text, rules.HEADER_WRONG)
    return None


def _header_mismatch(request: Request, message: Incoming) -> _Unfit | None:
    """Where the headers of a request that stands for itself say another thing than its body."""
    if message.kind != messages.REQUEST:
        return None
    if not is_enveloped(message):
        text = "_meta: expected the version and the capabilities of the client"
        return _unfit_for(400, text, rules.PARAMS_MALFORMED, rules.INVALID_PARAMS)
    wanted: list[tuple[str, Any]] = [
        (_VERSION, message.params["_meta"].get(VERSION_KEY)),
        ("mcp-method", message.method),
    ]
    if message.method in _NAMED:
        wanted.append(("mcp-name", message.params.get("name")))
    for header, value in wanted:
        found = _decoded(request.headers.get(header))
        if found != value and value is not None:
            text = f"{header}: received {shown(found)}, the message says {shown(value)}"
            return _unfit_for(400, text, rules.HEADER_WRONG, rules.HEADER_MISMATCH)
    return None


def _decoded(value: str | None) -> str | None:
    """The value of a header; one that is no visible ASCII comes in Base64."""
    if value is None or not (value.startswith(_BASE64[0]) and value.endswith(_BASE64[1])):
        return value
    try:
        encoded = value[len(_BASE64[0]) : -len(_BASE64[1])]
        return base64.b64decode(encoded, validate=True).decode()
    except ValueError:
        return value
