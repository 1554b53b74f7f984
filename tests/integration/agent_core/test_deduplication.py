"""One call is executed once, whoever submits it a second time and whenever."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.determinism.ids import PinnedIdFactory
from agent_core.adapters.determinism.schedulers import DeterministicScheduler, RandomizedScheduler
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.adapters.policy.rule_set_policy import NO_EFFECTS, RuleSetPolicy
from agent_core.adapters.tools.registry import StaticToolRegistry
from agent_core.application import invocation_rows as rows
from agent_core.application.call_journal import CallJournal
from agent_core.application.cancellation import CancellationToken
from agent_core.application.inline import run_inline
from agent_core.application.journal import Journal
from agent_core.application.tool_pipeline import Proposal, ToolPipeline
from agent_core.bootstrap import PINNED_START
from agent_core.domain.context import ToolCall
from agent_core.domain.errors import AlreadyExists, ConcurrencyConflict
from agent_core.domain.runs import Run, RunLimits, RunStatus
from agent_core.domain.sessions import Principal, Session
from agent_core.domain.tools import ToolResult
from agent_core.domain.trust import Labels, TrustLevel
from agent_core.domain.turns import give_way
from tests.integration.agent_core.scripted_runs import Probe

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

USER = Labels(TrustLevel.USER)
SESSION = Session("session", Principal("somebody"), ("demo.probe",), PINNED_START)
RUN = Run(
    "run", "session", "somebody", frozenset(), RunStatus.RUNNING, RunLimits(), PINNED_START, 1
)


class Parts:
    """The pipeline over one store, and a tool that takes a few turns for its work."""

    def __init__(self):
        async def work(arguments):
            await give_way()
            return ToolResult({}, "done")

        self.store = InMemoryUnitOfWork()
        self.tool = Probe(work)
        self.ids = PinnedIdFactory("deduplication")
        clock = PinnedClock(PINNED_START)
        self.pipeline = ToolPipeline(
            units=lambda: self.store,
            clock=clock,
            ids=self.ids,
            calls=CallJournal(clock, self.ids, Journal(clock, self.ids)),
            registry=StaticToolRegistry([self.tool]),
            policy=RuleSetPolicy(NO_EFFECTS),
            token=CancellationToken(),
        )

    def proposal(self, call_id="call", arguments="{}"):
        call = ToolCall(call_id, "demo.probe", arguments)
        row = rows.proposed(self.ids.new_id(), RUN, call, USER, PINNED_START)
        return Proposal(SESSION, RUN, call, row, USER)

    async def submit(self, **call):
        try:
            return (await self.pipeline.handle(self.proposal(**call))).row
        except ConcurrencyConflict as conflict:
            return conflict

    def stored(self):
        return run_inline(self.store.invocations.list_for_run("run"))


def test_a_call_submitted_again_gets_the_outcome_that_is_on_record():
    parts = Parts()
    first, again = run_inline(parts.submit()), run_inline(parts.submit())
    assert first == again
    assert len(parts.tool.given) == len(parts.stored()) == 1


@pytest.mark.parametrize("other", [{"call_id": "other"}, {"arguments": '{"a": 1}'}])
def test_another_call_is_executed(other):
    parts = Parts()
    run_inline(parts.submit())
    assert run_inline(parts.submit(**other)).id != run_inline(parts.submit()).id
    assert len(parts.tool.given) == len(parts.stored()) == 2


@given(st.integers(0, 2**32), st.integers(2, 5))
@settings(max_examples=60)
def test_at_the_same_time_it_is_executed_once_and_nobody_is_told_anything_else(seed, submissions):
    parts = Parts()
    told = run_inline(RandomizedScheduler(seed).run([parts.submit] * submissions))
    assert len(parts.tool.given) == len(parts.stored()) == 1
    (row,) = parts.stored()
    assert row.outcome.reason_code == "tool.succeeded"
    assert all(one == row or isinstance(one, ConcurrencyConflict) for one in told)
    assert row in told


def test_a_second_submission_waits_for_the_outcome_of_the_first():
    parts = Parts()
    first, second = run_inline(DeterministicScheduler().run([parts.submit] * 2))
    assert first == second == parts.stored()[0]
    assert len(parts.tool.given) == 1


def test_a_second_submission_does_not_wait_longer_than_the_tool_may_take():
    parts = Parts()

    async def takes_long(arguments):
        for _ in range(200):
            await give_way()
        return ToolResult({}, "done")

    parts.tool._work = takes_long
    first, second = run_inline(DeterministicScheduler().run([parts.submit] * 2))
    assert first == parts.stored()[0]
    assert isinstance(second, ConcurrencyConflict)
    assert str(second) == first.id


def test_an_id_that_is_taken_is_no_second_submission():
    parts = Parts()
    taken = run_inline(parts.submit())
    proposal = parts.proposal(call_id="other")
    with pytest.raises(AlreadyExists):
        run_inline(parts.pipeline.handle(proposal._replace(row=proposal.row._replace(id=taken.id))))
    assert len(parts.tool.given) == 1
