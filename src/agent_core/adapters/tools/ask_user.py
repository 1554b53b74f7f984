"""The control tool `conversation.ask_user`."""

from __future__ import annotations

from agent_core.domain.canonical import JsonObject
from agent_core.domain.tools import (
    CallSuspended,
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    ToolKind,
    ToolResult,
    ToolSpec,
)
from agent_core.domain.trust import TrustLevel
from agent_core.ports.tools import Tool, ToolContext

_MAXIMUM_QUESTION_LENGTH = 2000
_MAXIMUM_ANSWER_BYTES = 16_384
_SPEC = ToolSpec(
    name="conversation.ask_user",
    version="1",
    description="Ask the user a question and wait for the answer.",
    input_schema={
        "type": "object",
        "properties": {
            "question": {"type": "string", "minLength": 1, "maxLength": _MAXIMUM_QUESTION_LENGTH}
        },
        "required": ["question"],
    },
    output_schema={
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
    },
    side_effect=SideEffectClass.NONE,
    risk=RiskLevel.LOW,
    idempotency=IdempotencyClass.READ_ONLY,
    output_trust=TrustLevel.USER,
    timeout_seconds=2,
    maximum_output_bytes=_MAXIMUM_ANSWER_BYTES,
    kind=ToolKind.CONTROL,
)


class AskUser(Tool):
    """Its calls end when somebody answers, however long that takes: the run waits without a
    worker. What was asked is in the record of the call."""

    @property
    def spec(self) -> ToolSpec:
        return _SPEC

    async def run(self, arguments: JsonObject, context: ToolContext) -> ToolResult:
        raise CallSuspended
