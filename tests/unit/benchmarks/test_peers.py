"""How the peers are measured: what counts as passed, who takes turns, which ratios are given."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.peers import install, run, works

WORKS = works.works()


def test_each_work_is_what_its_name_says() -> None:
    assert set(WORKS) == {"turn", "tool"}
    assert WORKS["turn"].expression is WORKS["turn"].expected_expression is None
    assert works.calculate(str(WORKS["tool"].expression)) == WORKS["tool"].expected_text
    assert all(work.expected_text in work.answer for work in WORKS.values())


@pytest.mark.parametrize("name", WORKS)
def test_a_wrong_work_differs_in_one_expectation_of_the_right_one(name: str) -> None:
    work = WORKS[name]
    wrong = works.wrong_works(work)
    assert len(wrong) == (1 if name == "turn" else 2)
    for expectation, other in wrong.items():
        changed = [key for key in work._fields if getattr(work, key) != getattr(other, key)]
        assert changed == [expectation]


def measured(accepts: object, passes: int = 5) -> dict[str, float]:
    """A measurement of five cases of a tool that accepts what `accepts` says, and misses some."""
    ignored = {"expected_text", "expected_expression"} - {accepts}

    def run_all(suite: tuple[works.Work, int]) -> int:
        work, count = suite
        right = all(getattr(work, one) == getattr(WORKS["tool"], one) for one in ignored)
        return min(count, passes) if right else 0

    runner = works.Runner(lambda work, count: (work, count), run_all)
    return works.measure(WORKS["tool"], 5, runner)


def test_a_measurement_has_the_time_of_both_steps() -> None:
    found = measured(accepts=None)
    assert set(found) == {"prepare_wall", "prepare_cpu", "run_wall", "run_cpu"}
    assert all(seconds >= 0 for seconds in found.values())


@pytest.mark.parametrize("expectation", ["expected_text", "expected_expression"])
def test_a_tool_whose_check_cannot_fail_is_not_measured(expectation: str) -> None:
    with pytest.raises(SystemExit, match=f"passed with a wrong {expectation}"):
        measured(accepts=expectation)


def test_a_tool_that_does_not_pass_all_cases_is_not_measured() -> None:
    with pytest.raises(SystemExit, match="4 of 5 cases passed"):
        measured(accepts=None, passes=4)


def test_a_ratio_compares_the_runs_of_one_round() -> None:
    peer = [{"cpu": 2.0}, {"cpu": 30.0}, {"cpu": 8.0}]
    ours = [{"cpu": 1.0}, {"cpu": 10.0}, {"cpu": 2.0}]
    assert run.ratio(peer, ours, "cpu") == 3.0  # the ratio of the medians would be 4


def test_every_tool_runs_once_a_round_and_each_is_the_first_of_some_round() -> None:
    rounds = [run.in_turn(number) for number in range(len(run.SUITES))]
    assert all(sorted(tools) == sorted(run.SUITES) for tools in rounds)
    assert {tools[0] for tools in rounds} == set(run.SUITES)


def test_every_tool_has_a_suite_a_command_and_a_locked_version() -> None:
    assert set(run.COMMANDS) == set(run.SUITES)
    assert set(install.versions()) == set(run.SUITES) - {run.OURS}
    for _, file in run.SUITES.values():
        assert (install.HERE / file).is_file()


def test_everything_that_is_installed_is_locked_with_a_hash() -> None:
    lock = (install.HERE / "requirements.txt").read_text("utf-8")
    entries = re.split(r"\n(?=\S)", lock.strip())
    assert len(entries) > 100
    assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []
    packages = json.loads((install.HERE / "package-lock.json").read_text("utf-8"))["packages"]
    unlocked = [name for name, package in packages.items() if name and not package.get("integrity")]
    assert unlocked == []


def test_a_measured_process_gets_none_of_the_callers_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a key of the caller")
    environment = install.Installed(tmp_path).environment()
    assert "OPENAI_API_KEY" not in environment
    assert environment["HTTPS_PROXY"] == "http://127.0.0.1:9"
    assert environment["HOME"].startswith(str(tmp_path))
