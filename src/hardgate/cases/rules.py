"""What a case has to satisfy beyond the shape of its values.

`own_problems` needs the case alone: nothing in it may contradict itself, be said twice, or be
unable to fail. `name_problems` also needs the names that the subject knows.
"""

import re
from collections.abc import Iterable, Iterator

from hardgate.cases.answer_text import normalized
from hardgate.cases.model import Case, Expected
from hardgate.cases.vocabulary import Vocabulary
from hardgate.documents.problems import Problem
from hardgate.documents.strict_yaml import Document, Keys
from hardgate.documents.wording import choices, did_you_mean, quoted

# A number of two or more digits, then the case's name.
FILE_NAME = re.compile(r"(?:.*/)?([0-9]{2,4})_([^/]*)\.yaml")

# Not an expectation: `implicit` only takes checks away.
_NO_EXPECTATION = "implicit"


def own_problems(case: Case, document: Document) -> list[Problem]:
    """Every problem of one case that needs no other file."""
    return [
        *_file_name(case, document),
        *_nothing_expected(case.expected, document),
        *_cannot_fail(case.expected, document),
        *_said_twice(case, document),
        *_mixed_counts(case.expected, document),
        *_contradictions(case.expected, document),
    ]


def name_problems(
    case: Case, document: Document, vocabulary: Vocabulary, proposed_tools: frozenset[str]
) -> list[Problem]:
    """A problem for each name that the subject does not know.

    `proposed_tools` are the names that the case's script proposes: a case may speak about a tool
    that its model invents.
    """
    expected = case.expected
    known = vocabulary.tools
    spoken_of = None if known is None else known | proposed_tools
    lists: tuple[tuple[str, frozenset[str] | None, Iterable[tuple[Keys, str]]], ...] = (
        ("principal", vocabulary.principals, [(("principal",), case.principal)]),
        (
            "policy_profile",
            vocabulary.policy_profiles,
            [(("policy_profile",), case.policy_profile)],
        ),
        ("tool", known, _items(case.fixtures.tools, "fixtures", "tools")),
        ("tool", spoken_of, _call_names(expected)),
        ("tool", spoken_of, _effect_tools(expected)),
        ("tool", spoken_of, _expected_items(expected, "forbidden_tool_calls")),
        ("event_type", vocabulary.event_types, _expected_items(expected, "event_order")),
        ("reason_code", vocabulary.reason_codes, _expected_items(expected, "reason_codes")),
    )
    problems = list(_unknown_status(expected, document, vocabulary))
    for kind, names, items in lists:
        problems += [
            document.problem(keys, f"case.unknown_{kind}", _unknown(name, names))
            for keys, name in items
            if names is not None and name not in names
        ]
    return problems


def _unknown(name: str, known: frozenset[str]) -> str:
    ordered = sorted(known)
    return f"found {quoted(name)}; allowed: {choices(ordered)}{did_you_mean(name, ordered)}"


def _items(names: Iterable[str] | None, *keys: str) -> list[tuple[Keys, str]]:
    return [((*keys, index), name) for index, name in enumerate(names or ())]


def _expected_items(expected: Expected, key: str) -> list[tuple[Keys, str]]:
    return _items(getattr(expected, key), "expected", key)


def _call_names(expected: Expected) -> list[tuple[Keys, str]]:
    calls = expected.tool_calls or ()
    return [
        (("expected", "tool_calls", index, "name"), call.name) for index, call in enumerate(calls)
    ]


def _effect_tools(expected: Expected) -> list[tuple[Keys, str]]:
    effects = expected.effects
    return [
        (("expected", "effects", index, "tool"), effect.tool)
        for index, effect in enumerate(effects)
    ]


def _unknown_status(
    expected: Expected, document: Document, vocabulary: Vocabulary
) -> Iterator[Problem]:
    status = expected.terminal_status
    if status is None:
        return
    known = vocabulary.terminal_statuses
    if status.upper() in known and status in (status.upper(), status.lower()):
        return
    names = sorted(name.lower() for name in known)
    message = f"found {quoted(status)}; allowed: {choices(names)}{did_you_mean(status, names)}"
    yield document.problem(("expected", "terminal_status"), "case.unknown_status", message)


def _file_name(case: Case, document: Document) -> Iterator[Problem]:
    match = FILE_NAME.fullmatch(document.path)
    if match is None:
        message = f"found the file {quoted(document.path)}; allowed: NN_{case.name}.yaml"
        yield document.problem((), "case.file_name", message)
    elif match[2] != case.name:
        file = document.path.rsplit("/", 1)[-1]
        message = (
            f"found {quoted(case.name)}; allowed: {quoted(match[2])}, as the file is named, "
            f"or the file name {match[1]}_{case.name}.yaml instead of {file}"
        )
        yield document.problem(("name",), "case.file_name", message)


def _nothing_expected(expected: Expected, document: Document) -> Iterator[Problem]:
    populated = [
        name
        for name, one in Expected.keys.items()
        if name != _NO_EXPECTATION and getattr(expected, name) != one.default
    ]
    if not populated:
        names = choices(sorted(name for name in Expected.keys if name != _NO_EXPECTATION))
        message = f"found no expectation, so no run could fail; allowed: at least one of {names}"
        yield document.problem(("expected",), "case.nothing_expected", message, at_key=True)


def _cannot_fail(expected: Expected, document: Document) -> Iterator[Problem]:
    """Texts and patterns that every answer satisfies, and patterns that are none."""
    for keys, text in _expected_items(expected, "final_text_contains"):
        if not normalized(text):
            message = (
                f"found {quoted(text)}, of which the comparison leaves nothing, so it cannot fail; "
                "allowed: a text with other characters than emphasis (* _ `) and white space"
            )
            yield document.problem(keys, "case.cannot_fail", message)
    pattern = expected.final_text_matches
    if pattern is None:
        return
    keys = ("expected", "final_text_matches")
    try:
        matches_nothing = re.search(pattern, "") is not None
    except (re.error, OverflowError, RecursionError) as error:
        message = f"found {quoted(pattern)}: {error}; allowed: a regular expression of Python"
        yield document.problem(keys, "case.pattern", message)
        return
    if matches_nothing:
        message = (
            f"found {quoted(pattern)}, which matches the empty answer, so it cannot fail; "
            "allowed: a pattern that needs at least one character"
        )
        yield document.problem(keys, "case.cannot_fail", message)


def _said_twice(case: Case, document: Document) -> Iterator[Problem]:
    expected = case.expected
    texts = _expected_items(expected, "final_text_contains")
    for items in (
        _items(case.tags, "tags"),
        _items(case.fixtures.tools, "fixtures", "tools"),
        [(keys, normalized(text)) for keys, text in texts],
        _expected_items(expected, "forbidden_tool_calls"),
        _expected_items(expected, "reason_codes"),
        _effect_tools(expected),
    ):
        seen: dict[str, Keys] = {}
        for keys, name in items:
            if name in seen:
                line, column = document.position(seen[name])
                message = (
                    f"found {quoted(name)} again (first at {line}:{column}); allowed: each once"
                )
                yield document.problem(keys, "case.said_twice", message)
            seen.setdefault(name, keys)


def _mixed_counts(expected: Expected, document: Document) -> Iterator[Problem]:
    """Entries for one tool either all have a count, or none has: else no total is expected."""
    counted: dict[str, bool] = {}
    for index, call in enumerate(expected.tool_calls or ()):
        has_count = call.count is not None
        if counted.setdefault(call.name, has_count) != has_count:
            message = (
                f"found an entry for {call.name} {'with' if has_count else 'without'} count after "
                f"one {'without' if has_count else 'with'}; "
                "allowed: a count in all entries of a tool, or in none"
            )
            keys = ("expected", "tool_calls", index)
            yield document.problem(keys, "case.mixed_counts", message)


def _contradictions(expected: Expected, document: Document) -> Iterator[Problem]:
    """Expectations that no run can meet together."""
    rule = "case.contradiction"
    if expected.no_tools:
        for key in ("tool_calls", "effects", "reason_codes"):
            if getattr(expected, key):
                message = f"found {key} beside no_tools; allowed: one of the two"
                yield document.problem(("expected", key), rule, message, at_key=True)
    forbidden = set(expected.forbidden_tool_calls or ())
    for keys, name in (*_call_names(expected), *_effect_tools(expected)):
        if name in forbidden:
            message = f"found {quoted(name)}, which forbidden_tool_calls has too; allowed: one"
            yield document.problem(keys, rule, message)
