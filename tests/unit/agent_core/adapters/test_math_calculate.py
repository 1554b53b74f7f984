"""The tool around the calculator: its declaration, its result, its failures."""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.tools.calculator.errors import ErrorCode
from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.domain.json_schema import conforms
from agent_core.domain.outcomes import REASONS
from agent_core.domain.tools import (
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    ToolFailure,
    ToolFailureKind,
)
from agent_core.domain.trust import TrustLevel
from agent_core.ports.tools import ToolContext

TOOL = MathCalculate()


async def no_effect():
    raise AssertionError("it has no effect to record")


CONTEXT = ToolContext("invocation", "key", PinnedClock(datetime(2026, 1, 1, tzinfo=UTC)), no_effect)


def run(expression):
    return asyncio.run(TOOL.run({"expression": expression}, CONTEXT))


def test_its_declaration():
    spec = TOOL.spec
    assert (spec.name, spec.side_effect, spec.risk, spec.idempotency) == (
        "math.calculate",
        SideEffectClass.NONE,
        RiskLevel.LOW,
        IdempotencyClass.READ_ONLY,
    )
    assert (spec.output_trust, spec.required_scopes) == (TrustLevel.INTERNAL_TOOL, frozenset())
    assert (spec.timeout_seconds, spec.maximum_output_bytes) == (2, 4096)
    assert spec.runs_in_parallel


def test_an_exact_result_is_one_line():
    result = run("17 * 23")
    assert result.output == {"result": "391", "result_exact": True, "expression": "17 * 23"}
    assert result.content == "391"


def test_a_rounded_result_says_so_on_a_second_line():
    result = run("1 / 3")
    assert result.output["result_exact"] is False
    assert result.content.splitlines() == [
        "0." + "3" * 50,
        "Rounded to 50 significant digits.",
    ]


@pytest.mark.parametrize(
    ("arguments", "accepted"),
    [
        ({"expression": "1"}, True),
        ({"expression": "1" * 1024}, True),
        ({"expression": "1" * 1025}, False),
        ({"expression": ""}, False),
        ({"expression": 1}, False),
        ({}, False),
        ({"expression": "1", "precision": 10}, False),
    ],
)
def test_its_input(arguments, accepted):
    assert conforms(arguments, TOOL.spec.input_schema) is accepted


FAILING = {
    ErrorCode.SYNTAX: "1 +",
    ErrorCode.UNKNOWN_NAME: "sin(1)",
    ErrorCode.ARITY: "sqrt()",
    ErrorCode.DOMAIN: "sqrt(-1)",
    ErrorCode.DIVISION_BY_ZERO: "1 / 0",
    ErrorCode.RESULT_OUT_OF_RANGE: "9**9**9",
    ErrorCode.EXPRESSION_TOO_LONG: "+".join(["1"] * 257),
    ErrorCode.EXPRESSION_TOO_DEEP: "(" * 33 + "1" + ")" * 33,
}


@pytest.mark.parametrize("code", ErrorCode)
def test_each_of_its_failures_has_a_message(code):
    with pytest.raises(ToolFailure) as caught:
        run(FAILING[code])
    assert caught.value.kind is ToolFailureKind.INVALID_ARGUMENTS
    assert caught.value.reason_code == f"tool.invalid_arguments.{code.value}"
    assert caught.value.reason_code in REASONS


@pytest.mark.parametrize("expression", ["17 * 23", "1/3", "pi" + " " * 1022, "-1/3e-9990"])
def test_its_output_is_what_it_declares(expression):
    result = run(expression)
    assert conforms(result.output, TOOL.spec.output_schema)
    assert result.output["expression"] == expression
