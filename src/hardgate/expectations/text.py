"""Expectations about the final answer, and about texts that may stand nowhere."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hardgate.cases.record import Record
from hardgate.expectations.outcome import Keys, Outcome, last_event
from hardgate.fixtures.answer_text import normalized
from hardgate.verdicts.time_limit import TimeLimitReached, time_limit

PATTERN_SECONDS = 2.0
_ANSWER_EVENT = "assistant.message.completed"
_NO_ANSWER = "the run gave no final answer"


def _about_answer(
    name: str, keys: Keys, record: Record, passed: bool, expected: Any, message: str
) -> Outcome:
    """The outcome of a check of the answer; without an answer no such check passes."""
    answer = record.final_text
    if answer is None:
        passed, message = False, _NO_ANSWER
    around = last_event(record, _ANSWER_EVENT)
    return Outcome(name, keys, passed, expected, answer, "" if passed else message, around)


def final_text(expected: str, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check: the answer is this text, character by character."""
    passed = record.final_text == expected
    yield _about_answer("final_text", keys, record, passed, expected, "the answer is another text")


def final_text_contains(expected: tuple[str, ...], record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check per text."""
    answer = normalized(record.final_text or "")
    for index, text in enumerate(expected):
        yield _about_answer(
            "final_text_contains",
            (*keys, index),
            record,
            normalized(text) in answer,
            text,
            f"missing: {text}",
        )


def final_text_not_contains(
    expected: tuple[str, ...], record: Record, keys: Keys
) -> Iterator[Outcome]:
    """One check per text."""
    answer = normalized(record.final_text or "")
    for index, text in enumerate(expected):
        yield _about_answer(
            "final_text_not_contains",
            (*keys, index),
            record,
            normalized(text) not in answer,
            f"no {text}",
            f"unexpected: {text}",
        )


def final_text_contains_any(
    expected: tuple[str, ...], record: Record, keys: Keys
) -> Iterator[Outcome]:
    """One check."""
    answer = normalized(record.final_text or "")
    passed = any(normalized(text) in answer for text in expected)
    message = f"missing: any of {', '.join(expected)}"
    yield _about_answer("final_text_contains_any", keys, record, passed, list(expected), message)


def final_text_matches(expected: str, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check."""
    try:
        with time_limit(PATTERN_SECONDS):
            passed = re.search(expected, record.final_text or "") is not None
        message = "the pattern is found nowhere"
    except TimeLimitReached:
        # A pattern may need longer than the universe has; on such an answer it has not matched.
        passed = False
        message = f"the pattern was not done with the answer after {PATTERN_SECONDS:g} seconds"
    yield _about_answer("final_text_matches", keys, record, passed, expected, message)


def absent_strings(expected: tuple[str, ...], record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check per text: neither the answer nor any text in the event log contains it."""
    logged = [list(_texts(event.payload)) for event in record.events]
    for index, text in enumerate(expected):
        events = tuple(
            number for number, texts in enumerate(logged) if any(text in one for one in texts)
        )
        in_answer = record.final_text is not None and text in record.final_text
        places = ["the final answer"] if in_answer else []
        places += [f"event {record.events[number].sequence}" for number in events]
        yield Outcome(
            "absent_strings",
            (*keys, index),
            not places,
            f"nowhere: {text}",
            places,
            f"unexpected: {text} in {', '.join(places)}" if places else "",
            events or last_event(record, _ANSWER_EVENT),
        )


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, below in value.items():
            yield str(key)
            yield from _texts(below)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
