"""The reference runtime as a subject of Hardgate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from agent_core.application.inline import run_inline
from agent_core.domain.context import ItemKind
from agent_core.domain.deployment import ConfigurationRefused
from agent_core.domain.events import EventType
from agent_core.domain.model_script import FinalTurn
from agent_core.domain.outcomes import REASONS
from agent_core.domain.runs import FailureReason, RunStatus
from agent_core.domain.sessions import Principal
from agent_core.evals.composition import Asked, Compose, Identity
from agent_core.evals.in_process import run_in_process
from agent_core.evals.metrics import METRICS
from hardgate.cases.model import Case
from hardgate.cases.record import Record
from hardgate.cases.vocabulary import Vocabulary
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.fixtures.model_script import ModelScript
from hardgate.subjects.port import SubjectError

if TYPE_CHECKING:
    from agent_core.evals.stored import Durable, StoredCases
    from hardgate.fixtures.mcp_server import McpServer
    from hardgate.fixtures.tool_results import ToolResults

NAME = "agent_core"
VERSION = "0.1.0"
_AGENTS = frozenset({"general"})
_ABILITIES = frozenset(
    {
        "cancellation",
        "clock_steps",
        "metrics",
        "private_labels",
        "run_limits",
        "tool_results",
        "trust_labels",
        "turns",
        "user_input",
    }
)


class ReferenceSubject:
    """Runs each case in a new runtime in memory: nothing is left over from another case.

    Cases that kill workers run over the store of `open_durable`; without it, there is no ability
    for them. With `always_stored`, all cases do. `load_identity` is called when a case is first
    looked at. Raises DefinitionError for an identity that the runtime refuses.
    """

    name = NAME
    version = VERSION

    def __init__(
        self,
        compose: Compose,
        load_identity: Callable[[], Identity],
        open_durable: Callable[[], Durable] | None = None,
        *,
        always_stored: bool = False,
    ) -> None:
        self._compose = compose
        self._load_identity = load_identity
        self._open_durable = open_durable
        self._always_stored = always_stored

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
            abilities=_ABILITIES | ({"workers"} if self._open_durable else frozenset()),
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
        principal = self._identity.principals[case.principal]
        policy = self._identity.policies[case.policy_profile]
        asked = Asked(case, script, tool_results, principal, policy)
        in_workers = any(one.action == "kill_worker" for one in case.interventions)
        if in_workers or self._always_stored:
            return self._stored_cases.run(asked, in_workers=in_workers)
        return run_in_process(asked, self._compose)

    @cached_property
    def _stored_cases(self) -> StoredCases:
        # Imported here: most cases need no store.
        from agent_core.evals.stored import StoredCases

        if self._open_durable is None:
            raise SubjectError("there is no store for a case that kills workers")
        return StoredCases(self._compose, self._open_durable)

    async def _registered_tools(self) -> tuple[str, ...]:
        """A session without a choice of tools has all that are registered."""
        start = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
        composition = self._compose(turns=(FinalTurn("."),), seed=NAME, start=start)
        session = await composition.runtime.open_session(Principal(NAME))
        return session.tool_names
