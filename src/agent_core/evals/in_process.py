"""Running a case in this process."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from agent_core.application.inline import run_inline
from agent_core.evals.clock_steps import ClockSteps
from agent_core.evals.composition import Asked, Compose, Composition, StoreFor
from agent_core.evals.conversation import converse, run_to_rest
from agent_core.evals.observe import Played, observed
from agent_core.evals.script import played_turns, recorded_results
from hardgate.cases.record import Record
from hardgate.cases.values import instant, seconds
from hardgate.subjects.port import SubjectError

if TYPE_CHECKING:
    from agent_core.evals.interventions import Watch


def run_in_process(asked: Asked, compose: Compose, store: StoreFor | None = None) -> Record:
    """The record of a case over `store`, by default over one in memory. Raises SubjectError."""
    watch = None
    if asked.case.interventions:
        # Imported here: most cases have none.
        from agent_core.evals.interventions import Watch, service_calls

        act = service_calls(lambda: composition.runtime, in_worker=False)
        watch = Watch(asked.case.interventions, act)
    composition = composed(asked, compose, watch, store)
    runtime, model = composition.runtime, composition.model
    execute = runtime.run_until_terminal if watch is None else partial(run_to_rest, runtime)
    conversation = run_inline(converse(runtime, asked.case, asked.principal, execute))
    return observed(
        conversation,
        Played(
            turns_consumed=model.turns_consumed,
            turns_total=model.turns_total,
            exhausted_at_step=model.exhausted_at_step,
            missing_results=composition.missing_results,
            waits_seconds=composition.clock.sleeps,
            interventions=() if watch is None else watch.seen,
        ),
    )


def composed(
    asked: Asked, compose: Compose, watch: Watch | None, store: StoreFor | None
) -> Composition:
    """The runtime that a case asks for; `watch` sees all that happens in it."""
    case = asked.case
    try:
        composition = compose(
            turns=played_turns(asked.script),
            seed=case.name,
            start=instant(case.clock.start),
            policy=asked.policy,
            recorded=None if asked.tool_results is None else recorded_results(asked.tool_results),
            observer=None if watch is None else watch.at_point,
            store=store,
        )
    except ValueError as error:
        raise SubjectError(f"the script cannot be played: {error}") from None
    if case.clock.advance_on_step is not None:
        step_seconds = seconds(case.clock.advance_on_step)
        composition.listeners.append(ClockSteps(composition.clock, step_seconds))
    if watch is not None:
        composition.listeners.append(watch.on_event)
    return composition
