"""What has to hold of expectations whatever the record is: relations between pairs of verdicts."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgate.cases.expected import ALIASES
from hardgate.cases.record import FileChanges, ObservedCall, ObservedEvent, ObservedItem, Record
from hardgate.expectations.json_values import contains, equal
from tests.unit.hardgate.expectations.samples import EMPTY, RECORD, case, checks

TOOLS = ["demo.a", "demo.b", "demo.c"]
CODES = ["tool.succeeded", "tool.timeout", "policy.scope.missing"]
EVENTS = ["run.queued", "tool.call.proposed", "approval.requested", "run.completed"]
LEVELS = ["user", "internal_tool", "external_untrusted"]
# Few different letters, so that texts contain each other often.
WORDS = st.text("ab *", min_size=1, max_size=4).filter(lambda text: text.strip(" *"))
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


@pytest.mark.parametrize("key", UNORDERED)
def test_permuting_an_unordered_list_changes_no_outcome(key):
    @EXAMPLES
    @given(UNORDERED[key], records(), st.data())
    def holds(values, record, data):
        other = data.draw(st.permutations(values))
        assert outcomes(record, **{key: values}) == outcomes(record, **{key: other})

    holds()


@EXAMPLES
@given(st.lists(PATHS, unique=True), file_changes(), st.data())
def test_permuting_the_files_changes_no_outcome(paths, changes, data):
    found = []
    for order in (paths, data.draw(st.permutations(paths))):
        loaded = case(maximum_steps=9, workspace={"created": order})
        found += [[check.outcome for check in checks(loaded, changes=changes)]]
    assert found[0] == found[1]


OF_CALLS = ["tools", "tool_calls", "args", "forbidden_tool_calls", "reason_codes", "effects"]


@pytest.mark.parametrize("key", OF_CALLS)
def test_in_which_order_calls_were_made_matters_to_order_alone(key):
    @EXAMPLES
    @given(UNORDERED[key], records(), st.data())
    def holds(values, record, data):
        other = record._replace(
            tool_calls=tuple(data.draw(st.permutations(list(record.tool_calls))))
        )
        assert outcomes(record, **{key: values}) == outcomes(other, **{key: values})

    holds()


ORDERS = st.lists(
    st.sampled_from(EVENTS)
    | st.fixed_dictionaries(
        {"event": st.sampled_from(EVENTS)},
        optional={"tool": st.sampled_from(TOOLS), "step": st.integers(1, 2)},
    ),
    min_size=1,
    max_size=4,
)
UNRELATED = ObservedEvent(0, "unrelated.event", {"tool_name": "demo.a", "step_number": 1})


@EXAMPLES
@given(records(), ORDERS, st.data())
def test_an_unrelated_event_never_changes_event_order(record, order, data):
    place = data.draw(st.integers(0, len(record.events)))
    more = [*record.events[:place], UNRELATED, *record.events[place:]]
    longer = record._replace(
        events=tuple(event._replace(sequence=n) for n, event in enumerate(more))
    )
    assert outcomes(record, event_order=order) == outcomes(longer, event_order=order)


@EXAMPLES
@given(records(), ORDERS)
def test_a_part_of_an_order_that_holds_holds(record, order):
    if checks(case(event_order=order), record)[0].outcome == "pass":
        for index in range(len(order)):
            rest = order[:index] + order[index + 1 :]
            assert not rest or checks(case(event_order=rest), record)[0].outcome == "pass"


def made(*names, **values):
    return RECORD._replace(
        tool_calls=tuple(RECORD.tool_calls[0]._replace(name=name, **values) for name in names)
    )


def said(text):
    return RECORD._replace(final_text=text)


def logged(*types):
    return RECORD._replace(events=tuple(ObservedEvent(n, name, {}) for n, name in enumerate(types)))


def failed_for(reason):
    return RECORD._replace(terminal_status="FAILED", failure_reason=reason)


def labelled(level):
    return RECORD._replace(items=(ObservedItem("tool_result", level, tool="demo.a"),))


# An expectation and one that says the opposite, each made of one drawn value; then a value, and a
# record on which each of the two holds: a pair that never holds would show nothing.
NEGATIONS = {
    "text": (
        st.sampled_from(["a", "b", "ab"]),
        lambda one: {"contains": [one]},
        lambda one: {"not_contains": [one]},
        "a",
        said("a"),
        said("b"),
    ),
    "any of the texts": (
        st.sampled_from([["a"], ["a", "b"]]),
        lambda many: {"contains_any": many},
        lambda many: {"not_contains": many},
        ["a", "b"],
        said("b"),
        said("c"),
    ),
    "whole text": (
        st.text("ab", min_size=1, max_size=3),
        lambda one: {"final_text": one},
        lambda one: {"not_contains": [one]},
        "ab",
        said("ab"),
        said("b"),
    ),
    "text that stands nowhere": (
        st.sampled_from(["a", "ab"]),
        lambda one: {"final_text_matches": one},
        lambda one: {"absent_strings": [one]},
        "zz",
        said("zz"),
        RECORD,
    ),
    "tool": (
        st.sampled_from(TOOLS),
        lambda one: {"tools": [one]},
        lambda one: {"forbid_tools": [one]},
        "demo.a",
        made("demo.a"),
        made("demo.b"),
    ),
    "any tool": (
        st.sampled_from(TOOLS),
        lambda one: {"tools_in_order": [one]},
        lambda one: {"no_tools": True},
        "demo.a",
        made("demo.a"),
        made(),
    ),
    "count": (
        st.integers(1, 3),
        lambda n: {"tool_calls": [{"name": "demo.a", "count": n}]},
        lambda n: {"tool_calls": [{"name": "demo.a", "count": n + 1}]},
        1,
        made("demo.a"),
        made("demo.a", "demo.a"),
    ),
    "bounds": (
        st.integers(1, 2),
        lambda n: {"tool_calls": [{"name": "demo.a", "max_count": n}]},
        lambda n: {"tool_calls": [{"name": "demo.a", "min_count": n + 1}]},
        1,
        made("demo.a"),
        made("demo.a", "demo.a"),
    ),
    "arguments": (
        st.sampled_from(["x", "y"]),
        lambda key: {"args": [{"tool": "demo.a", "key": key, "equals": 1}]},
        lambda key: {"forbid_tools": ["demo.a"]},
        "x",
        made("demo.a", arguments={"x": 1}),
        made("demo.b"),
    ),
    "status": (
        st.sampled_from(["completed", "cancelled"]),
        lambda one: {"terminal_status": one},
        lambda one: {"terminal_status": "failed"},
        "cancelled",
        RECORD._replace(terminal_status="CANCELLED"),
        failed_for("x"),
    ),
    "reason of a failure": (
        st.just("max_steps_exceeded"),
        lambda one: {"failure_reason": one},
        lambda one: {"failure_reason": "x"},
        "max_steps_exceeded",
        failed_for("max_steps_exceeded"),
        failed_for("x"),
    ),
    "cause": (
        st.just("max_turns"),
        lambda one: {"stop_cause": one},
        lambda one: {"stop_cause": "completed"},
        "max_turns",
        failed_for("max_steps_exceeded"),
        RECORD,
    ),
    "failed call at the end": (
        st.just(True),
        lambda one: {"ended_on_failed_call": one},
        lambda one: {"ended_on_failed_call": not one},
        True,
        made("demo.a", status="FAILED"),
        made("demo.a"),
    ),
    "effect": (
        st.sampled_from(TOOLS),
        lambda one: {"effects": [{"tool": one, "watermark": "set"}]},
        lambda one: {"effects": [], "maximum_steps": 9},
        "demo.a",
        made("demo.a", effect_sent=True),
        made("demo.a"),
    ),
    "label": (
        st.sampled_from(["private", "untrusted"]),
        lambda one: {"taint": {one: True}},
        lambda one: {"taint": {one: False}},
        "private",
        RECORD._replace(private=True),
        RECORD._replace(private=False),
    ),
    "trust": (
        st.sampled_from(TOOLS),
        lambda one: {"trust": [{"item": "tool_result", "tool": one, "level": "user"}]},
        lambda one: {"trust": [{"item": "tool_result", "tool": one, "level": "internal_tool"}]},
        "demo.a",
        labelled("user"),
        labelled("internal_tool"),
    ),
    "blocked sends": (
        st.integers(0, 2),
        lambda n: {"blocked_sends": n},
        lambda n: {"blocked_sends": n + 1},
        1,
        RECORD._replace(blocked_sends=1),
        RECORD._replace(blocked_sends=2),
    ),
    "counter": (
        st.integers(0, 2),
        lambda n: {"metrics": {"a_total": n}},
        lambda n: {"metrics": {"a_total": n + 1}},
        1,
        RECORD._replace(metrics={"a_total": 1}),
        RECORD._replace(metrics={"a_total": 2}),
    ),
    "approval": (
        st.just(True),
        lambda one: {"approval_requested": one},
        lambda one: {"approval_requested": not one},
        True,
        logged("approval.requested"),
        logged("run.queued"),
    ),
}


@pytest.mark.parametrize("name", NEGATIONS)
def test_an_expectation_and_its_negation_never_both_pass(name):
    values, expectation, negation, *_ = NEGATIONS[name]

    @EXAMPLES
    @given(values, records())
    def holds(value, record):
        assert not (passes(record, **expectation(value)) and passes(record, **negation(value)))

    holds()


@pytest.mark.parametrize("name", NEGATIONS)
def test_each_of_the_two_passes_somewhere(name):
    _, expectation, negation, value, one, other = NEGATIONS[name]
    assert passes(one, **expectation(value))
    assert not passes(one, **negation(value))
    assert passes(other, **negation(value))
    assert not passes(other, **expectation(value))


@pytest.mark.parametrize("key", UNORDERED)
def test_nothing_passes_on_a_record_of_nothing(key):
    @EXAMPLES
    @given(UNORDERED[key])
    def holds(values):
        found = checks(case(**{key: values}), EMPTY)
        assert found
        assert {check.outcome for check in found} == {"fail"}

    holds()


BOUNDS = ["maximum_steps", "maximum_model_calls", "maximum_tool_calls"]


@pytest.mark.parametrize("key", BOUNDS)
def test_a_wider_bound_never_fails_what_a_narrower_one_passes(key):
    @EXAMPLES
    @given(records(), st.integers(1, 5))
    def holds(record, bound):
        narrow, wide = (checks(case(**{key: n}), record)[0].outcome for n in (bound, bound + 1))
        assert (narrow, wide) != ("pass", "fail")

    holds()


NUMBERS = st.recursive(
    st.integers(-3, 3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
)


def with_numbers(value, change):
    if isinstance(value, list):
        return [with_numbers(item, change) for item in value]
    if isinstance(value, dict):
        return {key: with_numbers(item, change) for key, item in value.items()}
    return change(value)


@EXAMPLES
@given(NUMBERS)
def test_a_number_is_its_value_however_it_is_written(value):
    as_floats = with_numbers(value, float)
    assert equal(value, as_floats)
    assert contains(value, as_floats)
    assert contains(as_floats, value)


@EXAMPLES
@given(NUMBERS)
def test_true_is_no_number(value):
    as_booleans = with_numbers(value, bool)
    alike = with_numbers(value, lambda number: None) == value  # no number in it at all
    assert equal(value, as_booleans) is alike


# Letters that have a composed and a decomposed form, and some that have none.
LETTERS = st.text("\u00e9\u00f1\u1e69\uac00\u01d5aB1", min_size=1, max_size=4)


@EXAMPLES
@given(LETTERS, LETTERS)
def test_composed_and_decomposed_texts_are_the_same_text(answer, wanted):
    found = set()
    for answer_form in ("NFC", "NFD"):
        for wanted_form in ("NFC", "NFD"):
            record = RECORD._replace(final_text=unicodedata.normalize(answer_form, answer))
            text = unicodedata.normalize(wanted_form, wanted)
            found.add(
                tuple(
                    passes(record, **{key: [text]})
                    for key in ("contains", "not_contains", "contains_any")
                )
            )
    assert len(found) == 1
    ((contained, not_contained, any_contained),) = found
    assert contained == any_contained != not_contained


@EXAMPLES
@given(LETTERS, LETTERS)
def test_so_they_are_in_arguments_that_have_to_contain_a_text(value, wanted):
    found = set()
    for value_form in ("NFC", "NFD"):
        for wanted_form in ("NFC", "NFD"):
            argument = unicodedata.normalize(value_form, value)
            record = RECORD._replace(
                tool_calls=(RECORD.tool_calls[0]._replace(arguments={"x": argument}),)
            )
            text = unicodedata.normalize(wanted_form, wanted)
            found.add(
                passes(record, args=[{"tool": "math.calculate", "key": "x", "contains": text}])
            )
    assert len(found) == 1


def test_a_pattern_sees_the_answer_as_it_is_written():
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    record = RECORD._replace(final_text=decomposed)
    assert passes(record, contains=[composed])
    assert not passes(record, final_text_matches=composed)
    assert not passes(record, final_text=composed)
