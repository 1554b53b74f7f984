"""Expectations about single tool calls: how many, with which arguments, with which outcome."""

from collections.abc import Callable, Iterator, Sequence

from hardgate.cases.expected import ExpectedCall
from hardgate.cases.record import ObservedCall, Record
from hardgate.expectations.json_values import contains, differences
from hardgate.expectations.outcome import Keys, Outcome, calls, events_of_tool

_DIFFERENCES_SHOWN = 3

Fits = Callable[[ObservedCall, ExpectedCall], bool]


def tool_calls(expected: tuple[ExpectedCall, ...], record: Record, keys: Keys) -> Iterator[Outcome]:
    """Per entry one check for each of its counts, its arguments and its reason code.

    An entry that asks for no call by any of them is one check of its name.
    """
    for name in dict.fromkeys(entry.name for entry in expected):
        entries = {index: entry for index, entry in enumerate(expected) if entry.name == name}
        made = [call for call in record.tool_calls if call.name == name]
        around = events_of_tool(record, name)
        every = list(entries.values())
        by_arguments = _served(every, made, _arguments_fit)
        by_both = _served(every, made, _arguments_and_code_fit)
        for position, (index, entry) in enumerate(entries.items()):
            place = (*keys, index)
            yield from _counts(entry, every, len(made), place, around)
            if entry.arguments_subset is not None:
                serving = by_arguments[position]
                yield _arguments(entry, serving, made, (*place, "arguments_subset"), around)
            if entry.reason_code is not None:
                yield _code(entry, by_both[position], made, (*place, "reason_code"), around)
            if not entry.model_fields_set - {"name", "max_count"}:
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


def _arguments_fit(call: ObservedCall, entry: ExpectedCall) -> bool:
    return entry.arguments_subset is None or contains(call.arguments, entry.arguments_subset)


def _arguments_and_code_fit(call: ObservedCall, entry: ExpectedCall) -> bool:
    return _arguments_fit(call, entry) and entry.reason_code in (None, call.reason_code)


def _needed(entry: ExpectedCall) -> int:
    """How many calls at least have to serve an entry."""
    return entry.count or entry.min_count or 1


def _counts(
    entry: ExpectedCall,
    every: Sequence[ExpectedCall],
    made: int,
    keys: Keys,
    around: tuple[int, ...],
) -> Iterator[Outcome]:
    """The counts of an entry; all entries of the tool together are all calls of the tool."""
    name = entry.name
    for key, words in (("count", ""), ("min_count", "at least "), ("max_count", "at most ")):
        if getattr(entry, key) is None:
            continue
        total = sum(getattr(one, key) or 0 for one in every)
        too_few = made < total and key != "max_count"
        too_many = made > total and key != "min_count"
        message = ""
        if too_few or too_many:
            word = "missing" if too_few else "unexpected"
            message = f"{word}: {calls(abs(made - total), name)}"
        yield Outcome(
            f"tool_calls.{key}",
            (*keys, key),
            not message,
            words + calls(total, name),
            calls(made, name),
            message,
            around,
        )


def _arguments(
    entry: ExpectedCall,
    serving: int,
    made: Sequence[ObservedCall],
    keys: Keys,
    around: tuple[int, ...],
) -> Outcome:
    needed = _needed(entry)
    message = ""
    if serving != needed:
        message = f"missing: {needed - serving} of {calls(needed, entry.name)} with these arguments"
        unlike = [
            list(differences(call.arguments, entry.arguments_subset))
            for call in made
            if not _arguments_fit(call, entry)
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


def _code(
    entry: ExpectedCall,
    serving: int,
    made: Sequence[ObservedCall],
    keys: Keys,
    around: tuple[int, ...],
) -> Outcome:
    needed = _needed(entry)
    message = ""
    if serving != needed:
        with_these = " with these arguments" if entry.arguments_subset is not None else ""
        message = (
            f"missing: {needed - serving} of {calls(needed, entry.name)}{with_these} "
            f"that came to {entry.reason_code}"
        )
    return Outcome(
        "tool_calls.reason_code",
        keys,
        serving == needed,
        entry.reason_code,
        [call.reason_code for call in made if _arguments_fit(call, entry)],
        message,
        around,
    )


def _served(entries: Sequence[ExpectedCall], made: Sequence[ObservedCall], fits: Fits) -> list[int]:
    """How many calls serve each entry, when each call serves at most one and as many as possible.

    An entry is served by the calls that fit it, and needs no more than it says. The assignment is a
    maximum one (augmenting paths), so the order of entries and of calls never changes whether all
    are served.
    """
    needed = [_needed(entry) for entry in entries]
    serving: list[list[int]] = [[] for _ in entries]
    fitting = [[index for index, entry in enumerate(entries) if fits(call, entry)] for call in made]

    def place(call: int, tried: set[int]) -> bool:
        for entry in fitting[call]:
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
