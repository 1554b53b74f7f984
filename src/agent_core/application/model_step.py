"""One step's conversation with the provider: attempts, their record and their cost."""

from __future__ import annotations

from typing import NamedTuple

from agent_core.application.journal import Journal
from agent_core.application.step_failed import StepFailed
from agent_core.application.stream_assembler import assemble
from agent_core.domain.canonical import JsonObject
from agent_core.domain.context import ModelRequest
from agent_core.domain.events import EventType
from agent_core.domain.model import ModelError, ModelErrorClass, ModelTurn, ModelUsage
from agent_core.domain.runs import FailureReason, Run, RunStatus
from agent_core.ports.determinism import Clock
from agent_core.ports.models import ModelProvider
from agent_core.ports.persistence import UnitOfWorkFactory

MAXIMUM_ATTEMPTS = 3
ATTEMPT_TIMEOUT_SECONDS = 300.0
MAXIMUM_WAIT_SECONDS = 60.0
"""A provider that asks for a longer wait is not asked again."""


class _FailedAttempt(NamedTuple):
    error_class: str
    detail: str
    usage: ModelUsage
    reason: FailureReason
    is_retryable: bool
    wait_seconds: float


class ModelStep:
    """Gets a turn for a request, in at most `MAXIMUM_ATTEMPTS` attempts; each one is charged."""

    def __init__(
        self, *, units: UnitOfWorkFactory, clock: Clock, journal: Journal, provider: ModelProvider
    ) -> None:
        self._units = units
        self._clock = clock
        self._journal = journal
        self._provider = provider

    async def take(self, run: Run, request: ModelRequest) -> tuple[Run, ModelTurn]:
        """The turn, and the run with the usage of every attempt.

        Raises `StepFailed` if a budget does not allow an attempt or its cost, if the provider
        fails for good, and if the last attempt fails or gives neither text nor calls.
        """
        attempt_number = 0
        while True:
            attempt_number += 1
            request = request._replace(attempt_number=attempt_number)
            run = await self._start(run, request)
            result = await self._attempt(request)
            run = await self._finish(run, request, result)
            if isinstance(result, ModelTurn):
                return run, result
            if not result.is_retryable or attempt_number == MAXIMUM_ATTEMPTS:
                raise StepFailed(result.reason, request.step_number, result.error_class)
            await self._clock.sleep(result.wait_seconds)

    async def _start(self, run: Run, request: ModelRequest) -> Run:
        usage = run.usage._replace(model_calls=run.usage.model_calls + 1)
        if usage.exceeds(run.limits):
            raise StepFailed(FailureReason.BUDGET_EXCEEDED, request.step_number)
        run = run._replace(usage=usage)
        async with self._units() as unit:
            await unit.runs.update(run, expected=RunStatus.RUNNING)
            await self._journal.record(
                unit,
                run,
                EventType.MODEL_REQUEST_STARTED,
                {
                    **_place(request),
                    "provider": self._provider.name,
                    "prefix_sha256": request.prefix_sha256,
                    "body_items": len(request.body),
                },
            )
        return run

    async def _attempt(self, request: ModelRequest) -> ModelTurn | _FailedAttempt:
        try:
            async with self._clock.timeout(ATTEMPT_TIMEOUT_SECONDS):
                turn = await assemble(self._provider.stream(request))
        except TimeoutError:
            return _failed(ModelError(ModelErrorClass.TIMEOUT), request.attempt_number)
        except ModelError as error:
            return _failed(error, request.attempt_number)
        if turn.is_empty:
            return _empty(turn, request.attempt_number)
        return turn

    async def _finish(
        self, run: Run, request: ModelRequest, result: ModelTurn | _FailedAttempt
    ) -> Run:
        usage = run.usage._replace(
            input_tokens=run.usage.input_tokens + result.usage.input_tokens,
            output_tokens=run.usage.output_tokens + result.usage.output_tokens,
        )
        run = run._replace(usage=usage)
        completed = isinstance(result, ModelTurn)
        async with self._units() as unit:
            await unit.runs.update(run, expected=RunStatus.RUNNING)
            await self._journal.record(
                unit,
                run,
                EventType.MODEL_RESPONSE_COMPLETED
                if completed
                else EventType.MODEL_RESPONSE_FAILED,
                {
                    **_place(request),
                    "input_tokens": result.usage.input_tokens,
                    "output_tokens": result.usage.output_tokens,
                    **_described(result),
                },
            )
        if usage.exceeds(run.limits):
            raise StepFailed(FailureReason.BUDGET_EXCEEDED, request.step_number)
        return run


def _place(request: ModelRequest) -> JsonObject:
    return {"step_number": request.step_number, "attempt_number": request.attempt_number}


def _described(result: ModelTurn | _FailedAttempt) -> JsonObject:
    if isinstance(result, _FailedAttempt):
        return {"error_class": result.error_class, "detail": result.detail}
    return {
        "stop_reason": result.stop_reason,
        "text": result.text,
        "tool_calls": [{"call_id": c.call_id, "tool_name": c.name} for c in result.tool_calls],
    }


def _failed(error: ModelError, attempt_number: int) -> _FailedAttempt:
    may_help = error.error_class.is_retryable
    wait_seconds = _wait_seconds(attempt_number, error.retry_after_seconds)
    return _FailedAttempt(
        error_class=error.error_class,
        detail=error.detail,
        usage=error.usage,
        reason=FailureReason.MAX_ATTEMPTS_EXCEEDED
        if may_help
        else FailureReason.MODEL_PERMANENT_ERROR,
        is_retryable=may_help and wait_seconds <= MAXIMUM_WAIT_SECONDS,
        wait_seconds=wait_seconds,
    )


def _empty(turn: ModelTurn, attempt_number: int) -> _FailedAttempt:
    return _FailedAttempt(
        error_class="empty_turn",
        detail="neither text nor calls",
        usage=turn.usage,
        reason=FailureReason.EMPTY_MODEL_TURN,
        is_retryable=True,
        wait_seconds=_wait_seconds(attempt_number, None),
    )


def _wait_seconds(attempt_number: int, retry_after_seconds: float | None) -> float:
    """One second, then two; longer if the provider asks for it."""
    backoff = float(2 ** (attempt_number - 1))
    return max(backoff, retry_after_seconds or 0.0)
