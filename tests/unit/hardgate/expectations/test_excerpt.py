"""The piece of the event log that a failure shows, and what is cut from a verdict."""

import pytest

from hardgate.cases.record import ObservedEvent
from hardgate.expectations.clip import DEPTH, LIST_ITEMS, TEXT_CHARACTERS, clipped
from hardgate.expectations.excerpt import LINES, STDERR_CHARACTERS, VALUE_CHARACTERS, excerpt
from tests.unit.hardgate.expectations.samples import RECORD, case, evaluation


def test_the_neighbours_of_the_divergence_are_shown_and_gaps_are_counted():
    assert excerpt(RECORD, [4]) == (
        "  ... 2 events\n"
        "  3 model.request.started step_number=1\n"
        "  4 model.response.completed step_number=1\n"
        "  5 tool.call.proposed tool_name=math.calculate call_id=call_1 step_number=1\n"
        "  6 tool.call.completed tool_name=math.calculate call_id=call_1 step_number=1 "
        "reason_code=tool.succeeded\n"
        "  ... 4 events"
    )


@pytest.mark.parametrize(("around", "lines"), [([], 0), ([0], 3), ([9], 4), ([0, 9], 6)])
def test_only_what_is_near_is_shown(around, lines):
    assert len(excerpt(RECORD, around).splitlines()) == lines


@pytest.mark.parametrize(
    ("expected", "shown"),
    [
        ({"event_order": ["run.started", "tool.call.denied"]}, "  2 run.started"),
        ({"tool_calls": [{"name": "math.calculate", "count": 2}]}, "  5 tool.call.proposed"),
        ({"forbidden_tool_calls": ["math.calculate"]}, "  6 tool.call.completed"),
        ({"final_text_contains": ["Paris"]}, "  9 assistant.message.completed"),
        ({"terminal_status": "cancelled"}, "  10 run.completed"),
        ({"maximum_steps": 1}, "  7 model.request.started step_number=2"),
    ],
)
def test_a_failed_check_shows_its_own_events(expected, shown):
    assert shown in excerpt(RECORD, evaluation(case(**expected)).around)


@pytest.mark.parametrize(
    ("expected", "around"),
    [
        ({"event_order": ["run.started", "tool.call.denied"]}, (1,)),
        ({"event_order": ["tool.call.denied"]}, (0,)),
        ({"tool_calls": [{"name": "math.calculate", "count": 2}]}, (4, 5)),
        ({"tool_calls": [{"name": "demo.write"}]}, (9,)),
        ({"forbidden_tool_calls": ["math.calculate"]}, (4, 5)),
        ({"no_tools": True}, (4, 5)),
        ({"final_text_contains": ["Paris"]}, (8,)),
        ({"final_text_matches": "Paris"}, (8,)),
        ({"reason_codes": ["tool.timeout"]}, (9,)),
        ({"terminal_status": "cancelled"}, (9,)),
        ({"maximum_steps": 1}, (6,)),
        ({"implicit": {"allow_invented_tool": True}, "maximum_steps": 9}, (9,)),
    ],
)
def test_a_failed_check_names_exactly_its_events(expected, around):
    assert evaluation(case(**expected)).around == around


def test_an_answer_that_never_came_points_at_the_end_of_the_log():
    events = tuple(event for event in RECORD.events if event.type != "assistant.message.completed")
    record = RECORD._replace(events=events, final_text=None)
    assert evaluation(case(final_text_contains=["x"]), record).around == (8,)


def test_truth_is_written_as_in_a_case():
    payload = {"private": False, "full": True, "text": "True"}
    record = RECORD._replace(events=(ObservedEvent(1, "run.queued", payload),))
    assert excerpt(record, [0]) == "  1 run.queued private=false full=true text=True"


def test_a_long_value_of_a_payload_is_cut():
    payload = {"fits": "x" * VALUE_CHARACTERS, "cut": "y" * (VALUE_CHARACTERS + 1)}
    record = RECORD._replace(events=(ObservedEvent(1, "run.queued", payload),))
    fits, cut = "x" * VALUE_CHARACTERS, "y" * VALUE_CHARACTERS
    assert excerpt(record, [0]) == f"  1 run.queued fits={fits} cut={cut}..."


def test_of_stderr_the_end_is_shown_where_a_traceback_says_its_error():
    payload = {"stdout": "said\n", "stderr": f"Traceback{'.' * 500}\nKeyError: 'a'\n"}
    record = RECORD._replace(events=(ObservedEvent(1, "agent.ended", payload),))
    end = f"{'.' * (STDERR_CHARACTERS - 14)}\\nKeyError: 'a'"
    assert excerpt(record, [0]) == f"  1 agent.ended stdout=said stderr=...{end}"


def test_one_event_that_is_left_out_is_one_event():
    record = RECORD._replace(events=RECORD.events[:3])
    assert excerpt(record, [0]).splitlines()[-1] == "  ... 1 event"


def test_of_all_ids_only_that_of_the_call_is_shown():
    payload = {"invocation_id": "i", "call_id": "c", "run_id": "r"}
    record = RECORD._replace(events=(ObservedEvent(1, "a.b", payload),))
    assert excerpt(record, [0]) == "  1 a.b call_id=c"


def test_a_run_that_passes_has_nothing_to_show():
    assert evaluation(case(maximum_steps=2)).around == ()


def test_a_hostile_payload_cannot_drive_the_terminal_or_flood_it():
    payload = {"text": "\x1b[2J\nPASS case.x" + "y" * 5000, "prefix_sha256": "0" * 64, "n": None}
    record = RECORD._replace(events=(ObservedEvent(1, "run.queued", payload),) * 500)
    text = excerpt(record, range(500))
    assert "\x1b" not in text
    assert all(line.startswith("  ") for line in text.splitlines())
    assert len(text.splitlines()) == LINES + 1
    assert text.endswith(f"  ... {500 - LINES} events")
    assert max(map(len, text.splitlines())) <= 260
    assert "sha256" not in text


@pytest.mark.parametrize(
    ("value", "cut"),
    [
        ("x" * TEXT_CHARACTERS, "x" * TEXT_CHARACTERS),
        ("x" * (TEXT_CHARACTERS + 5), "x" * TEXT_CHARACTERS + "... [5 characters left out]"),
        ([1] * LIST_ITEMS, [1] * LIST_ITEMS),
        ([1] * (LIST_ITEMS + 3), [1] * LIST_ITEMS + ["... [3 items left out]"]),
        ((1, (2, None)), [1, [2, None]]),
        ({"a": True, "b": 1.5}, {"a": True, "b": 1.5}),
    ],
)
def test_long_values_are_cut_and_the_cut_is_counted(value, cut):
    assert clipped(value) == cut


def test_a_large_map_and_a_deep_value_are_cut():
    large = clipped({str(number): number for number in range(LIST_ITEMS + 2)})
    assert len(large) == LIST_ITEMS + 1
    assert "... [2 keys left out]" in large


@pytest.mark.parametrize(
    ("around", "shown"),
    [(lambda value: [value], "a list of 1"), (lambda v: {"k": v}, "a map of 1")],
)
def test_a_value_is_cut_below_the_largest_depth(around, shown):
    def nested(levels):
        value: object = "bottom"
        for _ in range(levels):
            value = around(value)
        return value

    assert clipped(nested(DEPTH)) == nested(DEPTH)
    assert shown in str(clipped(nested(DEPTH + 1)))
    assert "bottom" not in str(clipped(nested(DEPTH + 500)))
