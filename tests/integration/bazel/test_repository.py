"""A copy of this repository: its own registry, cases and suites as Bazel sees them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.bazel.nested import NestedBazel, copy_sources

TWIN = ".counterexample."


@pytest.fixture(scope="module")
def bazel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NestedBazel]:
    copy = copy_sources(tmp_path_factory.mktemp("repository") / "hardgate")
    with NestedBazel(copy, copy) as bazel:
        yield bazel


def read_registry() -> list[dict[str, Any]]:
    """The entries of gates/<area>.yaml, read without this project's own loader."""
    files = sorted(Path("gates").glob("*.yaml"))
    return [
        entry
        for file in files
        if file.stem != "retired"
        for entry in yaml.safe_load(file.read_text(encoding="utf-8"))
    ]


REGISTRY = read_registry()
REPOSITORY_MILESTONE = int(Path("gates/MILESTONE").read_text(encoding="utf-8"))
MILESTONES = sorted({entry["milestone"] for entry in REGISTRY})


def target(entry: dict[str, Any]) -> str:
    _, area, slug = entry["id"].split(".")
    return f"//gates:{area}/{slug}"


def targets(*, milestone: int | None = None, kind: str | None = None) -> set[str]:
    """The labels of the gates of a milestone and a kind, by default of all."""
    return {
        target(entry)
        for entry in REGISTRY
        if milestone in (None, entry["milestone"]) and kind in (None, entry["kind"])
    }


def with_twins(entry: dict[str, Any]) -> set[str]:
    """A gate's target and those of its counterexamples, which exist once it has a check."""
    names = [one["name"] for one in entry.get("counterexamples", []) if "check" in entry]
    return {target(entry), *(f"{target(entry)}{TWIN}{name}" for name in names)}


def without_twins(labels: list[str]) -> set[str]:
    return {label for label in labels if TWIN not in label}


def tagged(tag: str) -> str:
    return f'attr(tags, "[\\[ ]{tag}[,\\]]", //gates/...)'


def test_the_registry_is_read() -> None:
    assert REGISTRY
    assert MILESTONES[0] <= REPOSITORY_MILESTONE < MILESTONES[-1]


def test_a_query_by_milestone_gives_the_registry_s_gates(bazel: NestedBazel) -> None:
    union = " + ".join(tagged(f"milestone:{milestone}") for milestone in MILESTONES)
    assert without_twins(bazel.run("query", union).lines) == targets()
    for milestone in (MILESTONES[0], MILESTONES[-1]):
        found = without_twins(bazel.run("query", tagged(f"milestone:{milestone}")).lines)
        assert found == targets(milestone=milestone)


def test_each_milestone_has_a_suite_of_its_gates_and_twins(bazel: NestedBazel) -> None:
    for milestone in MILESTONES[:2]:
        suite = bazel.run("query", f"tests(//gates:m{milestone})").lines
        assert without_twins(suite) == targets(milestone=milestone)
    every = bazel.run("query", "tests(//gates:all)").lines
    expected = set().union(*(with_twins(entry) for entry in REGISTRY))
    assert expected > targets()
    assert set(every) == expected


@pytest.mark.parametrize("filters", ["kind:structural,-pending", "kind:case", "kind:property"])
def test_a_filter_by_kind_selects_the_registry_s_gates(bazel: NestedBazel, filters: str) -> None:
    kind = filters.removeprefix("kind:").split(",")[0]
    expected = targets(kind=kind)
    if "-pending" in filters:
        expected -= {
            target(entry) for entry in REGISTRY if entry["milestone"] > REPOSITORY_MILESTONE
        }
    options = ("--nobuild", "--build_tests_only", f"--test_tag_filters={filters}")
    done = bazel.build("build", *options, "//gates/...")
    assert done.code == 0, done.err
    assert without_twins(list(done.configured)) == expected


def test_pending_gates_are_skipped(bazel: NestedBazel) -> None:
    # The suites of the active gates would run all of them; the report does that.
    suites = [f"//gates:m{number}" for number in MILESTONES if number > REPOSITORY_MILESTONE]
    done = bazel.build("test", *suites)
    pending = set().union(
        *(with_twins(entry) for entry in REGISTRY if entry["milestone"] > REPOSITORY_MILESTONE)
    )
    assert done.statuses == dict.fromkeys(pending, "SKIPPED")


def test_the_inventory_is_the_registry(bazel: NestedBazel) -> None:
    done = bazel.build("build", "//gates:inventory")
    assert done.code == 0, done.err
    file = bazel.workspace / "bazel-bin/gates/inventory.json"
    rows = {row["id"]: row for row in json.loads(file.read_text(encoding="utf-8"))}
    assert rows.keys() == {entry["id"] for entry in REGISTRY}
    for entry in REGISTRY:
        row = rows[entry["id"]]
        assert row["target"] == target(entry)
        assert row["counterexamples"] == [
            counterexample["name"] for counterexample in entry.get("counterexamples", [])
        ]
        for key in ("milestone", "kind", "spec"):
            assert row[key] == entry[key]
        path, line = row["declared_at"].split(":")
        lines = (bazel.workspace / path).read_text(encoding="utf-8").splitlines()
        assert entry["id"] in lines[int(line) - 1]


def test_an_action_query_lists_the_structural_gates(bazel: NestedBazel) -> None:
    done = bazel.run("aquery", "mnemonic(GateCheck, //gates/...)", "--output=jsonproto")
    assert done.code == 0, done.err
    graph = json.loads(done.out)
    names = {one["id"]: one["label"] for one in graph["targets"]}
    owners = {names[action["targetId"]].removeprefix("@@") for action in graph["actions"]}
    checked = {
        f"{target(entry)}.verdict"
        for entry in REGISTRY
        if entry["kind"] == "structural" and entry["milestone"] <= REPOSITORY_MILESTONE
    }
    assert owners == checked


def test_a_gate_runs_as_an_action_and_a_test(bazel: NestedBazel) -> None:
    gate = "//gates:harness/id_grammar"
    done = bazel.build("test", gate)
    assert {("GateCheck", f"{gate}.verdict"), ("TestRunner", gate)} <= done.started
    # Whether it passes is the gate's own business; here it has to come to a verdict.
    assert re.search(r"^(PASS|FAIL) gate\.harness\.id_grammar", done.logs[gate], re.MULTILINE)


def test_cases_run_and_an_edited_fixture_reruns_its_own(bazel: NestedBazel) -> None:
    both = {"//evals:cases/direct_response", "//evals:cases/calculator_tool"}
    first = bazel.build("test", "//evals:suite")
    assert first.code == 0
    assert {label: first.statuses[label] for label in both} == dict.fromkeys(both, "PASSED")
    assert both <= first.tests_run()

    fixture = bazel.workspace / "evals/fixtures/models/calculator_then_answer.yaml"
    cases = [yaml.safe_load(path.read_bytes()) for path in bazel.workspace.glob("evals/cases/*")]
    readers = {
        f"//evals:cases/{case['name']}" for case in cases if case.get("model_fixture") == fixture.stem
    }
    assert "//evals:cases/calculator_tool" in readers
    assert "//evals:cases/direct_response" not in readers
    fixture.write_text(fixture.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    edited = bazel.build("test", "//evals:suite")
    assert edited.code == 0
    assert edited.tests_run() == readers

    fixture.write_text(fixture.read_text(encoding="utf-8").replace("391", "392"), encoding="utf-8")
    wrong = bazel.build("test", "//evals:suite")
    assert wrong.code == 3
    assert wrong.statuses["//evals:cases/calculator_tool"] == "FAILED"
    assert "final_text_contains" in wrong.logs["//evals:cases/calculator_tool"]
