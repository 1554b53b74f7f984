"""What drives runs past their workers: the table of fates, orders of turns, and deaths."""

import pytest

from agent_core.domain.tools import IdempotencyClass
from agent_core.domain.turns import give_way
from gates.checks.durable import (
    ANY_EVENT,
    TOOL_AFTER,
    TOOL_BEFORE,
    Death,
    in_memory,
    places,
    scene,
    script,
    undisturbed,
)
from gates.checks.event_workers import require_end
from gates.checks.interleaving import interleaved
from gates.checks.tool_crashes import PLACES, fate, places_of
from hardgate.kinds.checking import Violation

NON_IDEMPOTENT = IdempotencyClass.NON_IDEMPOTENT
READ_ONLY = IdempotencyClass.READ_ONLY


def test_every_step_is_among_the_places_before_and_after():
    for step in range(1, 15):
        assert {f"pipeline.{step}.before", f"pipeline.{step}.after"} <= set(PLACES)
    assert {TOOL_BEFORE, TOOL_AFTER} <= set(places_of(READ_ONLY))
    assert set(PLACES) - set(places_of(READ_ONLY)) == {"before_effect", "after_effect"}


@pytest.mark.parametrize("idempotency", list(IdempotencyClass))
@pytest.mark.parametrize(
    ("deaths", "attempts", "effects"),
    [
        ((), 1, 1),
        (("pipeline.1.before",), 1, 1),
        (("pipeline.8.after",), 1, 1),
        (("pipeline.9.after",), 2, 1),
        (("pipeline.9.after", "pipeline.10.before"), 3, 1),
        (("pipeline.13.after",), 1, 1),
        (("pipeline.14.before", "pipeline.14.after"), 1, 1),
    ],
)
def test_what_had_no_effect_yet_is_executed_once(idempotency, deaths, attempts, effects):
    found = fate(idempotency, deaths)
    assert found == ("SUCCEEDED", attempts, effects, len(deaths))


@pytest.mark.parametrize("place", [TOOL_AFTER, "pipeline.10.after", "pipeline.13.before"])
def test_what_had_its_effect_is_repeated_or_unknown(place):
    assert fate(NON_IDEMPOTENT, (place,)) == ("UNCERTAIN", 1, 1, 1)
    for other in set(IdempotencyClass) - {NON_IDEMPOTENT}:
        assert fate(other, (place,)) == ("SUCCEEDED", 2, 2, 1)


def test_a_watermark_alone_makes_a_call_unknown():
    assert fate(NON_IDEMPOTENT, (TOOL_BEFORE,)) == ("UNCERTAIN", 1, 0, 1)
    assert fate(NON_IDEMPOTENT, ("before_effect",)) == ("SUCCEEDED", 2, 1, 1)


def test_a_death_where_no_call_comes_ends_the_chain():
    assert fate(READ_ONLY, ("before_effect", "pipeline.9.after")).reached == 0
    assert fate(READ_ONLY, ("pipeline.13.after", "pipeline.9.after")).reached == 1


async def steps(name, count, log):
    for number in range(count):
        log.append(f"{name}{number}")
        await give_way()
    if count == 0:
        raise KeyError(name)
    return name


@pytest.mark.parametrize(
    ("schedule", "order"),
    [
        ([0, 0, 0, 0], "a0 a1 b0 b1"),
        ([1, 1, 0], "b0 b1 a0 a1"),
        ([1, 0, 1, 0], "b0 a0 b1 a1"),
    ],
)
def test_the_schedule_says_who_goes_on(schedule, order):
    log = []
    ended = interleaved([steps("a", 2, log), steps("b", 2, log)], schedule)
    assert " ".join(log) == order
    assert [one.result for one in ended] == ["a", "b"]


def test_an_error_ends_one_and_not_the_others():
    log = []
    first, second = interleaved([steps("a", 0, log), steps("b", 1, log)], [])
    assert (type(first.error), second.result) == (KeyError, "b")


def test_the_turns_are_told_of_before_they_are_taken():
    turns, log = [], []
    interleaved([steps("a", 2, log)], [], turns.append)
    assert turns[:3] == [0, 1, 2]


def test_a_death_is_where_it_says_and_the_run_goes_on():
    turns = script([[NON_IDEMPOTENT], [READ_ONLY]])
    expected, log = undisturbed(turns)
    assert expected.status == "COMPLETED"
    before_the_worker = 3  # the session, the message and the queue
    for number in range(1, len(log) - before_the_worker):
        with scene(in_memory(), turns) as one:
            assert one.killed(Death(ANY_EVENT, number))
            one.give_back()
            one.worked()
            require_end(one, expected)


def test_a_worker_that_comes_nowhere_near_its_death_ends_the_run():
    with scene(in_memory(), script([])) as one:
        assert not one.killed(Death("pipeline.1.before"))
        assert one.run.status == "COMPLETED"


def test_a_process_dies_of_its_signal_and_leaves_what_it_had_committed():
    turns = script([[NON_IDEMPOTENT]])
    with places(forks=True) as place, scene(place("sqlite"), turns) as one:
        assert one.killed(Death(TOOL_AFTER), by_signal=True)
        assert one.run.status == "RUNNING"
        assert [what for what, _ in one.world.effects] == ["1.1"]
        assert one.recovered().status == "COMPLETED"
        assert [row.status for row in one.rows] == ["UNCERTAIN"]


def test_a_process_that_is_not_killed_is_told_from_one_that_is():
    with places(forks=True) as place, scene(place("sqlite"), script([])) as one:
        assert not one.killed(Death(TOOL_AFTER), by_signal=True)
        assert one.run.status == "COMPLETED"


def test_another_end_is_a_violation():
    turns = script([[READ_ONLY]])
    expected, _ = undisturbed(turns)
    with scene(in_memory(), turns) as one:
        with pytest.raises(Violation):
            require_end(one, expected)
        one.worked()
        require_end(one, expected)
        with pytest.raises(Violation) as found:
            require_end(one, expected._replace(effects=()))
        assert found.value.rule == "effects_differ"
