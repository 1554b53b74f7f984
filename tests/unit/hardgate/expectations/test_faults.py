"""What a subject itself found wrong becomes failed checks of the names it gave."""

from hardgate.cases.record import Fault
from hardgate.verdicts.verdict import PASS
from tests.unit.hardgate.expectations.samples import RECORD, case, checks

LATE = Fault("agent.late", "it came late", "at most 1", 2, (3,))


def outcomes(faults):
    found = checks(case(maximum_steps=9), RECORD._replace(faults=faults))
    return {check.name: check for check in found if check.name.startswith(("agent", "subject"))}


def test_a_subject_that_looks_for_no_faults_has_no_check_of_them():
    assert outcomes(None) == {}


def test_a_subject_that_found_none_is_in_order():
    assert {name: one.outcome for name, one in outcomes(()).items()} == {"subject.in_order": PASS}


def test_each_fault_is_a_failed_check_with_what_was_expected():
    found = outcomes((LATE, Fault("agent.loud", "it shouted")))
    assert {name for name, one in found.items() if one.outcome == PASS} == set()
    assert set(found) == {"agent.late", "agent.loud", "subject.in_order"}
    late = found["agent.late"]
    assert (late.expected, late.observed, late.message) == ("at most 1", 2, "it came late")
    assert found["subject.in_order"].message == "unexpected: agent.late, agent.loud"
