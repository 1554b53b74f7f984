"""An intervention that did not happen fails the case, and says what it waited for."""

import pytest

from hardgate.cases.model import Intervention, Where
from hardgate.cases.record import ObservedIntervention
from hardgate.expectations.interventions import interventions
from tests.unit.hardgate.expectations.samples import RECORD

KILL = Intervention(at="after_effect", action="kill_worker")
SECOND = Intervention(
    at="tool.call.completed",
    action="cancel",
    occurrence=2,
    where=Where(tool="math.calculate", step=3),
)


def outcome(intervention, *found):
    (one,) = interventions([intervention], RECORD._replace(interventions=found))
    return one


def test_one_that_was_done_passes():
    one = outcome(KILL, ObservedIntervention(True, 1, 1))
    assert (one.name, one.passed, one.observed) == ("interventions", True, "done")
    assert one.expected == "kill_worker at occurrence 1 of after_effect"
    assert one.message == ""


@pytest.mark.parametrize(
    ("intervention", "found", "message"),
    [
        (
            KILL,
            [ObservedIntervention()],
            "missing: kill_worker; awaited: occurrence 1 of after_effect; seen: 0 of after_effect",
        ),
        (
            SECOND,
            [ObservedIntervention(False, 5, 1)],
            "missing: cancel; awaited: occurrence 2 of tool.call.completed (tool math.calculate, "
            "step 3); seen: 5 of tool.call.completed, 1 of them as the filter says",
        ),
        (
            KILL,
            [ObservedIntervention(True, 1, 1, "no worker was at work")],
            "missing: kill_worker; awaited: occurrence 1 of after_effect; the trigger came, and "
            "it could not be done: no worker was at work",
        ),
        (
            KILL,
            [],
            "missing: kill_worker; awaited: occurrence 1 of after_effect; seen: 0 of after_effect",
        ),
    ],
)
def test_one_that_was_not_fails_with_what_was_seen(intervention, found, message):
    one = outcome(intervention, *found)
    assert (one.passed, one.message) == (False, message)


def test_each_has_a_check_of_its_own_at_its_place():
    found = (ObservedIntervention(True, 1, 1), ObservedIntervention())
    both = list(interventions([KILL, SECOND], RECORD._replace(interventions=found)))
    assert [one.passed for one in both] == [True, False]
    assert [one.keys for one in both] == [("interventions", 0), ("interventions", 1)]


def test_one_that_the_record_does_not_have_is_missing_behind_one_that_it_has():
    found = (ObservedIntervention(True, 1, 1),)
    both = list(interventions([KILL, KILL], RECORD._replace(interventions=found)))
    assert [one.passed for one in both] == [True, False]
