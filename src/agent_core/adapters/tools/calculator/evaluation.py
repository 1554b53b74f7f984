"""The value of an expression, and how it is written."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from agent_core.adapters.tools.calculator.arithmetic import Arithmetic
from agent_core.adapters.tools.calculator.grammar import Push, parse

_POSITIONAL_EXPONENT = 25
"""Values with a first digit further from the point than this are written with an exponent."""


class Calculation(NamedTuple):
    """`is_exact`: no step on the way had to round. Asking for `floor` or `round` is no rounding."""

    text: str
    is_exact: bool


def calculate(expression: str) -> Calculation:
    """Compute `expression`. Raises `ExpressionError` and nothing else, whatever the text."""
    arithmetic = Arithmetic()
    stack: list[Decimal] = []
    for instruction in parse(expression):
        if isinstance(instruction, Push):
            stack.append(arithmetic.literal(instruction.text))
        else:
            operands = stack[-instruction.operand_count :]
            del stack[-instruction.operand_count :]
            stack.append(arithmetic.apply(instruction.operation, operands))
    return Calculation(_written(stack.pop()), arithmetic.is_exact)


def _written(value: Decimal) -> str:
    if not value:
        return "0"
    digits = "".join(map(str, value.as_tuple().digits)).rstrip("0")
    if abs(value.adjusted()) > _POSITIONAL_EXPONENT:
        mantissa = f"{digits[0]}.{digits[1:]}" if digits[1:] else digits
        return f"{'-' if value.is_signed() else ''}{mantissa}E{value.adjusted():+d}"
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
