"""The example of a team with its own agents: a workspace of its own, run by the same Bazel."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.bazel.nested import Done, NestedBazel, copy_sources

CASES = {
    "//evals:cases/order_total",
    "//evals:cases/order_total_anthropic",
    "//evals:cases/order_total_node",
    "//evals:cases/order_total_pydantic_ai",
}
GATES = {"//gates:desk/does_the_job", "//gates:desk/does_no_harm"}
JOB, HARM = (f"//gates:desk/{gate}.counterexample" for gate in ("does_the_job", "does_no_harm"))
# Each broken agent, and what the one case has to say of it.
TWINS = {
    f"{JOB}.forgets_a_result": "wire.tool_results_missing",
    f"{JOB}.answers_without_the_tools": "wire.tools_missing",
    f"{JOB}.ignores_a_rate_limit": "wire.retried_early",
    f"{JOB}.loops": "fixture.exhausted",
    f"{JOB}.crashes_after_the_effect": "terminal_status",
    f"{JOB}.hangs": "agent.wall_seconds",
    f"{HARM}.runs_a_forbidden_tool": "workspace",
    f"{HARM}.leaks_a_card_number": "absent_strings",
}
ALL = CASES | GATES | TWINS.keys()


@pytest.fixture(scope="module")
def bazel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NestedBazel]:
    hardgate = copy_sources(tmp_path_factory.mktemp("example") / "hardgate")
    workspace = hardgate / "examples" / "your_agent"
    # Where this machine has its Node; a user whose Node is elsewhere writes the same line.
    programs = tmp_path_factory.mktemp("programs")
    (programs / "node").symlink_to(Path(os.environ["HARDGATE_NODE"]).resolve())
    path = f"{programs}:/bin:/usr/bin:/usr/local/bin"
    (workspace / "user.bazelrc").write_text(f"test --test_env=PATH={path}\n", encoding="utf-8")
    with NestedBazel(workspace, hardgate) as bazel:
        bazel.write_launcher(workspace / "bazelw")
        yield bazel


@pytest.fixture(scope="module")
def first(bazel: NestedBazel) -> Done:
    """The first run of everything; the tests after it see what differs."""
    return bazel.build("test", "//...")


@contextmanager
def changed(bazel: NestedBazel, path: str, old: str, new: str) -> Iterator[None]:
    """Another text in one place of a file; takes that back."""
    file = bazel.workspace / path
    before = file.read_text(encoding="utf-8")
    assert before.count(old) == 1
    file.write_text(before.replace(old, new), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(before, encoding="utf-8")


def failing(done: Done) -> set[str]:
    return {label for label, status in done.statuses.items() if status != "PASSED"}


def test_every_target_passes_and_each_is_the_examples_own(first: Done) -> None:
    assert first.statuses == dict.fromkeys(ALL, "PASSED"), first.err[-4000:]
    assert first.code == 0


@pytest.mark.parametrize(("twin", "reason"), TWINS.items())
def test_a_broken_agent_is_rejected_for_what_is_wrong_with_it(
    first: Done, twin: str, reason: str
) -> None:
    assert f"rejected for {reason}\n" in first.logs[twin]


def test_nothing_of_this_repositorys_own_gates_is_in_it(bazel: NestedBazel, first: Done) -> None:
    """It builds Hardgate's own code and nothing else: no gate, case, test or runtime of ours."""
    done = bazel.run("cquery", "deps(//...)", "--output=label")
    assert done.code == 0, done.err
    labels = {line.split(" ")[0] for line in done.lines}
    assert first.statuses.keys() <= labels
    ours = {label for label in labels if label.startswith(("@hardgate//", "@@hardgate"))}
    assert {label.partition("//")[2].partition(":")[0] for label in ours} <= {
        "src",
        "tools/private",
    }
    assert any(label.endswith("//src:hardgate_command_case") for label in ours)
    assert [label for label in ours if "agent_core" in label or "agent_cli" in label] == []


def test_it_fetches_nothing_that_only_our_own_tests_need(bazel: NestedBazel, first: Done) -> None:
    module = Path("MODULE.bazel").read_text(encoding="utf-8")
    ours = set(re.findall(r'"(hardgate_\w+)"', module)) - {"hardgate_pypi", "hardgate_yaml"}
    assert {"hardgate_gates", "hardgate_wire_pypi", "hardgate_wheelhouse"} <= ours
    base = Path(bazel.run("info", "output_base").lines[0], "external")
    fetched = {one.name.replace("+", "~").rpartition("~")[2] for one in base.iterdir()}
    assert {"desk_gates", "desk_pypi"} <= fetched
    assert ours & fetched == set()


def test_the_report_proves_both_gates(bazel: NestedBazel, first: Done) -> None:
    done = bazel.run("run", "//gates:report", "--", "--json")
    assert done.out.startswith("{"), done.err
    plain = json.loads(done.out)
    rows = {
        row["id"]: (row["state"], row["rejected"], row["counterexamples"]) for row in plain["gates"]
    }
    assert rows == {
        "gate.desk.does_the_job": ("pass", 6, 6),
        "gate.desk.does_no_harm": ("pass", 2, 2),
    }
    assert (done.code, plain["problems"]) == (0, [])


def test_breaking_one_agent_fails_its_own_targets_only(bazel: NestedBazel, first: Done) -> None:
    with changed(bazel, "desk/node_agent.mjs", "    await sleep(", "    void ("):
        done = bazel.build("test", "//...")
    assert done.statuses.keys() == first.statuses.keys()
    assert failing(done) == done.tests_run() == {"//evals:cases/order_total_node"}
    assert "wire.retried_early" in done.logs["//evals:cases/order_total_node"]


def test_a_broken_agent_that_is_mended_fails_its_own_counterexample(
    bazel: NestedBazel, first: Done
) -> None:
    with changed(bazel, "broken/forgets_a_result.py", "whole(calls)[:-1]", "whole(calls)"):
        done = bazel.build("test", "//...")
    twin = f"{JOB}.forgets_a_result"
    assert failing(done) == done.tests_run() == {twin}
    assert "not_rejected" in done.logs[twin]
