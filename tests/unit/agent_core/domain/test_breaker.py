"""The breaker: what it counts, what resets it, and when it trips."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.domain.breaker import (
    REPEATED_CALLS,
    REPEATED_DENIALS,
    Breaker,
    CallKey,
    call_key,
)
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.outcomes import make_outcome
from agent_core.domain.runs import FailureReason
from agent_core.domain.trust import Labels, TrustLevel

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

CODES = {
    "SUCCEEDED": "tool.succeeded",
    "FAILED": "tool.timeout",
    "DENIED": "policy.matrix.privileged",
    "UNCERTAIN": "tool.outcome_unknown",
}


def call(name="demo.a", sha256="1", status="SUCCEEDED", code=None):
    return ToolInvocation(
        id="row",
        run_id="run",
        step_number=1,
        call_id="call",
        tool_name=name,
        arguments={},
        origin=Labels(TrustLevel.USER),
        status=InvocationStatus[status],
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        normalized_arguments_hash=sha256,
        outcome=make_outcome(name, code or CODES[status]),
    )


A, B = call("demo.a"), call("demo.b")


def refusal(breaker, row):
    return breaker.refusal(call_key(row))


def test_the_numbers():
    assert (REPEATED_CALLS, REPEATED_DENIALS) == (5, 3)


@pytest.mark.parametrize("status", ["SUCCEEDED", "FAILED"])
def test_the_fifth_equal_proposal_is_refused_whatever_became_of_the_others(status):
    row = call(status=status)
    breaker = Breaker()
    for _ in range(4):
        assert refusal(breaker, row) is None
        assert breaker.record(row) is None
    refused = refusal(breaker, row)
    assert refused.reason_code == "tool.breaker.repeated_call"
    assert refused.failure_reason is FailureReason.TOOL_LOOP_DETECTED


@pytest.mark.parametrize(
    "other",
    [
        call("demo.b"),
        call(sha256="2"),
        call(sha256=None),
    ],
)
def test_another_tool_or_other_arguments_are_another_call(other):
    breaker = Breaker([A] * 4)
    assert refusal(breaker, A) is not None
    assert refusal(breaker, other) is None


def test_a_different_call_that_succeeds_resets_the_count():
    breaker = Breaker([A, A, A, A, B])
    assert refusal(breaker, A) is None
    for _ in range(4):
        assert refusal(breaker, A) is None
        breaker.record(A)
    assert refusal(breaker, A) is not None


@pytest.mark.parametrize("status", ["FAILED", "DENIED", "UNCERTAIN"])
def test_a_different_call_that_does_not_succeed_resets_nothing(status):
    breaker = Breaker([A, A, A, A, call("demo.b", status=status)])
    assert refusal(breaker, A) is not None


def test_its_own_success_resets_nothing():
    assert refusal(Breaker([call(status="FAILED")] * 3 + [A]), A) is not None


def test_calls_without_a_normal_form_are_the_same_call_of_a_tool():
    assert call_key(call(sha256=None)) == CallKey("demo.a", "")
    broken = call(sha256=None, status="FAILED", code="tool.arguments_malformed")
    assert refusal(Breaker([broken] * 4), broken) is not None


def test_the_third_equal_denial_ends_the_run():
    denied = call(status="DENIED")
    breaker = Breaker()
    for expected in (None, None, FailureReason.REPEATED_DENIAL):
        breaker.record(denied)
        assert breaker.tripped is expected
    breaker.record(B)
    assert breaker.tripped is FailureReason.REPEATED_DENIAL, "nothing takes that back"


def test_a_refused_repetition_on_record_ends_the_run():
    refused = call(status="DENIED", code="tool.breaker.repeated_call")
    assert Breaker([A, A, A, A]).tripped is None
    assert Breaker([A, A, A, A, refused]).tripped is FailureReason.TOOL_LOOP_DETECTED


@pytest.mark.parametrize(
    "between",
    [call(status="DENIED", code="policy.scope.missing"), call("demo.b", status="DENIED")],
)
def test_another_denial_is_counted_by_itself(between):
    denied = call(status="DENIED")
    breaker = Breaker([denied, between, denied])
    breaker.record(between)
    assert breaker.tripped is None
    breaker.record(denied)
    assert breaker.tripped is FailureReason.REPEATED_DENIAL


def test_a_success_of_another_call_resets_denials():
    denied = call(status="DENIED")
    assert Breaker([denied, denied, B, denied, denied]).tripped is None


def test_its_own_success_resets_no_denials():
    denied = call(status="DENIED")
    assert Breaker([denied, denied, A, denied]).tripped is FailureReason.REPEATED_DENIAL


def test_an_uncertain_call_is_never_made_again_and_the_run_goes_on():
    breaker = Breaker([call(status="UNCERTAIN")])
    refused = refusal(breaker, A)
    assert (refused.reason_code, refused.failure_reason) == ("tool.breaker.uncertain_call", None)
    breaker.record(B)
    assert refusal(breaker, A) == refused
    assert refusal(breaker, B) is None


def test_a_batch_is_admitted_if_each_of_its_calls_would_be():
    breaker = Breaker([A, A])
    a, b = call_key(A), call_key(B)
    assert breaker.admits_all([a, a])
    assert breaker.admits_all([a, b, a])
    assert not breaker.admits_all([a, a, a])
    assert not breaker.admits_all([b] * 5)
    assert breaker.admits_all([b] * 4)
    assert not Breaker([call("demo.b", status="UNCERTAIN")]).admits_all([a, b])
    assert breaker.admits_all([a, a]), "asking counts nothing"


CALLS = st.builds(
    call,
    name=st.sampled_from(["demo.a", "demo.b", "demo.c"]),
    sha256=st.sampled_from(["1", "2"]),
    status=st.sampled_from(["SUCCEEDED", "FAILED"]),
)


@given(st.lists(CALLS, max_size=30), CALLS)
def test_it_trips_exactly_after_four_proposals_since_another_call_succeeded(history, row):
    count = 0
    for earlier in history:
        if call_key(earlier) == call_key(row):
            count += 1
        elif earlier.status is InvocationStatus.SUCCEEDED:
            count = 0
    assert (refusal(Breaker(history), row) is not None) == (count >= 4)


@given(st.lists(CALLS, max_size=12), st.lists(CALLS, max_size=8))
def test_a_batch_that_is_admitted_trips_nowhere(history, batch):
    breaker = Breaker(history)
    if breaker.admits_all(map(call_key, batch)):
        for row in batch:
            assert refusal(breaker, row) is None
            breaker.record(row)
