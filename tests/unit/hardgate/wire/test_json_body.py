"""Bodies are JSON objects within limits, or refused with the reason."""

import pytest

from hardgate.wire.json_body import BadJson, parse_object
from hardgate.wire.limits import Limits

LIMITS = Limits(json_depth=4, json_values=20)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"{}", {}),
        ('{"a": "漢字", "b": [1, null, true]}'.encode(), {"a": "漢字", "b": [1, None, True]}),
        (rb'{"a": "\ud83d\ude00"}', {"a": "\U0001f600"}),
        (rb'{"a": "\\ud800"}', {"a": r"\ud800"}),
        (b'{"a": {"b": {"c": 1}}}', {"a": {"b": {"c": 1}}}),
    ],
)
def test_objects(body, value):
    assert parse_object(body, LIMITS) == value


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"{} {}", "no JSON"),
        (b"[]", "received a list"),
        (b"null", "received null"),
        (b"true", "received a boolean"),
        (b'"x"', "received a text"),
        (b"1.5", "received a number"),
        (b'{"a": NaN}', "NaN is no JSON"),
        (b'{"a": -Infinity}', "-Infinity is no JSON"),
        (b'{"a": -1e999}', "'-1e999' is larger than"),
        (b'{"a": 1, "b": 2, "a": 3}', "'a' stands twice"),
        (b'{"a": "\xff"}', "no UTF-8 at byte 7"),
        (b"\xef\xbb\xbf{}", "no JSON"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "no JSON"),
        (rb'{"a": "\ud83d"}', "half of a surrogate pair"),
        (rb'{"\uDE00": 1}', "half of a surrogate pair"),
        (b'{"a": {"b": {"c": {"d": 1}}}}', "deeper than 4"),
        (b'{"a": [' + b"1," * 18 + b"1]}", "more than 20 values"),
        (b'{"a": ' + b"[" * 100_000, "deeper than 4"),
    ],
)
def test_what_is_refused(body, words):
    with pytest.raises(BadJson, match=words):
        parse_object(body, LIMITS)


def test_the_limits_themselves_are_allowed():
    assert parse_object(b'{"a": [[1]]}', LIMITS)
    assert parse_object(b'{"a": [' + b"1," * 17 + b"1]}", LIMITS)


def test_a_refusal_names_what_was_read():
    with pytest.raises(BadJson, match=r"^the line is no JSON"):
        parse_object(b"{", LIMITS, "the line")
