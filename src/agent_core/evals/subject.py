"""The reference runtime as a subject of Hardgate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from agent_core.application.inline import run_inline
from agent_core.application.runtime import Runtime
from agent_core.domain.deployment import ConfigurationRefused
from agent_core.domain.events import EventType
from agent_core.domain.model_script import FinalTurn, ScriptedTurn
from agent_core.domain.outcomes import REASONS
from agent_core.domain.runs import RunStatus
from agent_core.domain.sessions import Principal
from agent_core.evals.observe import observed
from agent_core.evals.script import played_turns
from agent_core.ports.policies import PolicyEngine
from hardgate.cases.model import Case
from hardgate.cases.record import Record
from hardgate.cases.values import instant
from hardgate.cases.vocabulary import Vocabulary
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.fixtures.model_script import ModelScript
from hardgate.subjects.port import SubjectError

if TYPE_CHECKING:
    from hardgate.fixtures.tool_results import ToolResults

NAME = "agent_core"
VERSION = "0.1.0"


class PlayedModel(Protocol):
    """How far a script was played."""

    @property
    def turns_consumed(self) -> int: ...

    @property
    def turns_total(self) -> int: ...

    @property
    def exhausted_at_step(self) -> int | None: ...


class Composition(Protocol):
    """A runtime with pinned time and ids, and the model that it talks to."""

    @property
    def runtime(self) -> Runtime: ...

    @property
    def model(self) -> PlayedModel: ...


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
        )

    def run(
        self,
        case: Case,
        script: ModelScript,
        workspace: str,
        tool_results: ToolResults | None = None,
    ) -> Record:
        # No tool of this runtime reads or writes a workspace yet, so `workspace` stays empty.
        try:
            composition = self._compose(
                turns=played_turns(script),
                seed=case.name,
                start=instant(case.clock.start),
                policy=self._identity.policies[case.policy_profile],
            )
        except ValueError as error:
            raise SubjectError(f"the script cannot be played: {error}") from None
        return run_inline(_run(composition, case, self._identity.principals[case.principal]))

    async def _registered_tools(self) -> tuple[str, ...]:
        """A session without a choice of tools has all that are registered."""
        start = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
        composition = self._compose(turns=(FinalTurn("."),), seed=NAME, start=start)
        session = await composition.runtime.open_session(Principal(NAME))
        return session.tool_names


async def _run(composition: Composition, case: Case, principal: Principal) -> Record:
    runtime, model = composition.runtime, composition.model
    session = await runtime.open_session(principal, case.fixtures.tools)
    assert case.input is not None and case.input.text is not None, "checked at collection"
    run_id = await runtime.submit(session.id, case.input.text)
    run = await runtime.run_until_terminal(run_id)
    return observed(
        run,
        await runtime.events(session.id),
        await runtime.invocations(run_id),
        await runtime.final_text(run_id),
        turns_consumed=model.turns_consumed,
        turns_total=model.turns_total,
        exhausted_at_step=model.exhausted_at_step,
    )
