"""JSON from an agent and JSON for it."""

import json
import math
from typing import Any

from hardgate.documents.wording import quoted
from hardgate.wire.limits import Limits


class BadJson(Exception):
    """The text is no JSON object within the limits; the message says why."""


def parse_object(body: bytes, limits: Limits, what: str = "the body") -> dict[str, Any]:
    """The object that a request's body, or what `what` names, holds. Raises BadJson."""
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except UnicodeDecodeError as error:
        raise BadJson(f"{what} is no UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise BadJson(f"{what} is nested deeper than {limits.json_depth} levels") from None
    except ValueError as error:
        raise BadJson(f"{what} is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadJson(f"expected an object, received {type_name(value)}")
    _measure(value, limits, what)
    if b"\\ud" in body.lower():
        _refuse_half_pairs(value, what)
    return value


def as_json(value: Any) -> str:
    """JSON on one line; letters outside ASCII stay as they are."""
    return json.dumps(value, ensure_ascii=False)


def type_name(value: Any) -> str:
    """What JSON calls a value's type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "a number"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {quoted(key)} stands twice in one object")
            seen.add(key)
    return value


def _refuse_half_pairs(value: Any, what: str) -> None:
    """UTF-8 has no bytes for half of a surrogate pair, and the providers refuse it."""
    try:
        as_json(value).encode()
    except UnicodeEncodeError:
        raise BadJson(f"{what} escapes half of a surrogate pair") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{quoted(digits)} is larger than any number that can be kept")
    return number


def _measure(value: Any, limits: Limits, what: str) -> None:
    """Level by level, so that no depth of input can exhaust the stack."""
    level, count, depth = [value], 0, 0
    while level:
        depth += 1
        count += len(level)
        if depth > limits.json_depth:
            raise BadJson(f"{what} is nested deeper than {limits.json_depth} levels")
        if count > limits.json_values:
            raise BadJson(f"{what} holds more than {limits.json_values} values")
        deeper: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                deeper += one.values()
            elif isinstance(one, list):
                deeper += one
        level = deeper
