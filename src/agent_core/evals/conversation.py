"""The conversation that a case asks for: its messages, one after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from agent_core.application.runtime import Runtime
from agent_core.domain.context import Transcript
from agent_core.domain.invocations import ToolInvocation
from agent_core.domain.runs import Run, RunLimits, RunStatus
from agent_core.domain.sessions import Principal
from agent_core.evals.observe import Conversation
from hardgate.cases.model import Case
from hardgate.subjects.port import SubjectError

Execute = Callable[[str], Awaitable[Run]]
"""Lets the submitted run of this id go on until it ends or waits for somebody; returns it."""


async def converse(
    runtime: Runtime, case: Case, principal: Principal, execute: Execute
) -> Conversation:
    """Send the case's messages, each one when the run before has completed."""
    session = await runtime.open_session(principal, case.fixtures.tools)
    runs: list[Run] = []
    invocations: list[ToolInvocation] = []
    transcripts: list[Transcript] = []
    reviews = 0
    for message in _messages(case):
        run_id = await runtime.submit(session.id, message, _limits(case))
        runs.append(await execute(run_id))
        invocations += await runtime.invocations(run_id)
        transcripts.append(await runtime.transcript(run_id))
        reviews += len(await runtime.effect_reviews(run_id))
        if runs[-1].status is not RunStatus.COMPLETED:
            break
    text = await runtime.final_text(runs[-1].id)
    events = await runtime.events(session.id)
    return Conversation(runs, events, invocations, transcripts, text, reviews)


async def run_to_rest(runtime: Runtime, run_id: str) -> Run:
    """Execute a run in which others take a hand: as often as it is in the queue, if it ever is."""
    run = await runtime.run(run_id)
    while run.status is RunStatus.QUEUED:
        await runtime.run_until_terminal(run_id)
        run = await runtime.run(run_id)
    return run


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
