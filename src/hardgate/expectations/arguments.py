"""Expectations about one argument of some call."""

import unicodedata
from collections.abc import Iterator
from typing import Any

from hardgate.cases.expected import ExpectedArgument
from hardgate.cases.record import Record
from hardgate.expectations.json_values import differences, equal, shown, written
from hardgate.expectations.outcome import Keys, Outcome, calls, events_of_tool

_FAULTS_SHOWN = 3


def args(expected: tuple[ExpectedArgument, ...], record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check per entry: some call of the tool has the argument, as the entry says."""
    for index, entry in enumerate(expected):
        made = [call for call in record.tool_calls if call.name == entry.tool]
        values = [
            call.arguments[entry.key]
            for call in made
            if call.arguments is not None and entry.key in call.arguments
        ]
        faults = [list(_faults(value, entry)) for value in values]
        passed = any(not one for one in faults)
        if not made:
            message = f"missing: {calls(1, entry.tool)}"
        elif not values:
            message = f"missing: a call of {entry.tool} with the argument {entry.key}"
        else:
            nearest = min(faults, key=len)
            message = f"nearest call: {'; '.join(nearest[:_FAULTS_SHOWN])}"
        yield Outcome(
            "args",
            (*keys, index),
            passed,
            entry.model_dump(exclude_unset=True),
            values,
            "" if passed else message,
            events_of_tool(record, entry.tool),
        )


def _faults(value: Any, entry: ExpectedArgument) -> Iterator[str]:
    """What an entry says that a value is not."""
    given = entry.model_fields_set
    if "equals" in given and not _equals(value, entry.equals):
        yield f"{entry.key}: expected {shown(entry.equals)}, found {shown(value)}"
    if entry.contains is not None and _folded(entry.contains) not in _folded(written(value)):
        yield f"{entry.key}: expected to contain {entry.contains}, found {shown(value)}"
    if "subset" in given:
        yield from differences(value, entry.subset, entry.key)


def _equals(value: Any, wanted: Any) -> bool:
    """By value, or, for a text, by how the value is written."""
    return equal(value, wanted) or (isinstance(wanted, str) and written(value) == wanted)


def _folded(text: str) -> str:
    if text.isascii():
        return text.casefold()
    folded = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", folded)
