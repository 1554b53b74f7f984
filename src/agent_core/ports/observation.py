"""Watching a call on its way through the tool pipeline."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from agent_core.domain.invocations import ToolInvocation
from agent_core.domain.runs import Run

BEFORE_EFFECT = "before_effect"
AFTER_EFFECT = "after_effect"

PipelineObserver: TypeAlias = Callable[[str, Run, ToolInvocation], Awaitable[None]]
"""Is awaited at each point of the pipeline, with the point's name, the run and the call's record as
they are known there, while no unit of work is open. An error that it raises ends the execution.

`pipeline.<step>.before` and `pipeline.<step>.after` enclose each of the steps 1 to 14 that the call
comes to; a step that refuses the call has no `after`. `before_effect`: the tool is about to have
its effect, and nothing of that is on record yet. `after_effect`: the tool that set its watermark
has come back."""
