"""The options of the lean runners: required, once each, and nothing else."""

import pytest

from hardgate.kinds.options import EXIT_USAGE, read_options

OPTIONS = {"case": "the case file", "repeat": "the command that repeats it"}
GOOD = ["--case", "a.yaml", "--repeat", "bazel test //x"]


@pytest.mark.parametrize(
    "argv", [GOOD, GOOD[2:] + GOOD[:2], ["--case=a.yaml", "--repeat=bazel test //x"]]
)
def test_both_spellings_in_any_order(argv):
    assert read_options(argv, "case", OPTIONS) == {"case": "a.yaml", "repeat": "bazel test //x"}


def test_a_value_may_look_like_an_option_or_hold_an_equals_sign():
    values = read_options(["--case", "--x", "--repeat=a=b"], "case", OPTIONS)
    assert values == {"case": "--x", "repeat": "a=b"}


def test_a_positional_argument():
    assert read_options(["v.json"], "verdict_test", {}, "VERDICT") == {"VERDICT": "v.json"}


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], ["missing --case", "missing --repeat"]),
        (["--case"], ["--case needs a value", "missing --repeat"]),
        ([*GOOD, "--cse", "x"], ["unknown option --cse; did you mean --case?"]),
        ([*GOOD, "--zzz"], ["unknown option --zzz"]),
        ([*GOOD, "--case", "b"], ["case is given twice"]),
        ([*GOOD, "stray"], ["unexpected argument 'stray'"]),
    ],
)
def test_mistakes_are_named_together_with_the_usage(argv, said, capsys):
    with pytest.raises(SystemExit) as refused:
        read_options(argv, "case", OPTIONS)
    assert refused.value.code == EXIT_USAGE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert all(words in printed.err for words in said)
    assert "usage: case --case CASE --repeat REPEAT" in printed.err


def test_a_second_positional_argument_is_refused(capsys):
    with pytest.raises(SystemExit):
        read_options(["a", "b"], "verdict_test", {}, "VERDICT")
    assert "VERDICT is given twice" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_goes_to_stdout(flag, capsys):
    with pytest.raises(SystemExit) as ended:
        read_options([flag], "case", OPTIONS)
    assert ended.value.code == 0
    assert "--repeat: the command that repeats it" in capsys.readouterr().out
