"""One step's conversation with the provider: attempts, their record and their cost."""

from __future__ import annotations

from typing import NamedTuple

from agent_core.application.cancellation import CancellationToken
from agent_core.application.journal import Journal
from agent_core.application.open_units import assert_none_open
from agent_core.application.step_failed import StepFailed, raise_if_passed
from agent_core.application.stream_assembler import TurnAssembler
from agent_core.domain import budgets
from agent_core.domain.canonical import JsonObject, JsonValue
from agent_core.domain.context import ContextItem, ItemKind, ModelRequest
from agent_core.domain.events import EventType
from agent_core.domain.model import ModelError, ModelErrorClass, ModelTurn, ModelUsage, StreamFault
from agent_core.domain.recorded_turns import RecordedTurn
from agent_core.domain.registration import safe_tool_name
from agent_core.domain.runs import FailureReason, Run, RunStatus
from agent_core.ports.determinism import Clock, IdFactory
from agent_core.ports.models import ModelProvider
from agent_core.ports.persistence import UnitOfWorkFactory

MAXIMUM_ATTEMPTS = 3
ATTEMPT_TIMEOUT_SECONDS = 300.0
MAXIMUM_WAIT_SECONDS = 60.0
"""A provider that asks for a longer wait is not asked again."""


class _FailedAttempt(NamedTuple):
    """`error_class`: None for a turn that is empty. `had_output`: something of the answer had
    arrived, which is thrown away now."""

    error_class: ModelErrorClass | None
    usage: ModelUsage
    had_output: bool = False
    fault: StreamFault | None = None
    retry_after_seconds: float | None = None

    @property
    def name(self) -> str:
        """The class of the failure, for the record."""
        return self.error_class or "empty_turn"


class ModelStep:
    """Gets a turn for a request, in at most `MAXIMUM_ATTEMPTS` attempts; each one is charged."""

    def __init__(
        self,
        *,
        units: UnitOfWorkFactory,
        clock: Clock,
        ids: IdFactory,
        journal: Journal,
        provider: ModelProvider,
        token: CancellationToken,
    ) -> None:
        self._units = units
        self._clock = clock
        self._ids = ids
        self._journal = journal
        self._provider = provider
        self._token = token

    async def take(
        self, run: Run, request: ModelRequest, earlier_attempts: int = 0
    ) -> tuple[Run, ContextItem]:
        """The turn, which is on record then, and the run with the usage of every attempt.

        `earlier_attempts` were made by an execution that was lost: they have their numbers, and
        take none of the attempts that there are now. Raises `StepFailed` if a budget does not
        allow an attempt or its cost, if the provider fails for good, if the deadline does not
        leave the time for another attempt, and if the last attempt fails or gives neither text nor
        calls; and `Cancelled` before and after an attempt of a run that is to end.
        """
        attempt_number = earlier_attempts
        while True:
            attempt_number += 1
            request = request._replace(attempt_number=attempt_number)
            self._token.check()
            run = await self._start(run, request)
            result = await self._attempt(run, request)
            if isinstance(result, ModelTurn):
                turn = self._item(request, result)
                run = await self._finish(run, request, result, turn)
                self._token.check()
                return run, turn
            run = await self._finish(run, request, result, None)
            self._token.check()
            await self._wait(run, request, result, attempt_number - earlier_attempts)

    async def _start(self, run: Run, request: ModelRequest) -> Run:
        """Charge the call before it is made, so that not even a crash makes it free."""
        place = request.step_number, request.attempt_number
        raise_if_passed(budgets.attempt(run, self._clock.now()), *place)
        usage = run.usage._replace(model_calls=run.usage.model_calls + 1)
        run = run._replace(usage=usage)
        async with self._units() as unit:
            await unit.runs.update(run, expected=RunStatus.RUNNING)
            await self._journal.record(
                unit, run, EventType.MODEL_REQUEST_STARTED, self._described(request)
            )
        return run

    async def _attempt(self, run: Run, request: ModelRequest) -> ModelTurn | _FailedAttempt:
        assert_none_open("asking a model")
        assembler = TurnAssembler()
        try:
            async with self._clock.timeout(self._allowed_seconds(run)):
                turn = await assembler.assemble(self._provider.stream(request))
        except TimeoutError:
            usage = assembler.reported_usage
            return _FailedAttempt(ModelErrorClass.TIMEOUT, usage, assembler.had_output)
        except ModelError as error:
            return _FailedAttempt(
                error.error_class,
                error.usage,
                assembler.had_output,
                error.fault,
                error.retry_after_seconds,
            )
        return _FailedAttempt(None, turn.usage) if turn.is_empty else turn

    def _allowed_seconds(self, run: Run) -> float:
        """For one attempt: not beyond the deadline, either."""
        deadline_seconds = run.limits.deadline_seconds
        if deadline_seconds is None:
            return ATTEMPT_TIMEOUT_SECONDS
        left = deadline_seconds - budgets.seconds_used(run, self._clock.now())
        return max(0.0, min(ATTEMPT_TIMEOUT_SECONDS, left))

    async def _finish(
        self,
        run: Run,
        request: ModelRequest,
        result: ModelTurn | _FailedAttempt,
        turn: ContextItem | None,
    ) -> Run:
        """Charge what the attempt used, keep the turn that it gave, and check the budgets, in the
        same unit of work."""
        run = budgets.charged(run, result.usage)
        passed = budgets.recorded(run)
        event_type, described = _ending(result)
        async with self._units() as unit:
            await unit.runs.update(run, expected=RunStatus.RUNNING)
            await self._journal.record(
                unit, run, event_type, {**_place(request), **_used(result.usage), **described}
            )
            if turn is not None:
                await unit.turns.add(RecordedTurn(run.id, request.step_number, turn))
        raise_if_passed(passed, request.step_number, request.attempt_number)
        return run

    def _item(self, request: ModelRequest, turn: ModelTurn) -> ContextItem:
        return ContextItem(
            id=self._ids.new_id(),
            kind=ItemKind.ASSISTANT_TURN,
            source="model",
            labels=request.origin,
            text=turn.text,
            nonce=self._ids.new_id(),
            tool_calls=turn.tool_calls,
        )

    async def _wait(
        self, run: Run, request: ModelRequest, failed: _FailedAttempt, attempts: int
    ) -> None:
        """Until the next attempt, after `attempts`. Raises `StepFailed` if there is none."""
        place = request.step_number, request.attempt_number
        wait_seconds = _wait_seconds(attempts, failed.retry_after_seconds)
        if not _may_help(failed, attempts, wait_seconds):
            step_number, attempt_number = place
            raise StepFailed(_reason(failed), step_number, failed.name, attempt_number)
        late = budgets.deadline(run, self._clock.now(), wait_seconds)
        raise_if_passed(late, *place, failed.name)
        await self._clock.sleep(wait_seconds)

    def _described(self, request: ModelRequest) -> JsonObject:
        return {
            **_place(request),
            "provider": self._provider.name,
            "prefix_sha256": request.prefix_sha256,
            "body_items": len(request.body),
            "origin_trust": request.origin.trust,
            "origin_private": request.origin.is_private,
        }


def _place(request: ModelRequest) -> JsonObject:
    return {"step_number": request.step_number, "attempt_number": request.attempt_number}


def _used(usage: ModelUsage) -> JsonObject:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_micros": usage.cost_micros,
    }


def _ending(result: ModelTurn | _FailedAttempt) -> tuple[EventType, JsonObject]:
    if isinstance(result, ModelTurn):
        calls: list[JsonValue] = [
            {"call_id": call.call_id, "tool_name": safe_tool_name(call.name)}
            for call in result.tool_calls
        ]
        return EventType.MODEL_RESPONSE_COMPLETED, {
            "stop_reason": result.stop_reason,
            "text": result.text,
            "tool_calls": calls,
        }
    described: JsonObject = {"error_class": result.name, "had_output": result.had_output}
    if result.fault is not None:
        described["stream_fault"] = result.fault
    if result.retry_after_seconds is not None:
        described["retry_after_seconds"] = result.retry_after_seconds
    return EventType.MODEL_RESPONSE_FAILED, described


def _may_help(failed: _FailedAttempt, attempts: int, wait_seconds: float) -> bool:
    """Whether to try again: never after a permanent failure, and not too often or too late."""
    return (
        (failed.error_class is None or failed.error_class.is_retryable)
        and attempts < MAXIMUM_ATTEMPTS
        and wait_seconds <= MAXIMUM_WAIT_SECONDS
    )


def _reason(failed: _FailedAttempt) -> FailureReason:
    if failed.error_class is None:
        return FailureReason.EMPTY_MODEL_TURN
    if failed.error_class.is_retryable:
        return FailureReason.MAX_ATTEMPTS_EXCEEDED
    return FailureReason.MODEL_PERMANENT_ERROR


def _wait_seconds(attempts: int, retry_after_seconds: float | None) -> float:
    """One second, then two; longer if the provider asks for it."""
    backoff = float(2 ** (attempts - 1))
    return max(backoff, retry_after_seconds or 0.0)
