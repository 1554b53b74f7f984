"""What one `expected` block has to satisfy by itself: it can fail, and it can be met.

Nothing in it may contradict itself, be said twice, or be unable to fail.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hardgate.cases.expected import Expected
from hardgate.documents.problems import Problem
from hardgate.documents.strict_yaml import Document, Keys
from hardgate.documents.wording import quoted
from hardgate.fixtures.answer_text import normalized

CONTRADICTION = "case.contradiction"
CANNOT_FAIL = "case.cannot_fail"

# Not an expectation: `implicit` only takes checks away.
_NO_EXPECTATION = "implicit"
_COUNT_KEYS = ("count", "min_count", "max_count")


class Block(NamedTuple):
    """An `expected` block and the keys that lead to it."""

    expected: Expected
    document: Document
    at: Keys

    def problem(self, keys: Keys, rule: str, message: str, *, at_key: bool = False) -> Problem:
        return self.document.problem((*self.at, *keys), rule, message, at_key=at_key)

    def items(self, key: str) -> list[tuple[Keys, str]]:
        """The texts of a list with the keys that lead to each; none where the list is not there."""
        return [
            ((key, index), text) for index, text in enumerate(getattr(self.expected, key) or ())
        ]

    def tool_names(self) -> list[tuple[Keys, str]]:
        """Every tool that has to be called, with the keys of its name."""
        expected = self.expected
        return [
            *self.items("tools"),
            *self.items("tools_in_order"),
            *(
                (("tool_calls", index, "name"), call.name)
                for index, call in enumerate(expected.tool_calls or ())
            ),
            *((("args", index, "tool"), one.tool) for index, one in enumerate(expected.args or ())),
            *((("effects", index, "tool"), one.tool) for index, one in enumerate(expected.effects)),
        ]


def expected_problems(block: Block) -> list[Problem]:
    """Every problem of one block that needs no other part of the case."""
    return [
        *_nothing_expected(block),
        *_says_nothing(block),
        *_cannot_fail(block),
        *_said_twice(block),
        *_counts(block),
        *_tool_contradictions(block),
        *_ending_contradictions(block),
        *_text_contradictions(block),
    ]


def _nothing_expected(block: Block) -> Iterator[Problem]:
    fields = {
        name: field for name, field in Expected.model_fields.items() if name != _NO_EXPECTATION
    }
    if all(getattr(block.expected, name) == field.default for name, field in fields.items()):
        message = (
            "found no expectation, so no run could fail; allowed: at least one key of expected, "
            "such as terminal_status, final_text_contains or tool_calls"
        )
        yield block.problem((), "case.nothing_expected", message, at_key=True)


def _says_nothing(block: Block) -> Iterator[Problem]:
    """Maps whose keys may all be left out, and of which one has to be there."""
    expected = block.expected
    for index, one in enumerate(expected.args or ()):
        if not one.model_fields_set & {"equals", "contains", "subset"}:
            message = "found nothing to compare with; allowed: equals, contains or subset"
            yield block.problem(("args", index), "case.says_nothing", message)
    if expected.taint is not None and not expected.taint.model_fields_set:
        message = "found no label; allowed: private, untrusted or both"
        yield block.problem(("taint",), "case.says_nothing", message)


def _cannot_fail(block: Block) -> Iterator[Problem]:
    """Texts and patterns that every answer satisfies, and patterns that are none."""
    for key in ("final_text_contains", "final_text_not_contains", "final_text_contains_any"):
        for keys, text in block.items(key):
            if not normalized(text):
                message = (
                    f"found {quoted(text)}, of which the comparison leaves nothing; allowed: "
                    "a text with other characters than emphasis (* _ `) and white space"
                )
                yield block.problem(keys, CANNOT_FAIL, message)
    pattern = block.expected.final_text_matches
    if pattern is None:
        return
    try:
        matches_nothing = re.search(pattern, "") is not None
    except (re.error, OverflowError, RecursionError) as error:
        message = f"found {quoted(pattern)}: {error}; allowed: a regular expression of Python"
        yield block.problem(("final_text_matches",), "case.pattern", message)
        return
    if matches_nothing:
        message = (
            f"found {quoted(pattern)}, which matches the empty answer, so it cannot fail; "
            "allowed: a pattern that needs at least one character"
        )
        yield block.problem(("final_text_matches",), CANNOT_FAIL, message)


def _said_twice(block: Block) -> Iterator[Problem]:
    expected = block.expected
    for key in ("final_text_contains", "final_text_not_contains", "final_text_contains_any"):
        texts = [(keys, normalized(text)) for keys, text in block.items(key)]
        yield from each_once(block.document, block.at, texts)
    for key in ("forbidden_tool_calls", "reason_codes", "absent_strings"):
        yield from each_once(block.document, block.at, block.items(key))
    effects = [
        (("effects", index, "tool"), f"{one.tool}, watermark {one.watermark}")
        for index, one in enumerate(expected.effects)
    ]
    yield from each_once(block.document, block.at, effects)
    changes: list[tuple[Keys, str]] = [
        (("workspace", change, index), path)
        for change in ("created", "changed", "removed")
        for index, path in enumerate(getattr(expected.workspace, change))
    ]
    yield from each_once(block.document, block.at, changes)


def each_once(document: Document, at: Keys, items: Iterable[tuple[Keys, str]]) -> Iterator[Problem]:
    """A problem for each text that stands in `items` (below `at`) a second time."""
    seen: dict[str, Keys] = {}
    for keys, text in items:
        place = (*at, *keys)
        if text in seen:
            line, column = document.position(seen[text])
            message = f"found {quoted(text)} again (first at {line}:{column}); allowed: each once"
            yield document.problem(place, "case.said_twice", message)
        seen.setdefault(text, place)


def _counts(block: Block) -> Iterator[Problem]:
    """Entries for one tool use the same kind of count: else no total would be expected."""
    kinds: dict[str, frozenset[str]] = {}
    for index, call in enumerate(block.expected.tool_calls or ()):
        given = call.model_fields_set
        if "count" in given and len(given & set(_COUNT_KEYS)) > 1:
            message = "found count beside min_count or max_count; allowed: count, or the others"
            yield block.problem(("tool_calls", index, "count"), CONTRADICTION, message, at_key=True)
        if call.min_count and call.max_count and call.min_count > call.max_count:
            message = (
                f"found min_count {call.min_count} above max_count {call.max_count}; "
                "allowed: at most as many"
            )
            yield block.problem(("tool_calls", index, "min_count"), CONTRADICTION, message)
        kind = frozenset(given & set(_COUNT_KEYS))
        if kinds.setdefault(call.name, kind) != kind:
            message = (
                f"found an entry for {call.name} with {_named(kind)} after one with "
                f"{_named(kinds[call.name])}; allowed: the same in all entries of a tool"
            )
            yield block.problem(("tool_calls", index), "case.mixed_counts", message)


def _named(kind: frozenset[str]) -> str:
    return " and ".join(name for name in _COUNT_KEYS if name in kind) or "no count"


def _tool_contradictions(block: Block) -> Iterator[Problem]:
    """Expectations about tools that no run can meet together."""
    expected = block.expected
    if expected.no_tools:
        for key in ("tools", "tools_in_order", "tool_calls", "args", "effects", "reason_codes"):
            if getattr(expected, key):
                message = f"found {key} beside no_tools; allowed: one of the two"
                yield block.problem((key,), CONTRADICTION, message, at_key=True)
        if expected.ended_on_failed_call or expected.tool_started_count:
            key = "ended_on_failed_call" if expected.ended_on_failed_call else "tool_started_count"
            message = f"found {key} beside no_tools; allowed: one of the two"
            yield block.problem((key,), CONTRADICTION, message, at_key=True)
    forbidden = set(expected.forbidden_tool_calls or ())
    for keys, name in block.tool_names():
        if name in forbidden:
            message = f"found {quoted(name)}, which forbidden_tool_calls has too; allowed: one"
            yield block.problem(keys, CONTRADICTION, message)
    most = expected.maximum_model_calls
    if expected.model_calls and most and expected.model_calls > most:
        message = f"found model_calls above maximum_model_calls {most}; allowed: at most as many"
        yield block.problem(("model_calls",), CONTRADICTION, message)


_STATUS_OF_CAUSE = {"completed": "COMPLETED", "interrupted": "CANCELLED"}


def _ending_contradictions(block: Block) -> Iterator[Problem]:
    """A status, a reason and a cause that do not go together."""
    expected = block.expected
    status = expected.terminal_status.upper() if expected.terminal_status else None
    if expected.stop_cause is not None:
        wanted = _STATUS_OF_CAUSE.get(expected.stop_cause, "FAILED")
        if status not in (None, wanted):
            message = (
                f"found stop_cause {expected.stop_cause} beside terminal_status {status.lower()}; "
                f"allowed: {wanted.lower()} with it"
            )
            yield block.problem(("stop_cause",), CONTRADICTION, message)
        status = wanted
    if expected.failure_reason is not None and status not in (None, "FAILED"):
        message = (
            f"found failure_reason beside a run that ends as {status.lower()}; "
            "allowed: with a failed run only"
        )
        yield block.problem(("failure_reason",), CONTRADICTION, message, at_key=True)
    if expected.ended_on_failed_call and status not in (None, "COMPLETED"):
        message = (
            f"found ended_on_failed_call true beside a run that ends as {status.lower()}; "
            "allowed: with a completed run only"
        )
        yield block.problem(("ended_on_failed_call",), CONTRADICTION, message)


def _text_contradictions(block: Block) -> Iterator[Problem]:
    """Texts that have to be in the answer and must not be in it."""
    unwanted = [(keys, normalized(text)) for keys, text in block.items("final_text_not_contains")]
    wanted = [normalized(text) for _, text in block.items("final_text_contains")]
    if block.expected.final_text is not None:
        wanted.append(normalized(block.expected.final_text))
    for keys, text in unwanted:
        if text and any(text in one for one in wanted):
            message = (
                f"found {quoted(text)}, which a text that has to be there contains; "
                "allowed: one of the two"
            )
            yield block.problem(keys, CONTRADICTION, message)
