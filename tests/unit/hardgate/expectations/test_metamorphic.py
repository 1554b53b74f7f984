"""What has to hold of expectations whatever the record is: relations between pairs of verdicts."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardgate.cases.record import ObservedEvent
from hardgate.expectations.json_values import contains, equal
from tests.unit.hardgate.expectations.generators import (
    EVENTS,
    EXAMPLES,
    PATHS,
    TOOLS,
    UNORDERED,
    file_changes,
    outcomes,
    passes,
    records,
)
from tests.unit.hardgate.expectations.samples import EMPTY, RECORD, case, checks


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
@given(records(), st.data())
def test_a_part_of_an_order_that_holds_holds(record, data):
    order = [
        {"event": one.type, "tool": one.payload["tool_name"]} if one.payload else one.type
        for one in record.events
    ]
    assert checks(case(event_order=order), record)[0].outcome == "pass"
    index = data.draw(st.integers(0, len(order) - 1))
    rest = order[:index] + order[index + 1 :]
    if rest:
        assert checks(case(event_order=rest), record)[0].outcome == "pass"


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
