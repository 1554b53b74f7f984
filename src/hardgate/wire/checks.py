"""What a request may not do: the rules, and the checks against the conversation and the script."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from hardgate.documents.wording import quoted
from hardgate.wire.conversation import ASSISTANT, NONE, Message, ModelRequest, ToolCall

HTTP_MALFORMED = "wire.http_malformed"
LIMIT = "wire.limit"
PATH_UNKNOWN = "wire.path_unknown"
METHOD_WRONG = "wire.method_wrong"
AUTHENTICATION_MISSING = "wire.authentication_missing"
HEADER_MISSING = "wire.header_missing"
JSON_MALFORMED = "wire.json_malformed"
REQUEST_MALFORMED = "wire.request_malformed"
REQUEST_UNSUPPORTED = "wire.request_unsupported"
CALLS_UNPAIRED = "wire.calls_unpaired"
RESULTS_MISSING = "wire.tool_results_missing"
RESULTS_UNKNOWN = "wire.tool_results_unknown"
RESULTS_REPEATED = "wire.tool_results_repeated"
TOOLS_MISSING = "wire.tools_missing"
TOOLS_REFUSED = "wire.tools_refused"
RETRIED_EARLY = "wire.retried_early"
EXHAUSTED = "fixture.exhausted"
INTERNAL = "wire.internal_error"

_MOST_SHOWN = 10


class Violation(NamedTuple):
    """One broken rule of a request: what was expected and what was received, as plain data."""

    rule: str
    message: str
    expected: Any = None
    received: Any = None


def answers_calls(
    messages: Sequence[Message], outstanding: Sequence[ToolCall]
) -> Iterator[Violation]:
    """The results have to answer each outstanding call once and nothing else.

    They are looked for behind the message that holds the calls, or, where the agent left that
    out, behind the last message of the assistant. Results of older calls are no concern here.
    """
    if not outstanding:
        return
    expected = [call.call_id for call in outstanding]
    start = _after_calls(messages, set(expected))
    received = [result.call_id for message in messages[start:] for result in message.tool_results]
    counts = Counter(received)
    missing = [call_id for call_id in expected if not counts[call_id]]
    called = {call.call_id for message in messages for call in message.tool_calls}
    unknown = [call_id for call_id in counts if call_id not in called.union(expected)]
    repeated = [call_id for call_id, count in counts.items() if count > 1]
    for rule, call_ids, sentence in (
        (RESULTS_MISSING, missing, "no tool result answers"),
        (RESULTS_UNKNOWN, unknown, "a tool result answers, without such a call,"),
        (RESULTS_REPEATED, repeated, "more than one tool result answers"),
    ):
        if call_ids:
            message = f"{sentence} {_listed(call_ids)}; the last turn called {_listed(expected)}"
            yield Violation(rule, message, expected, received)


def pairs_calls(messages: Sequence[Message], *, results_follow: bool) -> Iterator[Violation]:
    """Every call of the whole conversation has one result, and every result its call.

    With `results_follow` the results stand right behind their calls, before anything else.
    """
    open_calls: dict[str, None] = {}
    for message in messages:
        if results_follow and open_calls and not message.tool_results:
            yield _unanswered(open_calls)
            open_calls = {}
        for result in message.tool_results:
            if result.call_id in open_calls:
                del open_calls[result.call_id]
            else:
                sentence = f"the tool result for {quoted(result.call_id)} answers no open call"
                yield Violation(CALLS_UNPAIRED, sentence, list(open_calls), [result.call_id])
        open_calls |= {call.call_id: None for call in message.tool_calls}
    if open_calls:
        yield _unanswered(open_calls)


def permits_calls(request: ModelRequest, calls: Sequence[ToolCall]) -> Iterator[Violation]:
    """A model that is offered no tools, or told not to call them, makes no calls."""
    if not calls:
        return
    names = [call.name for call in calls]
    if not request.offered:
        message = f"the script calls {_listed(names)}, but the request offers no tools"
        yield Violation(TOOLS_MISSING, message, names, [])
    elif request.tool_choice == NONE:
        message = f"the script calls {_listed(names)}, but the request's tool_choice is none"
        yield Violation(TOOLS_REFUSED, message, names, list(request.offered))
    elif len(calls) > 1 and not request.parallel_calls:
        message = f"the script makes {len(calls)} calls at once and the request allows one"
        yield Violation(TOOLS_REFUSED, message, names, list(request.offered))


def _after_calls(messages: Sequence[Message], call_ids: set[str]) -> int:
    """Where the results of some calls begin."""
    spoken = 0
    for index, message in enumerate(messages):
        if any(call.call_id in call_ids for call in message.tool_calls):
            return index + 1
        if message.role == ASSISTANT:
            spoken = index + 1
    return spoken


def _unanswered(open_calls: Iterable[str]) -> Violation:
    call_ids = list(open_calls)
    sentence = f"the tool calls {_listed(call_ids)} have no results behind them"
    return Violation(CALLS_UNPAIRED, sentence, call_ids, [])


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(quoted(name) for name in names[:_MOST_SHOWN])
    more = len(names) - _MOST_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
