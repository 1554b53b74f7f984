"""Judges the messages of an agent and answers them from a scripted MCP server; knows no transport.

Two generations of the protocol are spoken. Up to 2025-11-25 a connection begins with `initialize`;
from 2026-07-28 each request tells its version in `_meta` and stands for itself.
"""

import sys
import traceback
from collections.abc import Mapping
from typing import Any, NamedTuple

from hardgate.documents.wording import LIKE, choices, did_you_mean, quoted, shown
from hardgate.fixtures.mcp_server import McpServer, McpTool, action_trigger
from hardgate.wire.checks import Violation
from hardgate.wire.limits import Limits
from hardgate.wire.mcp import entries, messages, rules
from hardgate.wire.mcp.content import wire_content
from hardgate.wire.mcp.entries import Entry, ToolCall
from hardgate.wire.mcp.ledger import Ledger
from hardgate.wire.mcp.messages import Incoming

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ENVELOPE_VERSIONS = ("2026-07-28",)

_META = "io.modelcontextprotocol/"
VERSION_KEY = f"{_META}protocolVersion"
_CAPABILITIES_KEY = f"{_META}clientCapabilities"
_SERVER_VERSION = "1.0.0"
_MOST_SHOWN = 10

# Parts of the protocol that this server does not have; to ask for them is no mistake.
_OTHER_METHODS = frozenset(
    "completion/complete logging/setLevel prompts/get prompts/list resources/list resources/read "
    "resources/subscribe resources/templates/list resources/unsubscribe server/discover "
    "subscriptions/listen tasks/cancel tasks/get tasks/list tasks/result".split()
)
_METHODS = ("initialize", "ping", "tools/call", "tools/list", *sorted(_OTHER_METHODS))


class Session:
    """One connection of an agent; `number` is set by its first message.

    One that is not `lasting` is for a single request over HTTP, and keeps the number 0.
    """

    def __init__(self, *, lasting: bool = True) -> None:
        self.number = 0
        self.lasting = lasting
        self.version = ""
        self.initialized = False
        self.ids: set[messages.MessageId | None] = set()


class Refused(NamedTuple):
    """Why something is refused; `rule` is None where that is no violation.

    `limit` is the name of the limit that was reached, `id` that of a request that is no message.
    """

    code: int
    message: str
    rule: str | None = None
    limit: str | None = None
    id: messages.MessageId | None = None


class Taken(NamedTuple):
    """What to do after a message: the entry says what became of it, `answer` is what to send."""

    entry: Entry
    answer: dict[str, Any] | None


class _Refusal(Exception):
    """A request that is answered with an error; `rule` is None where that is no violation."""

    def __init__(
        self,
        code: int,
        message: str,
        rule: str | None = None,
        data: Any = None,
        expected: Any = None,
        received: Any = None,
        call: ToolCall | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.data = data
        self.call = call
        self.violations = () if rule is None else (Violation(rule, message, expected, received),)


class _Ended(Exception):
    """An action of the script happens instead of an answer."""

    def __init__(self, index: int, call: ToolCall | None = None) -> None:
        super().__init__()
        self.index = index
        self.call = call


class Player:
    """One scripted server. Each message is judged on all that came before, in any connection."""

    def __init__(self, server: McpServer, ledger: Ledger, limits: Limits) -> None:
        self._server = server
        self._ledger = ledger
        self._limits = limits
        self._tools = {tool.name: tool for tool in server.tools}
        self._actions = {action_trigger(one): index for index, one in enumerate(server.script)}

    def take(self, session: Session, message: Incoming, size_bytes: int) -> Taken | None:
        """Judge a message and say what to answer; None once a limit is reached."""
        with self._ledger.held():
            entry = self._entry(session, size_bytes, message)
            if (limit := self._limit(size_bytes)) is not None:
                return self._over(limit, entry)
            try:
                taken = self._judged(session, message, entry)
            except Exception as problem:
                # Whatever an agent sends, the server goes on and the case fails with a name.
                traceback.print_exc(file=sys.stderr)
                refused = Refused(rules.INTERNAL_ERROR, type(problem).__name__, rules.INTERNAL)
                taken = _refused(entry, refused)
            return self._kept(taken)

    def refuse(
        self, session: Session, refused: Refused, size_bytes: int, message: Incoming | None = None
    ) -> Taken | None:
        """Record what is refused before its content counts; None as in `take`.

        `message` is what was received, None where that is no message.
        """
        with self._ledger.held():
            entry = self._entry(session, size_bytes, message)
            if (limit := self._limit(size_bytes)) is not None:
                return self._over(limit, entry)
            return self._kept(_refused(entry, refused))

    def _entry(self, session: Session, size_bytes: int, message: Incoming | None) -> Entry:
        """An entry of which only the outcome is missing."""
        counts = self._ledger.counts
        if session.lasting and not session.number:
            session.number = counts.connections + 1
        kind, method, id_, _ = message or (entries.OTHER, "", None, None)
        number = counts.messages + 1
        return Entry(number, session.number, kind, entries.ACCEPTED, size_bytes, method, id_)

    def _limit(self, size_bytes: int) -> str | None:
        """The limit that one more message goes over."""
        counts = self._ledger.counts
        if counts.messages >= self._limits.requests:
            return "requests"
        if counts.message_bytes + size_bytes > self._limits.all_bodies_bytes:
            return "all_bodies_bytes"
        return None

    def _over(self, limit: str, entry: Entry) -> Taken | None:
        """The refusal of what goes over a limit, and nothing the second time."""
        if limit in self._ledger.counts.limits:
            return None
        return self._kept(_refused(entry, over_limit(limit)))

    def _kept(self, taken: Taken) -> Taken:
        self._ledger.add(taken.entry)
        return taken

    def _judged(self, session: Session, message: Incoming, entry: Entry) -> Taken:
        if message.kind == messages.RESPONSE:
            text = "a response was received, but nothing was asked"
            violations = (Violation(rules.RESPONSE_UNEXPECTED, text),)
            return Taken(entry._replace(outcome=entries.REFUSED, violations=violations), None)
        if message.kind == messages.NOTIFICATION:
            return Taken(self._notified(session, message, entry), None)
        try:
            value, call = self._value(session, message)
        except _Refusal as refusal:
            entry = entry._replace(
                outcome=entries.REFUSED,
                code=refusal.code,
                call=refusal.call,
                violations=refusal.violations,
            )
            answer = messages.error(message.id, refusal.code, str(refusal), refusal.data)
            return Taken(entry, answer)
        except _Ended as ended:
            action = self._server.script[ended.index]
            outcome = (
                entries.DISCONNECTED if action.action == "disconnect" else entries.UNAUTHORIZED
            )
            connect = action.at_connect
            return Taken(
                entry._replace(
                    outcome=outcome,
                    action=ended.index,
                    call=ended.call,
                    connect=connect,
                ),
                None,
            )
        entry = entry._replace(outcome=entries.ANSWERED, call=call, connect=self._connect(message))
        return Taken(entry, messages.result(message.id, value))

    def _connect(self, message: Incoming) -> int | None:
        """The ordinal of a message that opens a connection."""
        opens = message.method == "initialize" or (
            message.method == "server/discover" and is_enveloped(message)
        )
        return self._ledger.counts.connects + 1 if opens else None

    def _notified(self, session: Session, message: Incoming, entry: Entry) -> Entry:
        violations: tuple[Violation, ...] = ()
        if message.method == "notifications/initialized":
            if not session.version and session.lasting:
                text = "notifications/initialized was received before initialize"
                violations = (Violation(rules.NOT_INITIALIZED, text),)
            session.initialized = bool(session.version)
        elif not message.method.startswith("notifications/"):
            text = f"the notification {quoted(message.method)} is none of the protocol's"
            violations = (Violation(rules.METHOD_UNKNOWN, text),)
        return entry._replace(violations=violations)

    def _value(
        self, session: Session, message: Incoming
    ) -> tuple[Mapping[str, Any], ToolCall | None]:
        """The result of a request, and the call if it is one. Raises _Refusal and _Ended."""
        if message.id in session.ids:
            text = f"the id {shown(message.id)} was used before in this connection"
            raise _Refusal(rules.INVALID_REQUEST, text, rules.ID_REPEATED)
        session.ids.add(message.id)
        if is_enveloped(message):
            return self._enveloped(message)
        if message.method == "initialize":
            return self._initialize(session, message.params), None
        if message.method == "ping":
            return {}, None
        if message.method not in ("tools/list", "tools/call"):
            raise _unknown_method(message.method)
        if not session.initialized:
            missing = "notifications/initialized" if session.version else "initialize"
            text = f"{message.method} was received before {missing}"
            raise _Refusal(rules.INVALID_REQUEST, text, rules.NOT_INITIALIZED)
        return self._tools_value(message)

    def _enveloped(self, message: Incoming) -> tuple[Mapping[str, Any], ToolCall | None]:
        """The result of a request that stands for itself."""
        meta = message.params["_meta"]
        version = meta[VERSION_KEY]
        if not isinstance(version, str):
            text = f"{VERSION_KEY}: received {shown(version)}, expected a text"
            raise _Refusal(rules.INVALID_PARAMS, text, rules.PARAMS_MALFORMED)
        if version not in ENVELOPE_VERSIONS:
            data = {"supported": list(ENVELOPE_VERSIONS), "requested": version}
            text = f"the version {quoted(version)} is not spoken; {choices(ENVELOPE_VERSIONS)} is"
            raise _Refusal(rules.UNSUPPORTED_VERSION, text, data=data)
        if not isinstance(meta.get(_CAPABILITIES_KEY), dict):
            text = f"{_CAPABILITIES_KEY}: expected an object in _meta"
            raise _Refusal(rules.INVALID_PARAMS, text, rules.PARAMS_MALFORMED)
        call = None
        if message.method == "server/discover":
            self._end_if_scripted("at_connect", self._ledger.counts.connects + 1)
            value: Mapping[str, Any] = {
                "supportedVersions": list(ENVELOPE_VERSIONS),
                "capabilities": {"tools": {}},
                "_meta": {f"{_META}serverInfo": self._info()},
            }
        elif message.method in ("tools/list", "tools/call"):
            value, call = self._tools_value(message)
        else:
            raise _unknown_method(message.method)
        caching = {} if call else {"ttlMs": 0, "cacheScope": "private"}
        return {"resultType": "complete", **value, **caching}, call

    def _initialize(self, session: Session, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if session.version:
            text = "initialize was received again in this connection"
            raise _Refusal(rules.INVALID_REQUEST, text, rules.INITIALIZE_REPEATED)
        info = params.get("clientInfo")
        wanted = (
            (
                "protocolVersion",
                isinstance(params.get("protocolVersion"), str),
                "a text",
            ),
            ("capabilities", isinstance(params.get("capabilities"), dict), "an object"),
            (
                "clientInfo",
                isinstance(info, dict)
                and all(isinstance(info.get(key), str) for key in ("name", "version")),
                "an object with the texts name and version",
            ),
        )
        for key, fits, allowed in wanted:
            if not fits:
                text = f"{key}: received {shown(params.get(key))}, expected {allowed}"
                raise _Refusal(rules.INVALID_PARAMS, text, rules.PARAMS_MALFORMED)
        self._end_if_scripted("at_connect", self._ledger.counts.connects + 1)
        version = params["protocolVersion"]
        session.version = version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        return {
            "protocolVersion": session.version,
            "capabilities": {"tools": {}},
            "serverInfo": self._info(),
        }

    def _info(self) -> dict[str, str]:
        return {"name": self._server.server_id, "version": _SERVER_VERSION}

    def _tools_value(self, message: Incoming) -> tuple[Mapping[str, Any], ToolCall | None]:
        if message.method == "tools/list":
            return self._page(message.params.get("cursor")), None
        return self._called(message.params)

    def _page(self, cursor: Any) -> dict[str, Any]:
        tools = self._server.tools
        size = self._server.page_size or max(len(tools), 1)
        starts = {None: 0} | {f"from-{start}": start for start in range(size, len(tools), size)}
        if not (cursor is None or isinstance(cursor, str)) or cursor not in starts:
            text = f"cursor: received {shown(cursor)}, which no page of the list gave"
            raise _Refusal(rules.INVALID_PARAMS, text, rules.CURSOR_UNKNOWN)
        end = starts[cursor] + size
        listed = [_listed(tool) for tool in tools[starts[cursor] : end]]
        return {"tools": listed} | ({"nextCursor": f"from-{end}"} if end < len(tools) else {})

    def _called(self, params: Mapping[str, Any]) -> tuple[Mapping[str, Any], ToolCall]:
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str):
            text = f"name: received {shown(name)}, expected a text"
            raise _Refusal(rules.INVALID_PARAMS, text, rules.PARAMS_MALFORMED)
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            text = f"arguments: received {shown(arguments)}, expected an object"
            raise _Refusal(rules.INVALID_PARAMS, text, rules.PARAMS_MALFORMED)
        call = ToolCall(self._ledger.counts.calls + 1, name, arguments)
        self._end_if_scripted("at_call", call.ordinal, call)
        if name not in self._tools:
            hint = did_you_mean(name[:100], self._tools, LIKE)
            text = f"the server has no tool {quoted(name)}{hint}"
            raise _Refusal(
                rules.INVALID_PARAMS,
                text,
                rules.TOOL_UNKNOWN,
                None,
                list(self._tools),
                name,
                call,
            )
        return self._replied(self._tools[name], call)

    def _replied(self, tool: McpTool, call: ToolCall) -> tuple[Mapping[str, Any], ToolCall]:
        """The first reply that is for the call and not used up."""
        uses = self._ledger.counts.uses
        for index, reply in enumerate(tool.replies):
            used_up = reply.times is not None and uses.get((tool.name, index), 0) >= reply.times
            if used_up or not reply.answers(call.arguments):
                continue
            value = {"content": list(wire_content(reply)), "isError": reply.error is not None}
            return value, call._replace(reply=index)
        text = f"no reply is scripted for this call of {tool.name}"
        wanted = ["any" if one.when is None else one.when for one in tool.replies[:_MOST_SHOWN]]
        raise _Refusal(
            rules.INTERNAL_ERROR,
            text,
            rules.NO_REPLY,
            None,
            wanted,
            call.arguments,
            call,
        )

    def _end_if_scripted(self, trigger: str, ordinal: int, call: ToolCall | None = None) -> None:
        index = self._actions.get((trigger, ordinal))
        if index is not None:
            raise _Ended(index, call)


def over_limit(limit: str) -> Refused:
    """The refusal of what goes over a limit."""
    return Refused(rules.INVALID_REQUEST, f"the limit {limit} is reached", rules.LIMIT, limit)


def _refused(entry: Entry, refused: Refused) -> Taken:
    code, text, rule, limit, id_ = refused
    id_ = entry.id if id_ is None else id_
    violations = () if rule is None else (Violation(rule, text),)
    entry = entry._replace(
        outcome=entries.REFUSED, code=code, limit=limit, id=id_, violations=violations
    )
    return Taken(entry, messages.error(id_, code, text))


def is_enveloped(message: Incoming) -> bool:
    """Whether a message tells its version itself, as from 2026-07-28."""
    meta = message.params.get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def _unknown_method(method: str) -> _Refusal:
    if method in _OTHER_METHODS:
        return _Refusal(rules.METHOD_NOT_FOUND, f"the server does not offer {method}")
    text = f"there is no method {quoted(method)}{did_you_mean(method, _METHODS, LIKE)}"
    return _Refusal(rules.METHOD_NOT_FOUND, text, rules.METHOD_UNKNOWN)


def _listed(tool: McpTool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
    }
