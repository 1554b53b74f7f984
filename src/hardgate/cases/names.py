"""Every name in a case that has to be one that the subject knows."""

from collections.abc import Iterator

from hardgate.cases.expected import EventFilter
from hardgate.cases.expected_rules import Block
from hardgate.cases.model import Case
from hardgate.cases.planned import PlannedRun
from hardgate.cases.vocabulary import Vocabulary
from hardgate.documents.problems import Problem
from hardgate.documents.strict_yaml import Document, Keys
from hardgate.documents.wording import choices, did_you_mean, quoted

Named = list[tuple[Keys, str]]


def name_problems(
    run: PlannedRun, document: Document, vocabulary: Vocabulary, proposed_tools: frozenset[str]
) -> list[Problem]:
    """A problem for each name of a planned run that the subject does not know.

    `proposed_tools` are the names that the run's script proposes: a case may speak about a tool
    that its model invents.
    """
    case, block = run.case, Block(run.expected, document, run.at)
    known = vocabulary.tools
    spoken_of = None if known is None else known | proposed_tools
    offered: Named = [((i,), name) for i, name in enumerate(case.fixtures.tools or ())]
    tables: list[tuple[str, frozenset[str] | None, Keys, Named]] = [
        ("agent", vocabulary.agents, ("agent_id",), [((), case.agent_id)]),
        ("principal", vocabulary.principals, ("principal",), [((), case.principal)]),
        (
            "policy_profile",
            vocabulary.policy_profiles,
            ("policy_profile",),
            [((), case.policy_profile)],
        ),
        ("tool", known, ("fixtures", "tools"), offered),
        ("event_type", vocabulary.event_types, ("interventions",), _triggers(case)),
        ("tool", spoken_of, ("interventions",), _trigger_tools(case)),
    ]
    problems = [
        document.problem(
            run.keys(document, (*at, *keys)), f"case.unknown_{kind}", _unknown(name, names)
        )
        for kind, names, at, items in tables
        for keys, name in items
        if names is not None and name not in names
    ]
    for kind, names, items in (
        ("tool", spoken_of, _tools(block)),
        ("event_type", vocabulary.event_types, _events(block)),
        ("reason_code", vocabulary.reason_codes, _reason_codes(block)),
        ("failure_reason", vocabulary.failure_reasons, _failure_reason(block)),
        ("item", vocabulary.items, _items(block)),
        ("metric", vocabulary.metrics, _metrics(block)),
    ):
        problems += [
            block.problem(keys, f"case.unknown_{kind}", _unknown(name, names))
            for keys, name in items
            if names is not None and name not in names
        ]
    return [*problems, *_unknown_status(block, vocabulary)]


def _unknown(name: str, known: frozenset[str]) -> str:
    ordered = sorted(known)
    return f"found {quoted(name)}; allowed: {choices(ordered)}{did_you_mean(name, ordered)}"


def _triggers(case: Case) -> Named:
    """The event types at which somebody does something, or for which a client waits."""
    found: Named = []
    for index, one in enumerate(case.interventions):
        if "." in one.at and not one.at.startswith("pipeline."):
            found.append(((index, "at"), one.at))
        if one.reconnect is not None and one.reconnect.after != "immediately":
            found.append(((index, "reconnect", "after"), one.reconnect.after))
    return found


def _trigger_tools(case: Case) -> Named:
    return [
        ((index, "where", "tool"), one.where.tool)
        for index, one in enumerate(case.interventions)
        if one.where is not None and one.where.tool is not None
    ]


def _tools(block: Block) -> Named:
    expected = block.expected
    filters = [
        (("event_order", index, "tool"), one.tool)
        for index, one in enumerate(expected.event_order or ())
        if isinstance(one, EventFilter) and one.tool is not None
    ]
    spans = [
        (("trust", index, "tool"), one.tool)
        for index, one in enumerate(expected.trust or ())
        if one.tool is not None
    ]
    return [*block.tool_names(), *block.items("forbidden_tool_calls"), *filters, *spans]


def _events(block: Block) -> Named:
    found: Named = []
    for index, one in enumerate(block.expected.event_order or ()):
        at: Keys = ("event_order", index)
        if isinstance(one, EventFilter):
            found.append(((*at, "event"), one.event))
        else:
            found.append((at, one))
    return found


def _reason_codes(block: Block) -> Named:
    of_calls = [
        (("tool_calls", index, "reason_code"), call.reason_code)
        for index, call in enumerate(block.expected.tool_calls or ())
        if call.reason_code is not None
    ]
    return [*block.items("reason_codes"), *of_calls]


def _failure_reason(block: Block) -> Named:
    reason = block.expected.failure_reason
    return [] if reason is None else [(("failure_reason",), reason)]


def _items(block: Block) -> Named:
    return [
        (("trust", index, "item"), one.item) for index, one in enumerate(block.expected.trust or ())
    ]


def _metrics(block: Block) -> Named:
    return [(("metrics", name), name) for name in block.expected.metrics or ()]


def _unknown_status(block: Block, vocabulary: Vocabulary) -> Iterator[Problem]:
    status = block.expected.terminal_status
    if status is None:
        return
    known = vocabulary.terminal_statuses
    if status.upper() in known and status in (status.upper(), status.lower()):
        return
    names = sorted(name.lower() for name in known)
    message = f"found {quoted(status)}; allowed: {choices(names)}{did_you_mean(status, names)}"
    yield block.problem(("terminal_status",), "case.unknown_status", message)
