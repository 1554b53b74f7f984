"""JSON-RPC 2.0: reading what an agent sends, and building answers."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hardgate.documents.wording import choices, shown
from hardgate.wire.json_body import BadJson, parse_object
from hardgate.wire.limits import Limits
from hardgate.wire.mcp import rules

REQUEST = "request"
NOTIFICATION = "notification"
RESPONSE = "response"

LONGEST_ID = 200
LONGEST_METHOD = 200
_LARGEST_ID = 2**63

MessageId = int | str


class Incoming(NamedTuple):
    """One message. A notification has no `id`, a response no `method`; `params` is never None."""

    kind: str
    method: str
    id: MessageId | None
    params: Mapping[str, Any]


class BadMessage(Exception):
    """What was received is no message; str() says why. `id` is that of the request, if known."""

    def __init__(self, rule: str, code: int, message: str, id_: MessageId | None = None) -> None:
        super().__init__(message)
        self.rule = rule
        self.code = code
        self.id = id_


def read_message(data: bytes, limits: Limits) -> Incoming:
    """The message in some bytes. Raises BadMessage."""
    if data.lstrip()[:1] == b"[":
        message = "received a list; batches are not part of the protocol"
        raise BadMessage(rules.MESSAGE_MALFORMED, rules.INVALID_REQUEST, message)
    try:
        value = parse_object(data, limits)
    except BadJson as error:
        raise BadMessage(rules.JSON_MALFORMED, rules.PARSE_ERROR, str(error)) from None
    id_ = value.get("id")
    known = id_ if _is_id(id_) else None
    complaint = _complaint(value)
    if complaint:
        raise BadMessage(rules.MESSAGE_MALFORMED, rules.INVALID_REQUEST, complaint, known)
    if "method" not in value:
        return Incoming(RESPONSE, "", known, {})
    kind = REQUEST if "id" in value else NOTIFICATION
    return Incoming(kind, value["method"], known, value.get("params", {}))


def result(id_: MessageId | None, value: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request that succeeds."""
    return {"jsonrpc": "2.0", "id": id_, "result": value}


def error(id_: MessageId | None, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """The answer to a request that fails."""
    detail = {"code": code, "message": message}
    return {
        "jsonrpc": "2.0",
        "id": id_,
        "error": detail | ({} if data is None else {"data": data}),
    }


def _complaint(value: Mapping[str, Any]) -> str | None:
    if value.get("jsonrpc") != "2.0":
        return f"jsonrpc: received {shown(value.get('jsonrpc'))}, expected '2.0'"
    if "id" in value and not _is_id(value["id"]):
        return f"id: received {shown(value['id'])}, expected a whole number or a short text"
    if "method" not in value:
        if "id" not in value or ("result" in value) == ("error" in value):
            return f"received none of {choices(('method', 'result', 'error'))} with its id"
        return None
    method = value["method"]
    if not isinstance(method, str) or not 0 < len(method) <= LONGEST_METHOD:
        return f"method: received {shown(method)}, expected a short text"
    if not isinstance(value.get("params", {}), dict):
        return f"params: received {shown(value['params'])}, expected an object"
    return None


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST_ID
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST_ID
