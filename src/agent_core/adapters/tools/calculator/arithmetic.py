"""Decimal arithmetic of a fixed precision and range.

Every value that leaves an operation has at most `PRECISION` digits and a magnitude of at most
1e10000, so one operation is a bounded piece of work whatever the expression.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import NamedTuple

from agent_core.adapters.tools.calculator.errors import ErrorCode, ExpressionError

PRECISION = 50
_MAXIMUM_EXPONENT = 10_000
_MAXIMUM = Decimal(f"1e{_MAXIMUM_EXPONENT}")
_ZERO = Decimal(0)
_ONE = Decimal(1)
_HALF = Decimal("0.5")
_ROUND_DIGITS = 50

_STANDARD = decimal.Context(
    prec=PRECISION,
    rounding=decimal.ROUND_HALF_EVEN,
    Emin=-_MAXIMUM_EXPONENT,
    Emax=_MAXIMUM_EXPONENT,
    capitals=1,
    clamp=0,
    flags=[],
    traps=[
        decimal.Overflow,
        decimal.Underflow,
        decimal.DivisionByZero,
        decimal.InvalidOperation,
    ],
)
# Quotients and remainders are taken exactly before they are rounded. Two values that are furthest
# apart, 1e10000 and the smallest subnormal, have a quotient of less than this many digits.
_EXACT = decimal.Context(
    prec=2 * (_MAXIMUM_EXPONENT + PRECISION) + 2,
    Emin=decimal.MIN_EMIN,
    Emax=decimal.MAX_EMAX,
    rounding=decimal.ROUND_HALF_EVEN,
    traps=[decimal.InvalidOperation, decimal.Inexact],
)


class Arithmetic:
    """The operations, and whether any of them had to round so far."""

    def __init__(self) -> None:
        self._context = _STANDARD.copy()

    @property
    def is_exact(self) -> bool:
        return not self._context.flags[decimal.Inexact]

    def literal(self, text: str) -> Decimal:
        """The number that `text` is; raises `ExpressionError` if it is out of range."""
        create = self._context.create_decimal
        return self._guarded(lambda: create(text), ErrorCode.RESULT_OUT_OF_RANGE)

    def apply(self, operation: Operation, operands: Sequence[Decimal]) -> Decimal:
        """The value of `operation`; raises `ExpressionError` if there is none within range."""
        return self._guarded(lambda: operation(self._context, *operands), ErrorCode.DOMAIN)

    def _guarded(self, work: Callable[[], Decimal], invalid: ErrorCode) -> Decimal:
        try:
            value = work()
        except (decimal.Overflow, decimal.Underflow):
            raise ExpressionError(ErrorCode.RESULT_OUT_OF_RANGE) from None
        except decimal.DivisionByZero:
            raise ExpressionError(ErrorCode.DIVISION_BY_ZERO) from None
        except decimal.InvalidOperation:
            raise ExpressionError(invalid) from None
        if value.copy_abs() > _MAXIMUM:
            raise ExpressionError(ErrorCode.RESULT_OUT_OF_RANGE)
        return value


Operation = Callable[..., Decimal]
"""Takes the context and the operands."""


def _divide(context: decimal.Context, dividend: Decimal, divisor: Decimal) -> Decimal:
    _refuse_zero(divisor)
    return context.divide(dividend, divisor)


def _floor_divide(context: decimal.Context, dividend: Decimal, divisor: Decimal) -> Decimal:
    return context.plus(_floored(dividend, divisor)[0])


def _modulo(context: decimal.Context, dividend: Decimal, divisor: Decimal) -> Decimal:
    return context.plus(_floored(dividend, divisor)[1])


def _floored(dividend: Decimal, divisor: Decimal) -> tuple[Decimal, Decimal]:
    """Quotient towards minus infinity and the remainder, which has the sign of the divisor.

    The type's own operators go towards zero, which disagrees with integers.
    """
    _refuse_zero(divisor)
    quotient, remainder = _EXACT.divmod(dividend, divisor)
    if remainder and remainder.is_signed() != divisor.is_signed():
        return _EXACT.subtract(quotient, _ONE), _EXACT.add(remainder, divisor)
    return quotient, remainder


def _power(context: decimal.Context, base: Decimal, exponent: Decimal) -> Decimal:
    if not base and exponent.is_signed() and exponent:
        raise ExpressionError(ErrorCode.DIVISION_BY_ZERO)
    if exponent == _HALF:
        return context.sqrt(base)  # exact where the root is, which power never reports
    return context.power(base, exponent)


def _natural_logarithm(context: decimal.Context, value: Decimal) -> Decimal:
    _refuse_unless_positive(value)
    return context.ln(value)


def _decimal_logarithm(context: decimal.Context, value: Decimal) -> Decimal:
    _refuse_unless_positive(value)
    return context.log10(value)


def _floor(context: decimal.Context, value: Decimal) -> Decimal:
    return value.to_integral_value(decimal.ROUND_FLOOR, context)


def _ceiling(context: decimal.Context, value: Decimal) -> Decimal:
    return value.to_integral_value(decimal.ROUND_CEILING, context)


def _round(context: decimal.Context, value: Decimal, digits: Decimal = _ZERO) -> Decimal:
    """Half to even, to so many digits after the point, or before it if negative."""
    if digits != digits.to_integral_value(context=context) or digits.copy_abs() > _ROUND_DIGITS:
        raise ExpressionError(ErrorCode.DOMAIN)
    unit = Decimal((0, (1,), -int(digits)))
    exact = _EXACT.copy()
    exact.traps[decimal.Inexact] = False
    return context.plus(exact.quantize(value, unit))


def _minimum(context: decimal.Context, *values: Decimal) -> Decimal:
    return min(values)


def _maximum(context: decimal.Context, *values: Decimal) -> Decimal:
    return max(values)


def _refuse_zero(divisor: Decimal) -> None:
    if not divisor:
        raise ExpressionError(ErrorCode.DIVISION_BY_ZERO)


def _refuse_unless_positive(value: Decimal) -> None:
    if value <= 0:
        raise ExpressionError(ErrorCode.DOMAIN)


class Function(NamedTuple):
    """`most` is None for any number of arguments from `least` on."""

    operation: Operation
    least: int
    most: int | None


BINARY: dict[str, Operation] = {
    "+": decimal.Context.add,
    "-": decimal.Context.subtract,
    "*": decimal.Context.multiply,
    "/": _divide,
    "//": _floor_divide,
    "%": _modulo,
    "**": _power,
    "^": _power,
}
PREFIX: dict[str, Operation] = {"+": decimal.Context.plus, "-": decimal.Context.minus}
FUNCTIONS: dict[str, Function] = {
    "abs": Function(decimal.Context.abs, 1, 1),
    "ceil": Function(_ceiling, 1, 1),
    "floor": Function(_floor, 1, 1),
    "round": Function(_round, 1, 2),
    "sqrt": Function(decimal.Context.sqrt, 1, 1),
    "ln": Function(_natural_logarithm, 1, 1),
    "log10": Function(_decimal_logarithm, 1, 1),
    "exp": Function(decimal.Context.exp, 1, 1),
    "min": Function(_minimum, 1, None),
    "max": Function(_maximum, 1, None),
}
CONSTANTS: dict[str, str] = {
    # More digits than the precision, so that reading one counts as rounding.
    "pi": "3.14159265358979323846264338327950288419716939937510582097494459",
    "e": "2.71828182845904523536028747135266249775724709369995957496696763",
}
