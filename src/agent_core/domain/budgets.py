"""The limits of a run, checked in three scopes before something is spent, and after each charge.

Each function gives the limit that is passed, or would be, and None while the run may go on.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from agent_core.domain.model import ModelUsage
from agent_core.domain.runs import Dimension, PassedLimit, Run, RunLimits, RunUsage


def admission(run: Run, now: datetime) -> PassedLimit | None:
    """May the run be taken up at all? One step, one model call and some time have to be left."""
    return step(run, now) or attempt(run, now)


def step(run: Run, now: datetime) -> PassedLimit | None:
    """May the run take one more step?"""
    return (
        _over(Dimension.STEPS, run.limits.max_steps, run.step_count + 1)
        or _over(Dimension.TOOL_CALLS, run.limits.max_tool_calls, run.usage.tool_calls)
        or _cost(run.usage, run.limits)
        or deadline(run, now)
    )


def attempt(run: Run, now: datetime) -> PassedLimit | None:
    """May the provider be asked once more? It takes at least one token in either direction."""
    usage, limits = run.usage, run.limits
    return (
        _over(Dimension.MODEL_CALLS, limits.max_model_calls, usage.model_calls + 1)
        or _over(Dimension.INPUT_TOKENS, limits.max_input_tokens, usage.input_tokens + 1)
        or _over(Dimension.OUTPUT_TOKENS, limits.max_output_tokens, usage.output_tokens + 1)
        or _cost(usage, limits)
        or deadline(run, now)
    )


def batch(run: Run, calls: int, now: datetime) -> PassedLimit | None:
    """May `calls` tool calls be made? A batch that does not fit as a whole is not begun."""
    usage = run.usage.tool_calls + calls
    return _over(Dimension.TOOL_CALLS, run.limits.max_tool_calls, usage) or deadline(run, now)


def recorded(run: Run) -> PassedLimit | None:
    """Has what was just charged passed a limit?"""
    usage, limits = run.usage, run.limits
    return (
        _over(Dimension.INPUT_TOKENS, limits.max_input_tokens, usage.input_tokens)
        or _over(Dimension.OUTPUT_TOKENS, limits.max_output_tokens, usage.output_tokens)
        or _cost(usage, limits)
    )


def deadline(run: Run, now: datetime, further_seconds: float = 0.0) -> PassedLimit | None:
    """Is the deadline passed, or will it be after `further_seconds` of waiting?"""
    limit = run.limits.deadline_seconds
    if limit is None:
        return None
    return _over(Dimension.SECONDS, limit, seconds_used(run, now) + further_seconds)


def seconds_used(run: Run, now: datetime) -> float:
    """Since the submission."""
    return (now - run.created_at) / timedelta(seconds=1)


def charged(run: Run, usage: ModelUsage) -> Run:
    """The run with the usage of one attempt on its account."""
    return run._replace(
        usage=run.usage._replace(
            input_tokens=run.usage.input_tokens + usage.input_tokens,
            output_tokens=run.usage.output_tokens + usage.output_tokens,
            cost_micros=run.usage.cost_micros + usage.cost_micros,
        )
    )


def limit_problems(limits: RunLimits) -> list[str]:
    """What makes `limits` no limits: each names the field."""
    return [
        f"{name}: must be a finite number of at least 0"
        for name, value in limits._asdict().items()
        if value is not None and not 0 <= value < float("inf")
    ]


def _cost(usage: RunUsage, limits: RunLimits) -> PassedLimit | None:
    """An attempt may be free of charge, so nothing need be left before it."""
    if limits.max_cost_micros is None:
        return None
    return _over(Dimension.COST_MICROS, limits.max_cost_micros, usage.cost_micros)


def _over(dimension: Dimension, limit: float, reached: float) -> PassedLimit | None:
    return PassedLimit(dimension, limit, reached) if reached > limit else None
