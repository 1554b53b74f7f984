"""From the text of an expression to a program for a stack.

    expression := term (('+' | '-') term)*
    term       := unary (('*' | '/' | '//' | '%') unary)*
    unary      := ('+' | '-') unary | power
    power      := primary (('**' | '^') unary)?
    primary    := number | constant | function '(' arguments ')' | '(' expression ')'

So `2**-1` is a half, `-2**2` is minus four and `2**3**2` is two to the ninth. The whole text is
read before anything is computed. Length, tokens and depth are bounded, and recursion goes no
deeper than the depth bound.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from agent_core.adapters.tools.calculator.arithmetic import (
    BINARY,
    CONSTANTS,
    FUNCTIONS,
    PREFIX,
    Operation,
)
from agent_core.adapters.tools.calculator.errors import ErrorCode, ExpressionError

MAXIMUM_CHARACTERS = 1024
MAXIMUM_TOKENS = 512
MAXIMUM_DEPTH = 32
"""Parentheses, calls, prefix operators and exponents inside each other."""

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
        (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<mark>\*\*|//|[-+*/%^(),])
    )""",
    re.VERBOSE,
)
_BLANKS = " \t\r\n"
_TERM_OPERATORS = frozenset({"*", "/", "//", "%"})
_SUM_OPERATORS = frozenset({"+", "-"})
_POWER_OPERATORS = frozenset({"**", "^"})


class Push(NamedTuple):
    """Put the number that `text` is on the stack."""

    text: str


class Apply(NamedTuple):
    """Replace the top `operand_count` values by the value of `operation`."""

    operation: Operation
    operand_count: int


Program: TypeAlias = list[Push | Apply]


def parse(text: str) -> Program:
    """The program that computes `text`. Raises `ExpressionError` and nothing else."""
    return _Parser(_tokens(text)).program()


class _Token(NamedTuple):
    kind: str
    text: str


_END = _Token("end", "")


def _tokens(text: str) -> list[_Token]:
    if len(text) > MAXIMUM_CHARACTERS:
        raise ExpressionError(ErrorCode.EXPRESSION_TOO_LONG)
    text = text.rstrip(_BLANKS)
    tokens: list[_Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ExpressionError(ErrorCode.SYNTAX)
        kind = str(match.lastgroup)
        tokens.append(_Token(kind, match[kind]))
        position = match.end()
        if len(tokens) > MAXIMUM_TOKENS:
            raise ExpressionError(ErrorCode.EXPRESSION_TOO_LONG)
    return tokens


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._position = 0
        self._depth = 0
        self._program: Program = []

    def program(self) -> Program:
        self._expression()
        if self._current is not _END:
            raise ExpressionError(ErrorCode.SYNTAX)
        return self._program

    @property
    def _current(self) -> _Token:
        return self._tokens[self._position] if self._position < len(self._tokens) else _END

    def _take(self) -> _Token:
        token = self._current
        self._position += 1
        return token

    def _take_mark(self, *marks: str) -> str | None:
        """The current token if it is one of `marks`, and go on; else None, and stay."""
        token = self._current
        return self._take().text if token.kind == "mark" and token.text in marks else None

    def _require(self, mark: str) -> None:
        if self._take_mark(mark) is None:
            raise ExpressionError(ErrorCode.SYNTAX)

    def _descend(self) -> None:
        self._depth += 1
        if self._depth > MAXIMUM_DEPTH:
            raise ExpressionError(ErrorCode.EXPRESSION_TOO_DEEP)

    def _ascend(self) -> None:
        self._depth -= 1

    def _expression(self) -> None:
        self._term()
        while operator := self._take_mark(*_SUM_OPERATORS):
            self._term()
            self._program.append(Apply(BINARY[operator], 2))

    def _term(self) -> None:
        self._unary()
        while operator := self._take_mark(*_TERM_OPERATORS):
            self._unary()
            self._program.append(Apply(BINARY[operator], 2))

    def _unary(self) -> None:
        operator = self._take_mark(*PREFIX)
        if operator is None:
            self._power()
            return
        self._descend()
        self._unary()
        self._ascend()
        self._program.append(Apply(PREFIX[operator], 1))

    def _power(self) -> None:
        self._primary()
        operator = self._take_mark(*_POWER_OPERATORS)
        if operator is not None:
            self._descend()
            self._unary()
            self._ascend()
            self._program.append(Apply(BINARY[operator], 2))

    def _primary(self) -> None:
        token = self._take()
        if token.kind == "number":
            self._program.append(Push(token.text))
        elif token.kind == "name":
            self._named(token.text)
        elif token.kind == "mark" and token.text == "(":
            self._descend()
            self._expression()
            self._ascend()
            self._require(")")
        else:
            raise ExpressionError(ErrorCode.SYNTAX)

    def _named(self, name: str) -> None:
        """A constant, or a function if a parenthesis follows."""
        if self._take_mark("(") is None:
            if name not in CONSTANTS:
                raise ExpressionError(ErrorCode.UNKNOWN_NAME)
            self._program.append(Push(CONSTANTS[name]))
            return
        if name not in FUNCTIONS:
            raise ExpressionError(ErrorCode.UNKNOWN_NAME)
        function = FUNCTIONS[name]
        count = self._arguments()
        if count < function.least or (function.most is not None and count > function.most):
            raise ExpressionError(ErrorCode.ARITY)
        self._program.append(Apply(function.operation, count))

    def _arguments(self) -> int:
        """Read the arguments after the opening parenthesis; returns how many there are."""
        if self._take_mark(")"):
            return 0
        self._descend()
        count = 1
        self._expression()
        while self._take_mark(","):
            self._expression()
            count += 1
        self._ascend()
        self._require(")")
        return count
