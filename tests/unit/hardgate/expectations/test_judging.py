"""What a scripted judge and a command decide."""

import pytest

from hardgate.expectations.judging import OUTPUT_LINES, Verification
from hardgate.fixtures.judge import JudgeVerdict, ScriptedJudge
from tests.unit.hardgate.expectations.samples import RECORD, case, checks

RUBRIC = "Names the capital."
JUDGE = ScriptedJudge(
    rubric=RUBRIC,
    verdicts=(
        JudgeVerdict(answer="The capital is Paris.", passed=True, reason="Paris it is."),
        JudgeVerdict(answer="The capital is Rome.", passed=False, reason="Rome is elsewhere."),
    ),
)


@pytest.mark.parametrize(
    ("answer", "judge", "message"),
    [
        ("The capital is Paris.", JUDGE, ""),
        ("the capital   is **Paris**.", JUDGE, ""),
        ("The capital is Rome.", JUDGE, "the judge: Rome is elsewhere."),
        ("Paris.", JUDGE, "the scripted judge has no verdict for this answer"),
        (None, JUDGE, "the run gave no final answer"),
        (
            "The capital is Paris.",
            None,
            "the scripted judge has no verdict for this answer",
        ),
    ],
)
def test_an_answer_without_a_passing_verdict_fails(answer, judge, message):
    loaded = case({"judge": "capital"}, judge=RUBRIC)
    check = checks(loaded, RECORD._replace(final_text=answer), judge=judge)[0]
    assert (check.name, check.outcome) == ("judge", "fail" if message else "pass")
    assert (check.expected, check.observed, check.message) == (RUBRIC, answer, message)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (Verification(0), ""),
        (Verification(0, output="noise"), ""),
        (Verification(1), "the command ended with exit code 1"),
        (
            Verification(3, output="one\ntwo\n"),
            "the command ended with exit code 3; its output ends:\none\ntwo",
        ),
        (
            Verification(None, "the command took longer than 30 seconds", "half"),
            "the command took longer than 30 seconds; its output ends:\nhalf",
        ),
        (None, "the command was not run"),
    ],
)
def test_only_a_command_that_ended_well_passes(result, message):
    check = checks(case(verify="test -f a.txt"), verification=result)[0]
    assert (check.name, check.outcome) == ("verify", "fail" if message else "pass")
    assert check.observed == (None if result is None else result.exit_code)
    assert check.expected == "exit code 0 of: test -f a.txt"
    assert check.message == message


def test_the_end_of_a_long_output_is_shown():
    output = "".join(f"line {number}\n" for number in range(100))
    check = checks(case(verify="x"), verification=Verification(1, output=output))[0]
    shown = check.message.splitlines()[1:]
    assert shown == [f"line {number}" for number in range(100 - OUTPUT_LINES, 100)]
