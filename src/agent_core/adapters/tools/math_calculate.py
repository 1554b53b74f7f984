"""The builtin tool `math.calculate`."""

from __future__ import annotations

from agent_core.adapters.tools.calculator.arithmetic import PRECISION
from agent_core.adapters.tools.calculator.errors import ExpressionError
from agent_core.adapters.tools.calculator.evaluation import calculate
from agent_core.adapters.tools.calculator.grammar import MAXIMUM_CHARACTERS
from agent_core.domain.canonical import JsonObject
from agent_core.domain.tools import (
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    ToolFailure,
    ToolFailureKind,
    ToolResult,
    ToolSpec,
)
from agent_core.domain.trust import TrustLevel
from agent_core.ports.tools import Tool, ToolContext

_SPEC = ToolSpec(
    name="math.calculate",
    version="1",
    description=(
        "Compute an arithmetic expression with 50 decimal digits. Operators: + - * / // % ** ^. "
        "Functions: abs, ceil, floor, round, sqrt, ln, log10, exp, min, max. Constants: pi, e."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "expression": {"type": "string", "minLength": 1, "maxLength": MAXIMUM_CHARACTERS}
        },
        "required": ["expression"],
    },
    output_schema={
        "type": "object",
        "properties": {
            "result": {"type": "string", "minLength": 1},
            "result_exact": {"type": "boolean"},
            "expression": {"type": "string"},
        },
        "required": ["result", "result_exact", "expression"],
    },
    side_effect=SideEffectClass.NONE,
    risk=RiskLevel.LOW,
    idempotency=IdempotencyClass.READ_ONLY,
    output_trust=TrustLevel.INTERNAL_TOOL,
    timeout_seconds=2,
    maximum_output_bytes=4096,
    allow_parallel=True,
)


class MathCalculate(Tool):
    """Computes one expression. Content: the result, and a second line if a step rounded."""

    @property
    def spec(self) -> ToolSpec:
        return _SPEC

    async def run(self, arguments: JsonObject, context: ToolContext) -> ToolResult:
        expression = str(arguments["expression"])
        try:
            calculation = calculate(expression)
        except ExpressionError as error:
            raise ToolFailure(
                ToolFailureKind.INVALID_ARGUMENTS, f"tool.invalid_arguments.{error.code}"
            ) from None
        content = calculation.text
        if not calculation.is_exact:
            content += f"\nRounded to {PRECISION} significant digits."
        return ToolResult(
            {
                "result": calculation.text,
                "result_exact": calculation.is_exact,
                "expression": expression,
            },
            content,
        )
