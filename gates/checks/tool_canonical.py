"""Canonical arguments: what must not change their form, and what must.

Inputs are JSON objects as a model may write them: any order of keys, any blanks, strings composed
or decomposed, whole numbers and fractions. Every call also goes through the runtime, because what
counts is the hash that is on record.
"""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections.abc import Callable
from random import Random
from typing import Any

from agent_core.domain.canonical import (
    CanonicalArguments,
    NotCanonical,
    canonicalize,
    parse_json_object,
)
from agent_core.domain.model_script import FinalTurn, ScriptedToolCall, ToolCallsTurn
from gates.checks.driving import Stage
from hardgate.kinds.checking import Violation, require
from hardgate.kinds.property import PropertyContext

# Composed and decomposed accents, a singleton, marks in two orders, Hangul, and characters that
# only the compatibility forms take for others: these may not be mixed up.
_PIECES = (
    *(
        "é",
        "e\u0301",
        "Å",
        "\u212b",
        "\u2126",
        "q\u0323\u0307",
        "q\u0307\u0323",
        "한",
        "\u1112\u1161",
    ),
    *("ﬁ", "fi", "²", "2", "Ａ", "A", "a", "ß", "ss", "İ", "i", "", " ", '"', "\\", "\n", "\x7f"),
    *("true", "null", "1", "1.0", "😀", "\u2028"),
)

_CONFUSABLE: tuple[tuple[Any, Any], ...] = (
    *(("ﬁ", "fi"), ("²", "2"), ("Ａ", "A"), ("A", "a"), ("ß", "ss"), ("a", "a "), ("", None)),
    *((True, 1), (False, 0), (True, "true"), (None, "null"), (1, "1"), (1, [1]), ([], {})),
    *((0.1, 0.1000001), (2**53, 2**53 + 1), (1, -1), ([1, 2], [2, 1]), ({"b": 1}, {"c": 1})),
)


def check(context: PropertyContext) -> None:
    """The three properties of the gate's statement."""
    objects, nearby, colliding = _strategies()
    from hypothesis import strategies as st

    context.for_all(form_is_kept, value=objects, seed=st.integers(0, 2**32))
    examples = [{"pair": ({"a": one}, {"a": other})} for one, other in _CONFUSABLE]
    context.for_all(forms_differ, examples=examples, pair=nearby)
    context.for_all(collision_is_refused, text=colliding)


def form_is_kept(value: dict[str, Any], seed: int) -> None:
    """Neither the order of keys nor recomposition changes the form or the recorded hash."""
    random, form = Random(seed), _form(value)
    require(
        form.sha256 == hashlib.sha256(form.text.encode("utf-8")).hexdigest(),
        "hash_of_form",
        f"{form.sha256} is not the hash of the canonical text",
    )
    reordered = _mapped(value, random, keys=True)
    require(_form(reordered).text == form.text, "key_order", "another order, another form")
    recomposed = _mapped(value, random, text=_recomposed)
    require(_form(recomposed).text == form.text, "unicode_form", "recomposed, another form")
    both = _mapped(recomposed, random, keys=True)
    recorded = _recorded_hashes(_written(value, random), _written(both, random))
    require(
        recorded == (form.sha256, form.sha256),
        "recorded_hash",
        f"recorded {recorded}, the hash of the form is {form.sha256}",
    )


def forms_differ(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Two objects that are not the same value have different forms."""
    one, other = pair
    if not _same(one, other):
        forms = _form(one), _form(other)
        require(
            forms[0].text != forms[1].text and forms[0].sha256 != forms[1].sha256,
            "values_confused",
            f"both have the form {forms[0].text}",
        )


def collision_is_refused(text: str) -> None:
    """An object that has one key twice after normalization has no form: it is two values."""
    try:
        form = canonicalize(parse_json_object(text))
    except ValueError:  # NotCanonical is one; a key that is spelled alike is refused before
        return
    raise Violation("collision_accepted", f"{text} has the form {form.text}")


def _form(value: dict[str, Any]) -> CanonicalArguments:
    try:
        return canonicalize(value)
    except NotCanonical as error:
        raise Violation("value_refused", str(error)) from None


def _recorded_hashes(*texts: str) -> tuple[str | None, ...]:
    """The argument hashes that the runtime records for calls with these argument texts."""
    calls = tuple(
        ScriptedToolCall(f"call_{number}", "probe.absent", text)
        for number, text in enumerate(texts)
    )
    played = Stage([ToolCallsTurn(calls), FinalTurn("Done.")]).play()
    return tuple(row.normalized_arguments_hash for row in played.invocations)


def _written(value: dict[str, Any], random: Random) -> str:
    """One of the ways to write a value as JSON."""
    blanks = random.choice([None, 1, 3])
    return json.dumps(value, ensure_ascii=random.random() < 0.5, indent=blanks)


def _recomposed(text: str, random: Random) -> str:
    return unicodedata.normalize(random.choice(["NFC", "NFD"]), text)


def _mapped(
    value: Any,
    random: Random,
    keys: bool = False,
    text: Callable[[str, Random], str] = lambda text, random: text,
) -> Any:
    """A value with its keys shuffled, or its strings rewritten, at every depth."""
    if isinstance(value, str):
        return text(value, random)
    if isinstance(value, list):
        return [_mapped(item, random, keys, text) for item in value]
    if isinstance(value, dict):
        items = list(value.items())
        if keys:
            random.shuffle(items)
        return {text(key, random): _mapped(item, random, keys, text) for key, item in items}
    return value


def _same(one: Any, other: Any) -> bool:
    """Whether two JSON values are one: strings as composed, True unlike 1, and 1 like 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        ours, theirs = ({_composed(key): item for key, item in d.items()} for d in (one, other))
        return ours.keys() == theirs.keys() and all(_same(ours[key], theirs[key]) for key in ours)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, str) and isinstance(other, str):
        return _composed(one) == _composed(other)
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return one is None and other is None


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _strategies() -> tuple[Any, Any, Any]:
    """Objects, pairs of objects that differ in one place at most, and texts with a doubled key."""
    from hypothesis import strategies as st

    pieces = st.sampled_from(_PIECES)
    texts = pieces | st.tuples(pieces, pieces, pieces).map("".join)
    floats = st.floats(allow_nan=False, allow_infinity=False).filter(
        lambda number: number != 0 or math.copysign(1, number) > 0
    )
    scalars = st.one_of(st.none(), st.booleans(), st.integers(), floats, texts)

    def objects_of(members: Any) -> Any:
        return st.lists(
            st.tuples(texts, members), max_size=4, unique_by=lambda item: _blurred(item[0])
        ).map(dict)

    values = st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | objects_of(inner), max_leaves=5
    )
    objects = objects_of(values)
    nearby = st.tuples(objects, texts, values, values | scalars.flatmap(_neighbours)).map(
        lambda drawn: ({**drawn[0], drawn[1]: drawn[2]}, {**drawn[0], drawn[1]: drawn[3]})
    )
    close = st.tuples(objects, texts, scalars).flatmap(
        lambda drawn: _neighbours(drawn[2]).map(
            lambda other: ({**drawn[0], drawn[1]: drawn[2]}, {**drawn[0], drawn[1]: other})
        )
    )
    pairs = (nearby | close).filter(lambda pair: all(map(_has_one_reading, pair)))
    doubled = st.tuples(st.sampled_from(["é", "Å", "q\u0323\u0307", "한"]), texts, scalars)
    colliding = doubled.map(lambda drawn: _with_doubled_key(*drawn))
    return objects, pairs, colliding


def _neighbours(value: Any) -> Any:
    """Strategies of values that a sloppy canonical form takes for the given one."""
    from hypothesis import strategies as st

    if isinstance(value, str):
        composed = unicodedata.normalize("NFKC", value)
        return st.sampled_from(
            [composed, value.casefold(), f"{value} ", value.strip(), value[::-1]]
        )
    near: list[Any] = [[value], {"": value}, json.dumps(value), None]
    if isinstance(value, bool):
        near += [int(value), not value]
    elif isinstance(value, int):
        near += [value + 1, -value, bool(value)]
    elif isinstance(value, float):
        near += [x for x in (math.nextafter(value, 9e9), round(value, 6)) if x != 0]
    return st.sampled_from(near)


def _has_one_reading(value: dict[str, Any]) -> bool:
    return len({_blurred(key) for key in value}) == len(value)


def _blurred(key: str) -> str:
    """A key as the sloppiest form has it: no object has two keys that only this form confuses, so
    that a form which confuses them is found by what it makes of values, and refuses nothing."""
    return unicodedata.normalize("NFKC", key).casefold()


def _with_doubled_key(key: str, more: str, value: Any) -> str:
    """The text of an object with one key in two spellings."""
    one, other = (unicodedata.normalize(form, key + more) for form in ("NFC", "NFD"))
    members = [(one, value), ("between", 1), (other, value)]
    return (
        "{" + ", ".join(f"{json.dumps(name)}: {json.dumps(item)}" for name, item in members) + "}"
    )
