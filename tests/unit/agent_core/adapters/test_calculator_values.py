"""The calculator: values, exactness, grammar, bounds, and what it refuses."""

import decimal

import pytest

from agent_core.adapters.tools.calculator.arithmetic import PRECISION, Arithmetic
from agent_core.adapters.tools.calculator.errors import ErrorCode, ExpressionError
from agent_core.adapters.tools.calculator.evaluation import calculate
from agent_core.adapters.tools.calculator.grammar import (
    MAXIMUM_CHARACTERS,
    MAXIMUM_DEPTH,
    MAXIMUM_TOKENS,
    Push,
    parse,
)

PI = "3.1415926535897932384626433832795028841971693993751"
E = "2.7182818284590452353602874713526624977572470937"


def value(expression):
    return calculate(expression).text


def refusal(expression):
    with pytest.raises(ExpressionError) as caught:
        calculate(expression)
    return caught.value.code


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("17 * 23", "391"),
        ("0.1 + 0.2", "0.3"),
        ("1 - 0.9", "0.1"),
        ("2.5 * 4", "10"),
        ("1 / 8", "0.125"),
        ("1.50 + 1.50", "3"),
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4", "20"),
        ("10 - 4 - 3", "3"),
        ("100 / 10 / 2", "5"),
        ("7 // 2", "3"),
        ("-7 // 2", "-4"),
        ("7 // -2", "-4"),
        ("-7 // -2", "3"),
        ("7 % 2", "1"),
        ("-7 % 2", "1"),
        ("7 % -2", "-1"),
        ("-7 % -2", "-1"),
        ("7.5 // 2", "3"),
        ("-7.5 % 2", "0.5"),
        ("1e60 % 7", str(10**60 % 7)),
        ("-1e10000 % 7", str(-(10**10000) % 7)),
        ("1e10000 % 1e-10049", "0"),
        ("2 ** 10", "1024"),
        ("2 ^ 10", "1024"),
        ("2 ** 3 ** 2", "512"),
        ("2 ^ 3 ^ 2", "512"),
        ("2 ** 3 ^ 2", "512"),
        ("(2 ** 3) ** 2", "64"),
        ("-2 ** 2", "-4"),
        ("(-2) ** 2", "4"),
        ("2 ** -1", "0.5"),
        ("2 ** -2 ** 2", "0.0625"),
        ("-2 ** -2", "-0.25"),
        ("--3", "3"),
        ("+-+3", "-3"),
        ("2 - -3", "5"),
        ("2--3", "5"),
        ("4 ** 0.5", "2"),
        ("(-8) ** 3", "-512"),
        ("(-1) ** 1e9999", "1"),
        ("0 * -1", "0"),
        ("-0", "0"),
        ("0 ** 5", "0"),
        (".5 + 1.", "1.5"),
        ("1.e2 + 1E+2 + 1e-1", "200.1"),
        ("\t1\n+ 1\r", "2"),
        ("abs(-3.5)", "3.5"),
        ("ceil(1.2)", "2"),
        ("ceil(-1.2)", "-1"),
        ("floor(1.8)", "1"),
        ("floor(-1.2)", "-2"),
        ("round(2.5)", "2"),
        ("round(3.5)", "4"),
        ("round(2.345, 2)", "2.34"),
        ("round(1250, -2)", "1200"),
        ("round(1e10000, 50)", "1E+10000"),
        ("round(1e-10049, 50)", "0"),
        ("sqrt(144)", "12"),
        ("sqrt(0)", "0"),
        ("ln(1)", "0"),
        ("log10(1000)", "3"),
        ("log10(1e-7)", "-7"),
        ("exp(0)", "1"),
        ("min(3, 1, 2)", "1"),
        ("max(3, 1, 2)", "3"),
        ("min(5)", "5"),
        ("max(1, min(4, 2 + 3), sqrt(9))", "4"),
        ("max(1e10000, -1e10000)", "1E+10000"),
    ],
)
def test_exact_values(expression, expected):
    assert calculate(expression) == (expected, True)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 / 3", "0." + "3" * 50),
        ("2 / 3", "0." + "6" * 49 + "7"),
        ("pi", PI),
        ("e", E),
        ("exp(1)", E),
        ("sqrt(2)", "1.4142135623730950488016887242096980785696718753769"),
        ("2 ** 0.5", "1.4142135623730950488016887242096980785696718753769"),
        ("ln(2)", "0.69314718055994530941723212145817656807550013436026"),
        ("1e50 + 1", "1E+50"),
        ("10 ** 60 // 7", "1." + "428571" * 8 + "4E+59"),
        ("floor(10 / 3)", "3"),
        ("0." + "3" * 51, "0." + "3" * 50),
    ],
)
def test_rounded_values_say_so(expression, expected):
    assert calculate(expression) == (expected, False)


def test_a_tie_in_the_last_digit_goes_to_the_even_one():
    assert value("1" + "0" * 48 + "25e-1") == value("1" + "0" * 48 + "2")
    assert value("1" + "0" * 48 + "35e-1") == value("1" + "0" * 48 + "4")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("10 ** 25", "1" + "0" * 25),
        ("10 ** 26", "1E+26"),
        ("-10 ** 26", "-1E+26"),
        ("10 ** -25", "0." + "0" * 24 + "1"),
        ("10 ** -26", "1E-26"),
        ("12345e22", "1.2345E+26"),
        ("12345e21", "12345" + "0" * 21),
        ("12345e-30", "1.2345E-26"),
        ("12345e-29", "0." + "0" * 24 + "12345"),
        ("2 ** 100", "1.267650600228229401496703205376E+30"),
        ("1e10000", "1E+10000"),
        ("1e-10049", "1E-10049"),
    ],
)
def test_values_far_from_one_are_written_with_an_exponent(expression, expected):
    assert value(expression) == expected


REFUSED = {
    ErrorCode.SYNTAX: """
        + | 1 + | * 1 | 1 2 | 2pi | 2(3) | (1 | 1) | () | 1,2 | (1, 2) | 1 ** | 1 *** 2 | 1 /// 2
        1__0 | 1_000 | 0x10 | 1e | 1e+ | . | 1..2 | 1e5e5 | 1 pi | 1 = 1 | 1 < 2 | a.b | '1' | [1]
        __import__('os') | 1;2 | 1 if 1 else 2 | sqrt(1,) | sqrt(,1) | min(1 2) | max( | \0
        \u0663 | \u00b9 | 1\u00a0+ 1 | \u22121 | \u00bd | 1\ud800 | \u03c0 | 1\v+1
    """,
    ErrorCode.UNKNOWN_NAME: """
        x | x + 1 | sin(1) | log(1) | PI | Sqrt(4) | e1 | foo() | __import__ | inf | NaN()
        sqrt | min | pi(1) | e(1)
    """,
    ErrorCode.ARITY: """
        sqrt() | sqrt(1, 2) | abs() | min() | max() | round() | round(1, 2, 3) | exp(1, 2) | ln()
        log10(1, 10) | ceil(1, 1) | floor()
    """,
    ErrorCode.DOMAIN: """
        sqrt(-1) | ln(0) | ln(-1) | log10(0) | log10(-5) | 0 ** 0 | (-8) ** (1/3) | (-4) ** 0.5
        (-2) ** 0.1 | round(1, 0.5) | round(1, 51) | round(1, -51) | round(1, 1e9999)
    """,
    ErrorCode.DIVISION_BY_ZERO: """
        1 / 0 | 0 / 0 | 1 // 0 | 1 % 0 | 0 // 0 | 0 % 0 | 5 / (3 - 3) | 0 ** -1 | 0 ** -0.5
        (-0) ** -3 | 1 / 0.0 | 1 / (0 * -1)
    """,
    ErrorCode.RESULT_OUT_OF_RANGE: """
        9 ** 9 ** 9 | 9 ^ 9 ^ 9 | 1e10001 | 1.1e10000 | -1.1e10000 | 9.9e10000 | 1e10000 * 10
        1e10000 + 1e10000 | -1e10000 - 1e10000 | exp(1e9999) | exp(-100000) | 0.5 ** 1e9999
        1e-10050 | 1e-6000 * 1e-6000 | 1e99999999999999 | 1e-99999999999999 | 2 ** 1e10000
        1e10000 // 1e-10049 | 10 ** 10000.1 | 1 / 1e-10049 | min(1e10001, 1)
    """,
}


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        (expression.strip(), code)
        for code, lines in REFUSED.items()
        for line in lines.strip().split("\n")
        for expression in line.split("|")
    ],
)
def test_refusals(expression, code):
    assert refusal(expression) is code


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_nothing_is_no_expression(blank):
    assert refusal(blank) is ErrorCode.SYNTAX


def test_every_error_code_is_given_for_something():
    given_codes = {
        refusal(text)
        for text in ("(", "x", "min()", "ln(0)", "1/0", "1e10001", "1+" * 512 + "1", "-" * 33 + "1")
    }
    assert given_codes == set(ErrorCode)


@pytest.mark.parametrize("expression", ["1 / 0 +", "x + (", "sqrt() )", "9 ** 9 ** 9 *"])
def test_the_whole_text_is_read_before_anything_is_computed(expression):
    assert refusal(expression) in {ErrorCode.SYNTAX, ErrorCode.UNKNOWN_NAME, ErrorCode.ARITY}


def test_the_character_bound():
    assert value("1" + " " * (MAXIMUM_CHARACTERS - 2) + " ") == "1"
    assert refusal("1" + " " * MAXIMUM_CHARACTERS) is ErrorCode.EXPRESSION_TOO_LONG
    assert len("1" + " " * MAXIMUM_CHARACTERS) == 1025


def test_the_token_bound():
    at_most = "1" + "+1" * ((MAXIMUM_TOKENS - 1) // 2)
    assert value("-" + at_most) == "254"
    assert refusal("--" + at_most) is ErrorCode.EXPRESSION_TOO_LONG


@pytest.mark.parametrize(
    "nested",
    [
        lambda depth: "(" * depth + "1" + ")" * depth,
        lambda depth: "-" * depth + "1",
        lambda depth: "+" * depth + "1",
        lambda depth: "1" + "**1" * depth,
        lambda depth: "abs(" * depth + "1" + ")" * depth,
        lambda depth: (
            "max(1,(" * (depth // 2)
            + "1" * (1 - depth % 2)
            + "(1)" * (depth % 2)
            + "))" * (depth // 2)
        ),
    ],
)
def test_the_depth_bound(nested):
    assert value(nested(MAXIMUM_DEPTH)) in {"1", "-1"}
    assert refusal(nested(MAXIMUM_DEPTH + 1)) is ErrorCode.EXPRESSION_TOO_DEEP


def test_depth_is_given_back_when_a_nesting_ends():
    assert value("+".join(["(((1)))"] * 60)) == "60"
    assert value("*".join(["-1"] * 100)) == "1"


def test_a_program_is_postfix():
    shape = [
        item.text if isinstance(item, Push) else item.operand_count for item in parse("-2 ** 3 + 4")
    ]
    assert shape == ["2", "3", 2, 1, "4", 2]


# The work of a calculation is bounded by construction: at most 512 tokens, hence operations, each
# on values of at most 50 digits and of a magnitude of at most 1e10000.
@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "*".join(["2**0.1"] * 100),
        "+".join(["exp(ln(7.3))"] * 46),
        "1e10000" + "//1.0000001" * 90,
        "1e10000" + "%1e-10000" * 90,
        "+".join(["round(1e10000,50)"] * 56),
        "1.0000000000000000000000000000000000000000000000001**1e50",
        "0." + "3" * 1000,
    ],
)
def test_every_value_on_the_way_is_bounded(expression):
    arithmetic = Arithmetic()
    stack = []
    try:
        for item in parse(expression):
            if isinstance(item, Push):
                stack.append(arithmetic.literal(item.text))
            else:
                operands = [stack.pop() for _ in range(item.operand_count)][::-1]
                stack.append(arithmetic.apply(item.operation, operands))
            assert len(stack[-1].as_tuple().digits) <= PRECISION
            assert abs(stack[-1].adjusted()) <= 10_049
    except ExpressionError:
        assert refusal(expression) is ErrorCode.RESULT_OUT_OF_RANGE
    assert 0 < len(parse(expression)) <= MAXIMUM_TOKENS


def test_the_surroundings_do_not_matter():
    expressions = ["1/3", "0.1+0.2", "-7//2", "round(2.345,2)", "floor(-1.5)", "1e20+1", "max(1,2)"]
    decimal.getcontext().clear_flags()
    plain = [calculate(expression) for expression in expressions]
    with decimal.localcontext() as ambient:
        ambient.prec = 2
        ambient.rounding = decimal.ROUND_UP
        ambient.Emax, ambient.Emin = 5, -5
        for signal in ambient.traps:
            ambient.traps[signal] = True
        assert [calculate(expression) for expression in expressions] == plain
    assert not any(decimal.getcontext().flags.values())


def test_one_calculation_leaves_nothing_for_the_next():
    assert not calculate("1/3").is_exact
    assert calculate("1+1").is_exact
