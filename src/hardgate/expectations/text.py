"""Expectations about the final answer."""

import re
from collections.abc import Iterator

from hardgate.cases.answer_text import normalized
from hardgate.cases.record import Record
from hardgate.expectations.outcome import Keys, Outcome, last_event

_ANSWER_EVENT = "assistant.message.completed"
_NO_ANSWER = "the run gave no final answer"


def final_text_contains(expected: tuple[str, ...], record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check per text."""
    answer = None if record.final_text is None else normalized(record.final_text)
    for index, text in enumerate(expected):
        passed = answer is not None and normalized(text) in answer
        message = "" if passed else _NO_ANSWER if answer is None else f"missing: {text}"
        yield Outcome(
            "final_text_contains",
            (*keys, index),
            passed,
            text,
            record.final_text,
            message,
            last_event(record, _ANSWER_EVENT),
        )


def final_text_matches(expected: str, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check."""
    answer = record.final_text
    passed = answer is not None and re.search(expected, answer) is not None
    message = "" if passed else _NO_ANSWER if answer is None else "the pattern is found nowhere"
    yield Outcome(
        "final_text_matches",
        keys,
        passed,
        expected,
        answer,
        message,
        last_event(record, _ANSWER_EVENT),
    )
