"""What somebody does while a run goes on: at which trigger, and through which service."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from agent_core.application.inline import run_inline
from agent_core.application.runtime import Runtime
from agent_core.domain.errors import NotFound, StaleState
from agent_core.domain.events import Event
from agent_core.domain.invocations import ToolInvocation
from agent_core.domain.runs import Run
from hardgate.cases.model import Intervention, Where
from hardgate.cases.record import ObservedIntervention

_ALIASES = {
    "approval_requested": "approval.requested",
    "user_input_requested": "run.waiting_for_user",
}

Act = Callable[[Intervention, str], str | None]
"""Does an intervention to the run of this id. Returns why it could not be done, if it could not."""


class _Trigger(NamedTuple):
    """Something at which an intervention may come, with what a filter asks of it."""

    name: str
    run_id: str
    tool: object
    call_id: object
    step: object


class Watch:
    """Counts the triggers of a case's interventions, and acts when one's turn has come.

    It listens to the log and observes the pipeline. `seen` is what was counted in other processes
    before; `on_change` is told when something is about to be done and when it was. Each
    intervention fires once.
    """

    def __init__(
        self,
        interventions: Sequence[Intervention],
        act: Act,
        seen: Iterable[ObservedIntervention] = (),
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._interventions = tuple(interventions)
        self._act = act
        self._on_change = on_change
        self._seen = list(seen) or [ObservedIntervention() for _ in self._interventions]

    @property
    def seen(self) -> tuple[ObservedIntervention, ...]:
        """What became of each intervention so far."""
        return tuple(self._seen)

    def go_on(self, seen: Iterable[ObservedIntervention]) -> None:
        """Take over what another process has counted."""
        self._seen = list(seen)

    def on_event(self, event: Event) -> None:
        """Is told of each committed event. One that belongs to no run triggers nothing."""
        if event.run_id is not None:
            payload = event.payload
            facts = (payload.get(name) for name in ("tool_name", "call_id", "step_number"))
            self._reached(_Trigger(event.event_type, event.run_id, *facts))

    async def at_point(self, point: str, run: Run, row: ToolInvocation) -> None:
        """Is awaited at each point of the pipeline."""
        self._reached(_Trigger(point, run.id, row.tool_name, row.call_id, row.step_number))

    def _reached(self, trigger: _Trigger) -> None:
        """Count first, for all; then act, in the order of the case."""
        due = [index for index in range(len(self._seen)) if self._count(index, trigger)]
        for index in due:
            self._seen[index] = self._seen[index]._replace(fired=True)
            self._on_change()
            refused = self._act(self._interventions[index], trigger.run_id)
            self._seen[index] = self._seen[index]._replace(refused=refused)

    def _count(self, index: int, trigger: _Trigger) -> bool:
        """Whether this trigger is the one that the intervention waits for."""
        one, found = self._interventions[index], self._seen[index]
        if _ALIASES.get(one.at, one.at) != trigger.name:
            return False
        fits = one.where is None or _fits(one.where, trigger)
        found = found._replace(seen=found.seen + 1, fitting=found.fitting + fits)
        self._seen[index] = found
        return fits and not found.fired and found.fitting == one.occurrence


def _fits(where: Where, trigger: _Trigger) -> bool:
    return (
        where.tool in (None, trigger.tool)
        and where.call_id in (None, trigger.call_id)
        and where.step in (None, trigger.step)
    )


def service_calls(runtime: Callable[[], Runtime], *, in_worker: bool) -> Act:
    """What an intervention does: a call of a service of `runtime`, or the death of this process,
    where it is a worker."""

    def act(one: Intervention, run_id: str) -> str | None:
        try:
            if one.action == "cancel":
                run_inline(runtime().cancel(run_id))
            elif one.action == "answer":
                run_inline(runtime().answer(run_id, one.text or ""))
            elif one.action == "kill_worker" and in_worker:
                signal.raise_signal(signal.SIGKILL)
            elif one.action == "kill_worker":
                return "no worker was at work"
            else:
                return f"this runtime has no {one.action}"
        except (NotFound, StaleState, ValueError) as error:
            return str(error)
        return None

    return act
