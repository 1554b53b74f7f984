"""The same BUILD files without modules: --config=workspace loads, builds and tests a copy of them."""

import re
from collections.abc import Iterator

import pytest

from tests.integration.bazel.nested import Done, NestedBazel, copy_sources

WORKSPACE = "--config=workspace"


@pytest.fixture(scope="module")
def bazel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NestedBazel]:
    copy = copy_sources(tmp_path_factory.mktemp("workspace") / "hardgate")
    (copy / "MODULE.bazel").write_text("fail('modules are off')\n", encoding="utf-8")
    with NestedBazel(copy, copy, modules=False) as bazel:
        yield bazel


@pytest.fixture(scope="module")
def tested(bazel: NestedBazel) -> Done:
    targets = ("//gates:harness/id_grammar", "//gates:m9")
    return bazel.build("test", WORKSPACE, *targets, "//gates:inventory")


def test_every_package_loads(bazel: NestedBazel) -> None:
    done = bazel.run("query", WORKSPACE, "//...", "--output=package")
    assert done.code == 0, done.err
    assert {"evals", "gates", "src", "tests", "third_party", "tools"} <= set(done.lines)


def test_a_gate_runs_and_the_pending_ones_are_skipped(tested: Done) -> None:
    assert tested.code in (0, 3), tested.err
    gate = "//gates:harness/id_grammar"
    assert {("GateCheck", f"{gate}.verdict"), ("TestRunner", gate)} <= tested.started
    # Whether it passes is the gate's own business; here it has to come to a verdict.
    assert re.search(r"^(PASS|FAIL) gate\.harness\.id_grammar", tested.logs[gate], re.MULTILINE)
    others = {label: status for label, status in tested.statuses.items() if "id_gra" not in label}
    assert set(others.values()) == {"SKIPPED"}


def test_a_case_runs(bazel: NestedBazel) -> None:
    done = bazel.build("test", WORKSPACE, "//evals:cases/calculator_tool")
    assert done.statuses == {"//evals:cases/calculator_tool": "PASSED"}


def test_an_edit_of_the_registry_shows(bazel: NestedBazel) -> None:
    before = set(bazel.run("query", WORKSPACE, "tests(//gates:m9)").lines)
    entry = "- id: gate.added.here\n  milestone: 9\n  kind: property\n"
    (bazel.workspace / "gates/added.yaml").write_text(entry, encoding="utf-8")
    after = set(bazel.run("query", WORKSPACE, "tests(//gates:m9)").lines)
    assert before
    assert after - before == {"//gates:added/here"}


def test_a_missing_folder_names_the_call(bazel: NestedBazel) -> None:
    file = bazel.workspace / "WORKSPACE.bazel"
    text = file.read_text(encoding="utf-8")
    call = 'gates_index(\n    name = "hardgate_gates",\n'
    assert call in text
    file.write_text(text.replace(call, call + '    gates = "gats",\n'), encoding="utf-8")
    done = bazel.run("query", WORKSPACE, "//gates:m9")
    assert "gates_index(name = \"hardgate_gates\") declares the folder 'gats'" in done.err
