"""Checkpoints: the loop goes on from any of them as it would have from where it was."""

import pytest

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.determinism.ids import PinnedIdFactory
from agent_core.adapters.determinism.schedulers import DeterministicScheduler
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.adapters.policy.rule_set_policy import NO_EFFECTS, RuleSetPolicy
from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.adapters.tools.registry import StaticToolRegistry
from agent_core.application.call_journal import CallJournal
from agent_core.application.cancellation import CancellationToken
from agent_core.application.context_builder import seed_transcript
from agent_core.application.finalize import Finalizer
from agent_core.application.inline import run_inline
from agent_core.application.journal import Journal
from agent_core.application.model_step import ModelStep
from agent_core.application.run_loop import RunLoop
from agent_core.application.settlement import Settlement
from agent_core.application.tool_batch import ToolBatch
from agent_core.application.tool_pipeline import ToolPipeline
from agent_core.bootstrap import PINNED_START
from agent_core.domain.context import ContextItem, ItemKind
from agent_core.domain.errors import ConcurrencyConflict, StaleState
from agent_core.domain.invocations import InvocationStatus
from agent_core.domain.model_script import FinalTurn, ScriptedToolCall, ToolCallsTurn
from agent_core.domain.runs import (
    FailureReason,
    OutcomeKind,
    Run,
    RunLimits,
    RunOutcome,
    RunStatus,
)
from agent_core.domain.sessions import Principal, Session
from agent_core.domain.trust import Labels, TrustLevel


def call(call_id, expression):
    return ScriptedToolCall(call_id, "math.calculate", f'{{"expression": "{expression}"}}')


TURNS = [
    ToolCallsTurn((call("a", "1 + 1"), call("b", "2 + 2"))),
    ToolCallsTurn((call("c", "3 + 3"),)),
    FinalTurn("Done."),
]
SESSION = Session("session", Principal("somebody"), ("math.calculate",), PINNED_START)
RUN = Run("run", "session", "somebody", frozenset(), RunStatus.RUNNING, RunLimits(), PINNED_START)
QUESTION = ContextItem(
    "q", ItemKind.USER_MESSAGE, "somebody", Labels(TrustLevel.USER), "Please.", "nonce"
)


class Counting(MathCalculate):
    """Keeps what it was asked. Its calls go one by one, so that each has a checkpoint."""

    def __init__(self):
        self.ran = []

    @property
    def spec(self):
        return super().spec._replace(allow_parallel=False)

    async def run(self, arguments, context):
        self.ran.append(arguments["expression"])
        return await super().run(arguments, context)


class Killed(BaseException):
    """The process ends: nothing may catch this."""


class Parts:
    """The loop with everything it needs, over a store that outlives it."""

    def __init__(self, store, turns, tool=None, seed="parts"):
        self.store = store
        self.tool = tool or Counting()
        clock, ids = PinnedClock(PINNED_START), PinnedIdFactory(seed)
        journal = Journal(clock, ids)
        registry = StaticToolRegistry([self.tool])
        calls, token = CallJournal(clock, ids, journal), CancellationToken()
        units = {"units": lambda: store, "clock": clock}
        shared = {**units, "journal": journal}
        self.finalizer = Finalizer(**shared, settlement=Settlement(clock, ids, calls))
        self.model = ScriptedModelProvider(turns, clock)
        pipeline = ToolPipeline(
            **units,
            ids=ids,
            calls=calls,
            registry=registry,
            policy=RuleSetPolicy(NO_EFFECTS),
            token=token,
        )
        self.loop = RunLoop(
            **shared,
            registry=registry,
            model_step=ModelStep(**shared, ids=ids, provider=self.model, token=token),
            batch=ToolBatch(
                clock=clock,
                ids=ids,
                registry=registry,
                pipeline=pipeline,
                scheduler=DeterministicScheduler(),
            ),
            token=token,
        )

    def go_on(self, run, transcript):
        return run_inline(self.loop.run(run, SESSION, transcript))

    def latest(self):
        return run_inline(self.store.checkpoints.latest("run"))

    def types(self):
        return [
            e.event_type.value for e in run_inline(self.store.events.list_for_session("session"))
        ]


def new_store():
    store = InMemoryUnitOfWork()
    run_inline(store.runs.add(RUN))
    return store


class StoppingStore(InMemoryUnitOfWork):
    """Kills the process right after the checkpoint with a given version is committed."""

    def __init__(self, version):
        super().__init__()
        self._version = version

    async def __aexit__(self, *error):
        await super().__aexit__(*error)
        latest = await self.checkpoints.latest("run")
        if latest is not None and latest.version == self._version:
            self._version = 0
            raise Killed


def finished_transcript():
    parts = Parts(new_store(), TURNS)
    assert parts.go_on(RUN, (QUESTION,)) == RunOutcome(OutcomeKind.COMPLETED)
    return parts.latest()


def content(transcript):
    """What the model would be shown, without the ids, which are new in a new process."""
    return [(i.kind, i.labels, i.text, i.tool_calls, i.call_id, i.outcome) for i in transcript]


def test_there_is_a_checkpoint_after_each_turn_and_each_outcome():
    latest = finished_transcript()
    assert latest.version == 6
    assert (latest.step_count, latest.usage[:2]) == (3, (3, 3))


@pytest.mark.parametrize("version", range(1, 7))
def test_the_loop_goes_on_from_any_checkpoint(version):
    store = StoppingStore(version)
    run_inline(store.runs.add(RUN))
    before = Parts(store, TURNS)
    with pytest.raises(Killed):
        before.go_on(RUN, (QUESTION,))
    checkpoint = before.latest()
    assert checkpoint.version == version

    after = Parts(store, TURNS[before.model.turns_consumed :], seed="second process")
    run = run_inline(store.runs.get("run"))
    assert (run.step_count, run.usage) == (checkpoint.step_count, checkpoint.usage)
    assert after.go_on(run, checkpoint.transcript) == RunOutcome(OutcomeKind.COMPLETED)

    expected = finished_transcript()
    finished = after.latest()
    assert content(finished.transcript) == content(expected.transcript)
    assert (finished.step_count, finished.usage[:2]) == (expected.step_count, expected.usage[:2])
    assert before.tool.ran + after.tool.ran == ["1 + 1", "2 + 2", "3 + 3"]
    assert after.types().count("assistant.message.completed") == 1


LOOP = [ToolCallsTurn((call("a", "1 + 1"),))] * 5


@pytest.mark.parametrize("version", range(1, 11))
def test_the_breaker_counts_the_same_from_any_checkpoint(version):
    store = StoppingStore(version)
    run_inline(store.runs.add(RUN))
    before = Parts(store, LOOP)
    with pytest.raises(Killed):
        before.go_on(RUN, (QUESTION,))

    after = Parts(store, LOOP[before.model.turns_consumed :], seed="second process")
    run = run_inline(store.runs.get("run"))
    outcome = after.go_on(run, before.latest().transcript)
    assert outcome.failure.reason is FailureReason.TOOL_LOOP_DETECTED
    assert before.tool.ran + after.tool.ran == ["1 + 1"] * 4


def test_a_run_whose_answer_is_there_needs_no_further_step():
    store = StoppingStore(6)
    run_inline(store.runs.add(RUN))
    before = Parts(store, TURNS)
    with pytest.raises(Killed):
        before.go_on(RUN, (QUESTION,))
    run = run_inline(store.runs.get("run"))
    run = run._replace(limits=RunLimits(max_steps=run.step_count, max_model_calls=3))
    after = Parts(store, [], seed="second process")
    assert after.go_on(run, before.latest().transcript) == RunOutcome(OutcomeKind.COMPLETED)


def test_a_call_that_is_being_executed_elsewhere_is_a_conflict():
    store = new_store()

    class Dying(Counting):
        async def run(self, arguments, context):
            raise Killed

    with pytest.raises(Killed):
        Parts(store, TURNS, Dying()).go_on(RUN, (QUESTION,))
    (row,) = run_inline(store.invocations.list_for_run("run"))
    assert row.status is InvocationStatus.RUNNING
    second = Parts(store, TURNS, seed="second process")
    run = run_inline(store.runs.get("run"))
    with pytest.raises(ConcurrencyConflict, match=row.id):
        second.go_on(run, second.latest().transcript)


def test_no_unit_of_work_is_open_while_a_tool_or_the_model_works():
    store = new_store()

    class Looking(Counting):
        async def run(self, arguments, context):
            async with store as unit:  # refused while another one is open
                assert await unit.runs.get("run")
            return await super().run(arguments, context)

    parts = Parts(store, TURNS, Looking())
    stream = parts.model.stream

    async def looking(request):
        async with store as unit:
            assert await unit.runs.get("run")
        async for event in stream(request):
            yield event

    parts.model.stream = looking
    assert parts.go_on(RUN, (QUESTION,)).kind is OutcomeKind.COMPLETED
    assert parts.tool.ran == ["1 + 1", "2 + 2", "3 + 3"]


def test_the_loop_ends_nothing_and_the_finalizer_ends_once():
    store = new_store()
    parts = Parts(store, TURNS)
    outcome = parts.go_on(RUN, (QUESTION,))
    assert run_inline(store.runs.get("run")).status is RunStatus.RUNNING
    assert not {"run.completed", "run.failed"} & set(parts.types())

    ended = run_inline(parts.finalizer.finalize("run", outcome))
    assert (ended.status, ended.completed_at) == (RunStatus.COMPLETED, PINNED_START)
    for again in (outcome, RunOutcome(OutcomeKind.FAILED)):
        with pytest.raises(StaleState):
            run_inline(parts.finalizer.finalize("run", again))
    assert run_inline(store.runs.get("run")) == ended
    assert parts.types().count("run.completed") == 1
    assert "run.failed" not in parts.types()


def test_the_log_alone_gives_the_conversation_back():
    store = new_store()
    parts = Parts(store, TURNS)
    parts.go_on(RUN, (QUESTION,))
    items = seed_transcript(run_inline(store.events.list_for_session("session")))
    assert [(item.kind, item.text, item.labels) for item in items] == [
        (ItemKind.ASSISTANT_TURN, "Done.", Labels(TrustLevel.INTERNAL_TOOL))
    ]
