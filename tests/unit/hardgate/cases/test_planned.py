"""Which runs a case asks for, and what an arm replaces."""

import pytest

from hardgate.cases.loader import load_case

BASE = """\
name: sample
milestone: 1
input: {text: Hello}
model_fixture: one
principal: eval.standard
clock: {start: 2026-02-01T00:00:00Z, advance_on_step: 1s}
fixtures: {tools: [math.calculate], run_limits: {max_steps: 3}}
"""
ARMS = f"""\
{BASE}arms:
  - name: plain
    expected: {{terminal_status: completed}}
  - name: other
    model_fixture: two
    principal: eval.restricted
    clock: {{start: 2026-03-01T00:00:00Z}}
    fixtures: {{workspace: notes}}
    expected: {{contains: [x]}}
delta: {{outcome: same}}
"""


def loaded(text):
    return load_case("evals/cases/01_sample.yaml", text.encode())


def test_a_case_without_arms_is_one_run_of_itself():
    case = loaded(f"{BASE}expected: {{terminal_status: completed}}\n")
    (run,) = case.runs
    assert (run.case, run.expected, run.arm, run.at) == (
        case.case,
        case.case.expected,
        None,
        ("expected",),
    )


def test_an_arm_that_says_nothing_runs_the_case_as_it_is():
    case = loaded(ARMS)
    plain = case.runs[0].case
    assert plain.name == "sample.plain"
    assert (plain.arms, plain.delta) == (None, None)
    for key in ("input", "model_fixture", "principal", "clock", "fixtures"):
        assert getattr(plain, key) == getattr(case.case, key)
    assert plain.expected.terminal_status == "completed"


def test_an_arm_replaces_what_it_says_and_nothing_else():
    other = loaded(ARMS).runs[1].case
    assert (other.name, other.model_fixture, other.principal) == (
        "sample.other",
        "two",
        "eval.restricted",
    )
    assert other.clock.start == "2026-03-01T00:00:00Z"
    assert other.clock.advance_on_step == "1s"
    assert other.fixtures.tools == ("math.calculate",)
    assert other.fixtures.workspace == "notes"
    assert other.fixtures.run_limits.max_steps == 3
    assert other.input.text == "Hello"


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("model_fixture",), 12),
        (("principal",), 13),
        (("clock", "start"), 14),
        (("clock", "advance_on_step"), 6),
        (("fixtures", "tools"), 7),
        (("fixtures", "workspace"), 15),
        (("input",), 3),
        (("expected", "final_text_contains", 0), 16),
        (("expected", "implicit"), 16),
    ],
)
def test_a_value_is_found_where_it_was_written(keys, line):
    case = loaded(ARMS)
    run = case.runs[1]
    assert case.line(run.keys(case.document, keys)) == line
