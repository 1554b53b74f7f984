"""Runs with a scripted model, and everything that can be asked about them afterwards."""

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.determinism.ids import PinnedIdFactory
from agent_core.adapters.determinism.schedulers import DeterministicScheduler
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.adapters.policy.rule_set_policy import RuleSetPolicy
from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.application.inline import run_inline
from agent_core.bootstrap import PINNED_START, build_pinned_runtime, build_runtime, build_worker
from agent_core.domain.model import ModelErrorClass
from agent_core.domain.model_script import ErrorTurn, FinalTurn, ScriptedToolCall, ToolCallsTurn
from agent_core.domain.policy import PolicyEffect, Rule, RuleSet, TrustOverlay
from agent_core.domain.sessions import Principal
from agent_core.domain.tools import IdempotencyClass, SideEffectClass, ToolResult
from agent_core.domain.trust import TrustLevel
from agent_core.ports.tools import Tool

SOMEBODY = Principal("somebody", frozenset({"run.write", "demo.write"}))
QUESTION = "What is 17 multiplied by 23?"
ANSWER = FinalTurn("17 multiplied by 23 is 391.")
DONE = FinalTurn("Done.")


def proposes(*calls):
    """A turn that proposes calls, each given as (name, arguments as text)."""
    return ToolCallsTurn(
        tuple(
            ScriptedToolCall(f"call_{number}", name, arguments)
            for number, (name, arguments) in enumerate(calls, 1)
        )
    )


def calculate(*expressions):
    return proposes(*(("math.calculate", f'{{"expression": "{one}"}}') for one in expressions))


def error(error_class, **more):
    return ErrorTurn(ModelErrorClass(error_class), **more)


class Result:
    """A session to its end: one run for each message."""

    def __init__(self, turns, limits=None, seed="case", messages=(QUESTION,), **composition):
        self.pinned = build_pinned_runtime(turns=turns, seed=seed, **composition)
        self.runs = []
        run_inline(self._converse(messages, limits))

    async def _converse(self, messages, limits):
        runtime = self.pinned.runtime
        session = await runtime.open_session(SOMEBODY)
        self.invocations = ()
        for message in messages:
            run_id = await runtime.submit(session.id, message, limits)
            self.run = await runtime.run_until_terminal(run_id)
            assert self.run == await runtime.run(run_id)
            self.runs.append(self.run)
            self.invocations += await runtime.invocations(run_id)
            self.text = await runtime.final_text(run_id)
            self.transcript = await runtime.transcript(run_id)
        self.events = await runtime.events(session.id)

    @property
    def reason(self):
        return self.run.failure and self.run.failure.reason

    @property
    def types(self):
        return [event.event_type.value for event in self.events]

    def payloads(self, event_type):
        return [event.payload for event in self.events if event.event_type == event_type]

    @property
    def tool_events(self):
        """What happened to which call."""
        return [
            (event.event_type.value.removeprefix("tool.call."), event.payload["call_id"])
            for event in self.events
            if event.event_type.startswith("tool.call.")
        ]


class Listening(ScriptedModelProvider):
    """The scripted model, which keeps the requests it was sent."""

    def __init__(self, turns, clock):
        super().__init__(turns, clock)
        self.requests = []

    async def stream(self, request):
        self.requests.append(request)
        async for event in super().stream(request):
            yield event


def nothing(arguments):
    return ToolResult({}, "ok")


class Probe(Tool):
    """A tool that does what the test says, and keeps what it was given.

    `work` is called with the arguments, and awaited if that gives something to await; a work that
    `takes_context` is called with the context, too.
    """

    def __init__(self, work=nothing, takes_context=False, **spec):
        self._work = work
        self._takes_context = takes_context
        self._spec = MathCalculate().spec._replace(
            **{
                "name": "demo.probe",
                "input_schema": {"type": "object", "additionalProperties": True},
                "output_schema": {"type": "object", "additionalProperties": True},
                "allow_parallel": False,
                **spec,
            }
        )
        self.given = []

    @property
    def spec(self):
        return self._spec

    async def run(self, arguments, context):
        self.given.append((dict(arguments), context))
        result = self._work(arguments, context) if self._takes_context else self._work(arguments)
        return await result if hasattr(result, "__await__") else result


class Listened:
    """One run of one message in which the requests to the model are kept."""

    def __init__(self, turns, tools, principal=SOMEBODY, tool_names=None, **composition):
        self.clock = build_pinned_runtime(turns=[], seed="clock").clock
        self.model = Listening(turns, self.clock)
        self.runtime = build_runtime(model=self.model, clock=self.clock, tools=tools, **composition)
        run_inline(self._execute(principal, tool_names))

    async def _execute(self, principal, tool_names):
        session = await self.runtime.open_session(principal, tool_names)
        run_id = await self.runtime.submit(session.id, "Please.")
        self.run = await self.runtime.run_until_terminal(run_id)
        self.rows = await self.runtime.invocations(run_id)
        self.events = await self.runtime.events(session.id)


class Killed(BaseException):
    """The process ends here: nothing may catch this."""


class MortalStore(InMemoryUnitOfWork):
    """A store that outlives the processes: it ends one right after its commit number
    `dies_after`, or, with `dies_early`, right before."""

    def __init__(self):
        super().__init__()
        self.commits = 0
        self.dies_after = None
        self.dies_early = False

    async def __aexit__(self, error_type, error, traceback):
        if error_type is None and self.commits + 1 == self.dies_after and self.dies_early:
            await super().__aexit__(Killed, Killed(), None)
            raise Killed
        await super().__aexit__(error_type, error, traceback)
        if error_type is None:
            self.commits += 1
            if self.commits == self.dies_after:
                raise Killed


class Durable:
    """One run over a store that outlives the processes which execute it."""

    def __init__(self, turns, tools, principal=SOMEBODY, limits=None, **composition):
        self.store = MortalStore()
        self.clock = PinnedClock(PINNED_START)
        self.turns = turns
        self.tools = tools
        self.composition = composition
        self.runtimes = 0
        runtime = self.process()
        self.session = run_inline(runtime.open_session(principal))
        self.run_id = run_inline(runtime.submit(self.session.id, "Please.", limits))

    def _model(self):
        """The model goes on with the turn after the last that is on record."""
        recorded = run_inline(self.store.turns.list_for_run(getattr(self, "run_id", "")))
        return Listening(self.turns[len(recorded) :], self.clock)

    def _parts(self, **more):
        self.runtimes += 1
        return {
            "model": self._model(),
            "units": lambda: self.store,
            "clock": self.clock,
            "ids": PinnedIdFactory(f"process {self.runtimes}", 1000 * self.runtimes),
            "tools": self.tools,
            "scheduler": DeterministicScheduler(),
            "owner": f"process {self.runtimes}",
            **self.composition,
            **more,
        }

    def process(self, **more):
        """A runtime of its own over the store, as a process has one."""
        return build_runtime(**self._parts(**more))

    def worker(self, **more):
        return build_worker(**self._parts(**more))

    def executed(self, **more):
        """The run after a new process has executed it."""
        return run_inline(self.process(**more).run_until_terminal(self.run_id))

    def killed(self, dies_after=None, dies_early=False, **more):
        """Execute in a process that is killed at a commit or by an observer; False if it was not
        and came to the end."""
        self.store.dies_after = dies_after and self.store.commits + dies_after
        self.store.dies_early = dies_early
        try:
            self.executed(**more)
        except Killed:
            return True
        finally:
            self.store.dies_after = None
        return False

    def recovered(self, **more):
        """The run after its lease is over and a new worker has done all there is to do."""
        self.clock.advance(31)
        run_inline(self.worker(**more).run_until_idle())
        return self.run

    @property
    def run(self):
        return run_inline(self.store.runs.get(self.run_id))

    @property
    def rows(self):
        return run_inline(self.store.invocations.list_for_run(self.run_id))

    @property
    def reviews(self):
        return run_inline(self.store.reviews.list_for_run(self.run_id))

    @property
    def events(self):
        return run_inline(self.store.events.list_for_session(self.session.id))

    @property
    def types(self):
        return [event.event_type.value for event in self.events]

    @property
    def transcript(self):
        """What the model would be shown, without the ids and nonces, which each process makes."""
        transcript = run_inline(self.process().transcript(self.run_id))
        return [
            (item.kind, item.labels, item.text, item.tool_calls, item.call_id, item.outcome)
            for item in transcript
        ]


def kills_at(point, occurrence=1):
    """An observer that ends the process at a point of the pipeline."""
    seen = []

    async def observer(here, run, row):
        if here == point:
            seen.append(row)
            if len(seen) == occurrence:
                raise Killed

    return observer


ANYTHING = RuleSetPolicy(
    RuleSet(
        "test",
        dict.fromkeys(SideEffectClass, Rule(PolicyEffect.ALLOW)),
        TrustOverlay(TrustLevel.EXTERNAL_UNTRUSTED, frozenset(SideEffectClass)),
    )
)
"""Allows everything."""


class World:
    """What has happened outside, and a tool that makes it happen."""

    def __init__(self, idempotency="non_idempotent"):
        self.effects = []
        kind = IdempotencyClass(idempotency)

        async def work(arguments, context):
            if kind.needs_watermark:
                await context.mark_effect_sent()
            self.effects.append(arguments["n"])
            return ToolResult({"n": arguments["n"]}, f"done {arguments['n']}")

        self.tool = Probe(
            work,
            takes_context=True,
            name="demo.work",
            idempotency=kind,
            side_effect=SideEffectClass.NONE
            if kind is IdempotencyClass.READ_ONLY
            else SideEffectClass.EXTERNAL_WRITE,
        )
