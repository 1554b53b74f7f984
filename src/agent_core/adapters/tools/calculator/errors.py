"""Why an expression has no value."""

from __future__ import annotations

from enum import StrEnum


class ErrorCode(StrEnum):
    SYNTAX = "syntax"
    UNKNOWN_NAME = "unknown_name"
    ARITY = "arity"
    DOMAIN = "domain"
    DIVISION_BY_ZERO = "division_by_zero"
    RESULT_OUT_OF_RANGE = "result_out_of_range"
    EXPRESSION_TOO_LONG = "expression_too_long"
    EXPRESSION_TOO_DEEP = "expression_too_deep"


class ExpressionError(Exception):
    """The only error that parsing and evaluating raise."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code)
        self.code = code
