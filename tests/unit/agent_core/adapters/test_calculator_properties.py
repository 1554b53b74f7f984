"""Properties of the calculator over generated numbers, expressions and texts."""

import decimal
import math
from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent_core.adapters.tools.calculator.errors import ErrorCode, ExpressionError
from agent_core.adapters.tools.calculator.evaluation import calculate

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


def value(expression):
    return calculate(expression).text


INTEGERS = st.integers(-(10**24), 10**24)


@given(INTEGERS, INTEGERS.filter(bool))
def test_flooring_division_and_remainder_agree_with_integers(a, b):
    assert value(f"({a}) // ({b})") == str(a // b)
    assert value(f"({a}) % ({b})") == str(a % b)


@given(INTEGERS, st.integers(-50, 50).filter(bool), st.integers(0, 9000))
def test_remainders_agree_with_integers_of_any_size(a, b, exponent):
    assert Fraction(value(f"({a}e{exponent}) % ({b})")) == a * 10**exponent % b


@given(INTEGERS, INTEGERS, st.sampled_from("+-*"))
def test_sums_and_products_agree_with_integers(a, b, operator):
    expected = {"+": a + b, "-": a - b, "*": a * b}[operator]
    calculation = calculate(f"({a}) {operator} ({b})")
    assert Fraction(calculation.text) == expected
    assert calculation.is_exact


@given(st.integers(-30, 30), st.integers(0, 40))
def test_powers_agree_with_integers_when_exact(base, exponent):
    assume(base or exponent)
    calculation = calculate(f"({base}) ** {exponent}")
    if abs(base**exponent) < 10**50:
        assert calculation.is_exact
        assert Fraction(calculation.text) == base**exponent
    else:
        assert math.isclose(Fraction(calculation.text) / base**exponent, 1)


@given(st.fractions(), st.fractions(), st.fractions())
def test_what_is_called_exact_is_exact(a, b, c):
    text = f"({a.numerator} / {a.denominator} + {b.numerator}) * {c.numerator} / {c.denominator}"
    calculation = calculate(text)
    expected = (a + b.numerator) * c
    if calculation.is_exact:
        assert Fraction(calculation.text) == expected
    elif expected:
        assert abs(Fraction(calculation.text) - expected) <= abs(expected) * Fraction(1, 10**20)


@given(st.integers(0, 10**9), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
def test_powers_associate_to_the_right(base, a, b, c):
    assume(base or (a and b and c))
    for operator in ("**", "^"):
        chained = f"{base}{operator}{a}{operator}{b}{operator}{c}"
        grouped = f"{base}{operator}({a}{operator}({b}{operator}{c}))"
        assert outcome(chained) == outcome(grouped)


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=10, min_value=-1000, max_value=1000)
)
def test_what_is_written_reads_back(number):
    written = value(str(number).replace("E", "e"))
    assert value(written) == written
    assert decimal.Decimal(written) == number


PIECES = st.sampled_from(
    [
        *"0123456789",
        *"+-*/%^(),. ",
        "**",
        "//",
        "e",
        "pi",
        "1e",
        "1e9999",
        "1e-9999",
        "0.5",
        *(f"{name}(" for name in ("abs", "round", "sqrt", "ln", "log10", "exp", "min", "max", "f")),
    ]
)


def outcome(text):
    try:
        return calculate(text)
    except ExpressionError as error:
        return error.code


@settings(max_examples=500)
@given(st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join)))
def test_any_text_has_a_value_or_one_of_the_eight_codes(text):
    result = outcome(text)
    assert result in set(ErrorCode) or decimal.Decimal(result.text).is_finite()
    assert outcome(text) == result


NUMBERS = st.sampled_from(
    ["0", "1", "2", "3", "7", "0.5", "1e10000", "1e-10000", "1e-10049", "9e9999", "1.5e40", "pi"]
)
EXPRESSIONS = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "**"]), inner).map(
            lambda parts: f"({''.join(parts)})"
        ),
        st.tuples(
            st.sampled_from(["abs", "ceil", "floor", "round", "sqrt", "ln", "log10", "exp"]), inner
        ).map(lambda parts: f"{parts[0]}({parts[1]})"),
        inner.map(lambda text: f"(-{text})"),
    ),
    max_leaves=12,
)
SEMANTIC = set(ErrorCode) - {ErrorCode.SYNTAX, ErrorCode.UNKNOWN_NAME, ErrorCode.ARITY}


@settings(max_examples=500)
@given(EXPRESSIONS)
def test_well_formed_expressions_have_a_value_in_range_or_a_reason(text):
    result = outcome(text)
    if result not in SEMANTIC:
        assert abs(decimal.Decimal(result.text)) <= decimal.Decimal("1e10000")
        assert len(result.text) < 70
