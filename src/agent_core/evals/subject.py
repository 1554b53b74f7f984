"""The reference runtime as a subject of Hardgate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from agent_core.application.inline import run_inline
from agent_core.application.runtime import Runtime
from agent_core.domain.context import ItemKind, Transcript
from agent_core.domain.deployment import ConfigurationRefused
from agent_core.domain.events import EventType
from agent_core.domain.invocations import ToolInvocation
from agent_core.domain.model_script import FinalTurn, ScriptedTurn
from agent_core.domain.outcomes import REASONS
from agent_core.domain.recorded_results import RecordedResults
from agent_core.domain.runs import FailureReason, Run, RunLimits, RunStatus
from agent_core.domain.sessions import Principal
from agent_core.evals.clock_steps import ClockSteps
from agent_core.evals.metrics import METRICS
from agent_core.evals.observe import Conversation, Played, observed
from agent_core.evals.script import played_turns, recorded_results
from agent_core.ports.persistence import EventListener
from agent_core.ports.policies import PolicyEngine
from hardgate.cases.model import Case
from hardgate.cases.record import Record
from hardgate.cases.values import instant, seconds
from hardgate.cases.vocabulary import Vocabulary
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.fixtures.model_script import ModelScript
from hardgate.subjects.port import SubjectError

if TYPE_CHECKING:
    from hardgate.fixtures.mcp_server import McpServer
    from hardgate.fixtures.tool_results import ToolResults

NAME = "agent_core"
VERSION = "0.1.0"
_AGENTS = frozenset({"general"})
_ABILITIES = frozenset(
    {
        "clock_steps",
        "metrics",
        "private_labels",
        "run_limits",
        "tool_results",
        "trust_labels",
        "turns",
    }
)


class PlayedModel(Protocol):
    """How far a script was played."""

    @property
    def turns_consumed(self) -> int: ...

    @property
    def turns_total(self) -> int: ...

    @property
    def exhausted_at_step(self) -> int | None: ...


class PinnedTime(Protocol):
    """A clock that moves only when it is told to, and the pauses that it was asked for."""

    @property
    def sleeps(self) -> Sequence[float]: ...

    def advance(self, seconds: float) -> None: ...


class Composition(Protocol):
    """A runtime with pinned time and ids, the model that it talks to, and who hears its events.

    `missing_results` are the ids of the invocations for which no result was on record.
    """

    @property
    def runtime(self) -> Runtime: ...

    @property
    def clock(self) -> PinnedTime: ...

    @property
    def model(self) -> PlayedModel: ...

    @property
    def listeners(self) -> list[EventListener]: ...

    @property
    def missing_results(self) -> Sequence[str]: ...


class Compose(Protocol):
    """Builds a runtime; the entry point passes the bootstrap's own function.

    Raises ValueError for turns that cannot be played.
    """

    def __call__(
        self,
        *,
        turns: Sequence[ScriptedTurn],
        seed: str,
        start: datetime,
        policy: PolicyEngine | None = None,
        recorded: RecordedResults | None = None,
    ) -> Composition: ...


class Identity(Protocol):
    """Who may run a case, and under which policies, by name: data, not a mode of the runtime."""

    @property
    def principals(self) -> Mapping[str, Principal]: ...

    @property
    def policies(self) -> Mapping[str, PolicyEngine]: ...


class ReferenceSubject:
    """Runs each case in a new runtime in memory: nothing is left over from another case.

    `load_identity` is called when a case is first looked at. Raises DefinitionError for an
    identity that the runtime refuses.
    """

    name = NAME
    version = VERSION

    def __init__(self, compose: Compose, load_identity: Callable[[], Identity]) -> None:
        self._compose = compose
        self._load_identity = load_identity

    @cached_property
    def _identity(self) -> Identity:
        try:
            return self._load_identity()
        except ConfigurationRefused as refused:
            raise DefinitionError(Problem(*problem) for problem in refused.problems) from None

    def vocabulary(self) -> Vocabulary:
        return Vocabulary(
            terminal_statuses=frozenset(status for status in RunStatus if status.is_terminal),
            event_types=frozenset(EventType),
            tools=frozenset(run_inline(self._registered_tools())),
            reason_codes=frozenset(REASONS),
            principals=frozenset(self._identity.principals),
            policy_profiles=frozenset(self._identity.policies),
            failure_reasons=frozenset(FailureReason),
            agents=_AGENTS,
            items=frozenset(ItemKind),
            metrics=METRICS,
            abilities=_ABILITIES,
        )

    def run(
        self,
        case: Case,
        script: ModelScript,
        workspace: str,
        tool_results: ToolResults | None = None,
        mcp_servers: Sequence[McpServer] = (),
    ) -> Record:
        # No tool of this runtime reads or writes a workspace yet, so `workspace` is left alone.
        try:
            composition = self._compose(
                turns=played_turns(script),
                seed=case.name,
                start=instant(case.clock.start),
                policy=self._identity.policies[case.policy_profile],
                recorded=None if tool_results is None else recorded_results(tool_results),
            )
        except ValueError as error:
            raise SubjectError(f"the script cannot be played: {error}") from None
        if case.clock.advance_on_step is not None:
            step_seconds = seconds(case.clock.advance_on_step)
            composition.listeners.append(ClockSteps(composition.clock, step_seconds))
        principal = self._identity.principals[case.principal]
        conversation = run_inline(_converse(composition.runtime, case, principal))
        model = composition.model
        return observed(
            conversation,
            Played(
                turns_consumed=model.turns_consumed,
                turns_total=model.turns_total,
                exhausted_at_step=model.exhausted_at_step,
                missing_results=composition.missing_results,
                waits_seconds=composition.clock.sleeps,
            ),
        )

    async def _registered_tools(self) -> tuple[str, ...]:
        """A session without a choice of tools has all that are registered."""
        start = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
        composition = self._compose(turns=(FinalTurn("."),), seed=NAME, start=start)
        session = await composition.runtime.open_session(Principal(NAME))
        return session.tool_names


async def _converse(runtime: Runtime, case: Case, principal: Principal) -> Conversation:
    """Send the case's messages, each one when the run before has completed."""
    session = await runtime.open_session(principal, case.fixtures.tools)
    runs: list[Run] = []
    invocations: list[ToolInvocation] = []
    transcripts: list[Transcript] = []
    for message in _messages(case):
        run_id = await runtime.submit(session.id, message, _limits(case))
        runs.append(await runtime.run_until_terminal(run_id))
        invocations += await runtime.invocations(run_id)
        transcripts.append(await runtime.transcript(run_id))
        if runs[-1].status is not RunStatus.COMPLETED:
            break
    text = await runtime.final_text(runs[-1].id)
    events = await runtime.events(session.id)
    return Conversation(runs, events, invocations, transcripts, text)


def _messages(case: Case) -> Sequence[str]:
    """The user's messages: one text, or several turns. Raises SubjectError for none."""
    given = case.input
    if given is not None and given.turns is not None:
        return given.turns
    if given is None or given.text is None:
        raise SubjectError("the case has no message")
    return (given.text,)


def _limits(case: Case) -> RunLimits:
    """The runtime's own limits, where the case does not set them."""
    given = case.fixtures.run_limits
    chosen = {
        name: getattr(given, name)
        for name in given.model_fields_set & set(RunLimits._fields)
        if getattr(given, name) is not None
    }
    return RunLimits()._replace(**chosen)
