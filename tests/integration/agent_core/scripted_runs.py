"""Runs with a scripted model, and everything that can be asked about them afterwards."""

from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.application.inline import run_inline
from agent_core.bootstrap import build_pinned_runtime, build_runtime
from agent_core.domain.model import ModelErrorClass
from agent_core.domain.model_script import ErrorTurn, FinalTurn, ScriptedToolCall, ToolCallsTurn
from agent_core.domain.sessions import Principal
from agent_core.domain.tools import ToolResult
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
