"""Property gates: trials are counted, too few fail, and a violation names its clause."""

from dataclasses import replace

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from hardgate.kinds import property as property_kind
from hardgate.kinds.checking import Violation, require
from hardgate.kinds.entry import GateEntry, MissingCodeError
from hardgate.kinds.in_process import Options
from hardgate.kinds.property import PropertyContext, default_seed, run_property

ENTRY = GateEntry(
    id="gate.x.y",
    area="x",
    slug="y",
    kind="property",
    milestone=0,
    path="gates/x.yaml",
    line=3,
    check="gates/checks/x.py::y",
    trials=40,
)
OPTIONS = Options(entry=ENTRY, tree=None, repeat="", counterexample=None, seed=None)


@pytest.fixture
def judge(monkeypatch):
    """Judges a check function as the gate ENTRY."""

    def run(check, **options):
        monkeypatch.setattr(property_kind, "load_check", lambda entry: check)
        return run_property(ENTRY, None, replace(OPTIONS, **options))

    return run


def names(verdict):
    return [check.name for check in verdict.failed_checks()]


def test_every_trial_is_counted(judge):
    seen = []
    verdict = judge(lambda context: context.for_all(lambda n: seen.append(n), n=st.integers()))
    assert verdict.passed
    assert verdict.trials == len(seen) == 40
    assert verdict.seed == str(default_seed("gate.x.y"))


def test_inputs_that_were_filtered_out_are_no_trials(judge):
    evaluated = []

    def holds(n):
        assume(n % 2)
        evaluated.append(n)

    verdict = judge(lambda context: context.for_all(holds, n=st.integers()))
    assert verdict.trials == len(evaluated)


def test_a_space_that_is_too_small_fails(judge):
    verdict = judge(lambda context: context.for_all(lambda b: None, b=st.booleans()))
    assert names(verdict) == ["too_few_trials"]
    assert verdict.failed_checks()[0].observed == "2 trials"


def test_a_second_property_needs_trials_of_its_own(judge):
    def check(context):
        context.for_all(lambda n: None, n=st.integers())
        context.for_all(lambda b: None, b=st.booleans())

    assert names(judge(check)) == ["too_few_trials"]


def test_a_check_that_asks_nothing_fails(judge):
    assert names(judge(lambda context: None)) == ["no_property"]


def small(n):
    require(n < 1000, "too_large", f"{n} is not below 1000")


def test_a_violation_names_its_clause_and_the_smallest_input(judge):
    verdict = judge(lambda context: context.for_all(small, n=st.integers(min_value=0)))
    assert names(verdict) == ["too_large"]
    assert verdict.failed_checks()[0].observed == "1000 is not below 1000 with n=1000"


def test_examples_come_first_and_every_time(judge):
    tried = []

    def holds(n):
        tried.append(n)
        require(n != -7, "is_minus_seven", "found it")

    verdict = judge(lambda context: context.for_all(holds, examples=[{"n": -7}], n=st.integers()))
    assert (names(verdict), tried) == (["is_minus_seven"], [-7])


@pytest.mark.parametrize("seed", [1, 2])
def test_one_seed_gives_the_same_inputs(judge, seed):
    def check(context):
        context.for_all(lambda n: collected.append(n), n=st.integers())

    collected = []
    first = judge(check, seed=seed), list(collected)
    collected.clear()
    second = judge(check, seed=seed), list(collected)
    assert first == second
    assert first[0].seed == str(seed)


def test_what_is_no_violation_is_raised_on(judge):
    def check(context):
        context.for_all(lambda n: 1 // 0, n=st.integers())

    with pytest.raises(ZeroDivisionError):
        judge(check)


def test_a_missing_check_is_said_to_be_missing():
    with pytest.raises(MissingCodeError, match="gates/checks/x.py"):
        run_property(ENTRY, None, OPTIONS)


def test_require_says_nothing_of_what_holds():
    require(True, "rule", "message")
    with pytest.raises(Violation, match="message") as caught:
        require([], "rule", "message")
    assert caught.value.rule == "rule"


def test_a_clause_that_breaks_only_once_is_broken():
    """As with threads: Hypothesis tries the input again, and then it holds."""
    seen = []

    def holds(number):
        seen.append(number)
        require(len(seen) != 3, "third", "the third trial broke")

    context = PropertyContext(ENTRY, OPTIONS.tree, seed=1, trials_wanted=10)
    context.for_all(holds, number=st.integers())
    assert [(one.name, one.outcome) for one in context.results] == [("third", "fail")]


@pytest.mark.parametrize(("sought", "goes_on"), [("first", False), ("other", True), (None, True)])
def test_a_counterexample_that_is_rejected_is_not_tried_further(sought, goes_on):
    seen = []

    def broken(one):
        require(False, "first", f"{one} broke")

    def noted(one):
        seen.append(one)

    context = PropertyContext(ENTRY, OPTIONS.tree, seed=1, trials_wanted=1, sought=sought)
    context.for_all(broken, one=st.just(1))
    context.for_all(noted, one=st.just(2))
    assert bool(seen) == goes_on
