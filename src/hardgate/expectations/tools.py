"""Expectations about the tool calls that the model proposed."""

from collections.abc import Iterator, Sequence

from hardgate.cases.model import ExpectedCall
from hardgate.cases.record import ObservedCall, Record
from hardgate.expectations.json_values import contains, differences
from hardgate.expectations.outcome import Keys, Outcome, calls, events_of_tool

_DIFFERENCES_SHOWN = 3


def tool_calls(expected: tuple[ExpectedCall, ...], record: Record, keys: Keys) -> Iterator[Outcome]:
    """Per entry one check for its count and one for its arguments, or one for its name alone."""
    for name in dict.fromkeys(entry.name for entry in expected):
        entries = {index: entry for index, entry in enumerate(expected) if entry.name == name}
        made = [call for call in record.tool_calls if call.name == name]
        served = _served(list(entries.values()), made)
        around = events_of_tool(record, name)
        total = sum(entry.count or 0 for entry in entries.values())
        for (index, entry), serving in zip(entries.items(), served, strict=True):
            place = (*keys, index)
            if entry.count is not None:
                yield _count(name, total, len(made), (*place, "count"), around)
            if entry.arguments_subset is not None:
                yield _arguments(entry, serving, made, (*place, "arguments_subset"), around)
            elif entry.count is None:
                passed = bool(made)
                yield Outcome(
                    "tool_calls.name",
                    (*place, "name"),
                    passed,
                    f"at least {calls(1, name)}",
                    calls(len(made), name),
                    "" if passed else f"missing: {name}",
                    around,
                )


def _count(name: str, total: int, made: int, keys: Keys, around: tuple[int, ...]) -> Outcome:
    message = ""
    if made != total:
        word = "missing" if made < total else "unexpected"
        message = f"{word}: {calls(abs(made - total), name)}"
    expected, observed = calls(total, name), calls(made, name)
    return Outcome("tool_calls.count", keys, made == total, expected, observed, message, around)


def _arguments(
    entry: ExpectedCall,
    serving: int,
    made: Sequence[ObservedCall],
    keys: Keys,
    around: tuple[int, ...],
) -> Outcome:
    needed = entry.count or 1
    message = ""
    if serving != needed:
        message = f"missing: {needed - serving} of {calls(needed, entry.name)} with these arguments"
        unlike = [
            list(differences(call.arguments, entry.arguments_subset))
            for call in made
            if not contains(call.arguments, entry.arguments_subset)
        ]
        if unlike:
            nearest = min(unlike, key=len)
            message += f"; nearest call: {'; '.join(nearest[:_DIFFERENCES_SHOWN])}"
    return Outcome(
        "tool_calls.arguments_subset",
        keys,
        serving == needed,
        dict(entry.arguments_subset or {}),
        [None if call.arguments is None else dict(call.arguments) for call in made],
        message,
        around,
    )


def _served(entries: Sequence[ExpectedCall], made: Sequence[ObservedCall]) -> list[int]:
    """How many calls serve each entry, when each call serves at most one and as many as possible.

    An entry without arguments is served by any call. The assignment is a maximum one (augmenting
    paths), so the order of entries and of calls never changes whether all are served.
    """
    needed = [entry.count or 1 for entry in entries]
    serving: list[list[int]] = [[] for _ in entries]
    fits = [
        [
            index
            for index, entry in enumerate(entries)
            if entry.arguments_subset is None or contains(call.arguments, entry.arguments_subset)
        ]
        for call in made
    ]

    def place(call: int, tried: set[int]) -> bool:
        for entry in fits[call]:
            if entry in tried:
                continue
            tried.add(entry)
            if len(serving[entry]) < needed[entry]:
                serving[entry].append(call)
                return True
            for position, other in enumerate(serving[entry]):
                if place(other, tried):
                    serving[entry][position] = call
                    return True
        return False

    for call in range(len(made)):
        place(call, set())
    return [len(one) for one in serving]


def forbidden_tool_calls(
    expected: tuple[str, ...], record: Record, keys: Keys
) -> Iterator[Outcome]:
    """One check per name; a call counts when it is proposed, whatever becomes of it."""
    for index, name in enumerate(expected):
        made = sum(call.name == name for call in record.tool_calls)
        yield Outcome(
            "forbidden_tool_calls",
            (*keys, index),
            not made,
            calls(0, name),
            calls(made, name),
            f"unexpected: {calls(made, name)}" if made else "",
            events_of_tool(record, name),
        )


def no_tools(expected: bool, record: Record, keys: Keys) -> Iterator[Outcome]:
    """One check."""
    names = [call.name for call in record.tool_calls]
    message = f"unexpected: {', '.join(names)}" if names else ""
    around = events_of_tool(record, names[0]) if names else ()
    yield Outcome("no_tools", keys, not names, [], names, message, around)
