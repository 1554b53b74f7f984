"""Generated records and values of `expected`, for what has to hold whatever the record is."""

from hypothesis import settings
from hypothesis import strategies as st

from hardgate.cases.expected import ALIASES
from hardgate.cases.record import FileChanges, ObservedCall, ObservedEvent, ObservedItem, Record
from tests.unit.hardgate.expectations.samples import RECORD, case, checks

TOOLS = ["demo.a", "demo.b", "demo.c"]
CODES = ["tool.succeeded", "tool.timeout", "policy.scope.missing"]
EVENTS = ["run.queued", "tool.call.proposed", "approval.requested", "run.completed"]
LEVELS = ["user", "internal_tool", "external_untrusted"]
VALUES = st.sampled_from([1, 1.0, True, "1", None, [1], {"n": 1}])
ARGUMENTS = st.dictionaries(st.sampled_from(["x", "y"]), VALUES, min_size=1, max_size=2)
PATHS = st.sampled_from(["a", "b", "c/d"])


@st.composite
def calls(draw):
    started = draw(st.booleans())
    return ObservedCall(
        name=draw(st.sampled_from(TOOLS)),
        arguments=draw(st.none() | ARGUMENTS),
        call_id="c",
        step=1,
        status=draw(st.sampled_from(["SUCCEEDED", "FAILED", "DENIED", "UNCERTAIN"])),
        reason_code=draw(st.none() | st.sampled_from(CODES)),
        malformed=draw(st.booleans()),
        invented=draw(st.booleans()),
        started=started,
        effect_sent=started and draw(st.booleans()),
    )


@st.composite
def payloads(draw):
    payload = {"tool_name": draw(st.sampled_from(TOOLS)), "step_number": draw(st.integers(1, 2))}
    return draw(st.sampled_from([{}, payload]))


@st.composite
def records(draw):
    log = draw(st.lists(st.tuples(st.sampled_from(EVENTS), payloads()), min_size=1, max_size=6))
    made = draw(st.lists(calls(), max_size=4))
    failed = draw(st.booleans())
    return RECORD._replace(
        terminal_status="FAILED" if failed else draw(st.sampled_from(["COMPLETED", "CANCELLED"])),
        failure_reason=draw(st.sampled_from(["max_steps_exceeded", "x"])) if failed else None,
        final_text=draw(st.none() | st.text("ab *", max_size=8) | st.text("ab", min_size=1)),
        step_count=draw(st.integers(0, 4)),
        model_call_count=draw(st.integers(0, 4)),
        tool_call_count=len(made),
        tool_calls=tuple(made),
        events=tuple(ObservedEvent(n, name, payload) for n, (name, payload) in enumerate(log)),
        items=tuple(
            ObservedItem("tool_result", draw(st.sampled_from(LEVELS)), tool=name)
            for name in draw(st.lists(st.sampled_from(TOOLS), max_size=3))
        ),
        untrusted=draw(st.booleans()),
        private=draw(st.booleans()),
        blocked_sends=draw(st.integers(0, 2)),
        metrics={"a_total": draw(st.integers(0, 2))},
    )


@st.composite
def file_changes(draw):
    paths = draw(st.permutations(["a", "b", "c/d"]))
    cut = draw(st.integers(0, 3))
    return FileChanges(tuple(sorted(paths[:cut])), (), tuple(sorted(paths[cut:])))


def unique(strategy, most=3, key=None):
    return st.lists(strategy, min_size=1, max_size=most, unique_by=key or (lambda one: str(one)))


def entries(**optional):
    """Entries of tool_calls, all of one kind of count for a tool."""
    return st.lists(
        st.fixed_dictionaries({"name": st.sampled_from(TOOLS)}, optional=optional),
        min_size=1,
        max_size=3,
    )


# Lists of which the order says nothing.
UNORDERED = {
    "final_text_contains": unique(st.sampled_from(["a", "b", "ab", "ba"])),
    "final_text_not_contains": unique(st.sampled_from(["a", "b", "ab", "ba"])),
    "final_text_contains_any": unique(st.sampled_from(["a", "b", "ab", "ba"])),
    "absent_strings": unique(st.sampled_from(["a", "b", "demo"])),
    "tools": st.lists(st.sampled_from(TOOLS), min_size=1, max_size=4),
    "forbidden_tool_calls": unique(st.sampled_from(TOOLS)),
    "reason_codes": unique(st.sampled_from(CODES)),
    "tool_calls": entries(arguments_subset=ARGUMENTS, reason_code=st.sampled_from(CODES)),
    "args": st.lists(
        st.fixed_dictionaries(
            {"tool": st.sampled_from(TOOLS), "key": st.sampled_from(["x", "y"]), "equals": VALUES}
        ),
        min_size=1,
        max_size=3,
    ),
    "effects": unique(
        st.fixed_dictionaries(
            {
                "tool": st.sampled_from(TOOLS),
                "watermark": st.sampled_from(["set", "clear"]),
                "count": st.integers(1, 2),
            }
        ),
        key=lambda one: (one["tool"], one["watermark"]),
    ),
    "trust": st.lists(
        st.fixed_dictionaries(
            {"item": st.just("tool_result"), "level": st.sampled_from(LEVELS)},
            optional={"tool": st.sampled_from(TOOLS)},
        ),
        min_size=1,
        max_size=3,
    ),
}
EXAMPLES = settings(derandomize=True, database=None, deadline=None, max_examples=60)


def outcomes(record: Record, **expected):
    """How many checks of each name passed and failed."""
    return sorted((check.name, check.outcome) for check in checks(case(**expected), record))


def passes(record: Record, **expected):
    """Whether the expectation itself holds, whatever else is checked of every run."""
    names = {ALIASES.get(key, key) for key in expected}
    own = [check for check in checks(case(**expected), record) if check.name.split(".")[0] in names]
    assert own
    return all(check.outcome == "pass" for check in own)
