"""A workspace that depends on this repository: its YAML decides which targets exist and what reruns."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.integration.bazel.nested import Done, NestedBazel, copy_sources, make_consumer

CHECK = '''
from hardgate.kinds.context import Examination
from hardgate.verdicts.verdict import Finding


def {name}(context):
    """Finds each line of the sources that {rule} refuses."""
    findings, examined = [], 0
    for path in context.tree.glob("texts/*.txt"):
        for number, line in enumerate(context.tree.read(path).decode().splitlines(), start=1):
            examined += 1
            if {refused}:
                findings.append(Finding(path, number, "{rule}", "found " + line))
    return Examination(findings, examined, "lines")
'''
DEFECT = '''
def {name}(bench):
    """Adds a line that must be refused."""
    bench.tree.edit("texts/{file}.txt", "{old}", "{new}")
'''
ENTRY = """
- id: gate.{area}.{slug}
  milestone: {milestone}
  kind: structural
  spec: docs/specs/{area}.md#hard-gates
  statement: {statement}
"""
ACTIVE = (
    ENTRY
    + """  check: gates/checks/{area}.py::{slug}
  sources: [//texts:{area}]
  counterexamples:
    - {{name: {defect}, reason: {rule}}}
"""
)
QUIET = ACTIVE.format(
    area="words",
    slug="quiet",
    milestone=0,
    statement="No word is shouted (größer, 大きい, 😀).",
    defect="shouted",
    rule="shouting",
)
SMALL = ACTIVE.format(
    area="numbers",
    slug="small",
    milestone=0,
    statement="All numbers are small.",
    defect="grown",
    rule="too_large",
)
EVEN = ACTIVE.format(
    area="numbers",
    slug="even",
    milestone=0,
    statement="All numbers are even.",
    defect="made_odd",
    rule="odd",
)
LATER = ENTRY.format(area="words", slug="later", milestone=2, statement="Holds some day.")
CASE = "name: {name}\nmilestone: {milestone}\nmodel_fixture: {fixture}\n"
# The least that runs a case: it shows what it was given, and fails where the fixture says so.
RUNNER = """
import pathlib
import sys

options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
case = pathlib.Path(options["--case"]).read_text()
fixtures = sorted(pathlib.Path(options["--fixtures"]).rglob("*.yaml"))
print(case, *fixtures, options["--milestone"], options["--repeat"], sep="\\n")
sys.exit(any("broken" in fixture.read_text() for fixture in fixtures))
"""
TOP = """
load("@my_gates//:index.bzl", "INDEX")
load("@rules_python//python:defs.bzl", "py_library")
load("@hardgate//tools:defs.bzl", "hardgate_cases", "hardgate_gates")
"""
FILES = {
    "gates/BUILD.bazel": TOP + 'hardgate_gates(name = "gates", index = INDEX)\n',
    "gates/MILESTONE": "0\n",
    "gates/words.yaml": QUIET + LATER,
    "gates/numbers.yaml": SMALL + EVEN,
    "gates/checks/words.py": CHECK.format(name="quiet", rule="shouting", refused="line.isupper()"),
    "gates/checks/numbers.py": CHECK.format(
        name="small", rule="too_large", refused="int(line) > 99"
    )
    + CHECK.format(name="even", rule="odd", refused="int(line) % 2"),
    "gates/defects/words.py": DEFECT.format(name="shouted", file="words", old="one", new="ONE"),
    "gates/defects/numbers.py": DEFECT.format(name="grown", file="numbers", old="10", new="1000")
    + DEFECT.format(name="made_odd", file="numbers", old="10", new="11"),
    "texts/BUILD.bazel": "".join(
        f'filegroup(name = "{name}", srcs = ["{name}.txt"], visibility = ["//visibility:public"])\n'
        for name in ("words", "numbers")
    ),
    "texts/words.txt": "one\ntwo\n",
    "texts/numbers.txt": "10\n20\n",
    "evals/BUILD.bazel": TOP
    + 'py_library(name = "runner", srcs = ["runner.py"])\n'
    + 'hardgate_cases(name = "suite", index = INDEX, main = "evals.runner", deps = [":runner"])\n',
    "evals/runner.py": RUNNER,
    "evals/cases/01_first.yaml": CASE.format(name="first", milestone=0, fixture="alpha"),
    "evals/cases/02_second.yaml": CASE.format(name="second", milestone=0, fixture="beta"),
    "evals/cases/03_third.yaml": CASE.format(name="third", milestone=1, fixture="beta"),
    "evals/fixtures/models/alpha.yaml": "turns: []\n",
    "evals/fixtures/models/beta.yaml": "turns: []\n",
}
SMALL_GATE = {"//gates:numbers/small", "//gates:numbers/small.counterexample.grown"}
EVEN_GATE = {"//gates:numbers/even", "//gates:numbers/even.counterexample.made_odd"}
QUIET_GATE = {"//gates:words/quiet", "//gates:words/quiet.counterexample.shouted"}
CASES = {"//evals:cases/first", "//evals:cases/second"}
PENDING = {"//gates:words/later", "//evals:cases/third"}
ACTIVE_TARGETS = SMALL_GATE | EVEN_GATE | QUIET_GATE | CASES
ALL_TESTS = "tests(//gates/... + //evals/...)"


@pytest.fixture(scope="module")
def bazel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NestedBazel]:
    scratch = tmp_path_factory.mktemp("generation")
    hardgate = copy_sources(scratch / "hardgate")
    with NestedBazel(make_consumer(scratch / "consumer", hardgate, FILES), hardgate) as bazel:
        yield bazel


@pytest.fixture(scope="module")
def first(bazel: NestedBazel) -> Done:
    """The first run of everything; the tests after it see what differs."""
    return bazel.build("test", "//...")


@contextmanager
def changed(bazel: NestedBazel, path: str, text: str | None) -> Iterator[None]:
    """Replaces, adds or (without a text) removes a file, and takes that back."""
    file = bazel.workspace / path
    before = file.read_bytes() if file.exists() else None
    if text is None:
        file.unlink()
    else:
        file.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        if before is None:
            file.unlink()
        else:
            file.write_bytes(before)


def verdicts(labels: set[str]) -> set[str]:
    return {f"{label}.verdict" for label in labels}


def checked(done: Done) -> set[str]:
    """The verdicts whose check was really run."""
    return {label for mnemonic, label in done.started if mnemonic.startswith("Gate")}


def test_each_gate_twin_and_case_is_a_test_that_passes(first: Done) -> None:
    passed = dict.fromkeys(ACTIVE_TARGETS, "PASSED")
    assert first.statuses == passed | dict.fromkeys(PENDING, "SKIPPED")
    assert first.code == 0
    assert first.tests_run() == ACTIVE_TARGETS
    assert checked(first) == verdicts(SMALL_GATE | EVEN_GATE | QUIET_GATE)


def test_pending_is_printed_as_skipped(first: Done) -> None:
    for label in PENDING:
        assert f"{label} SKIPPED" in [" ".join(line.split()) for line in first.lines]


def test_nothing_runs_when_nothing_changed(bazel: NestedBazel, first: Done) -> None:
    done = bazel.build("test", "//...")
    assert done.statuses == first.statuses
    assert done.started == frozenset()


def test_a_case_is_given_its_own_files_only(first: Done) -> None:
    log = first.logs["//evals:cases/first"]
    assert "evals/fixtures/models/alpha.yaml" in log
    assert "beta.yaml" not in log
    assert "bazel test //evals:cases/first" in log


@pytest.mark.parametrize(
    ("path", "text", "run", "check"),
    [
        pytest.param(
            "evals/fixtures/models/alpha.yaml",
            "turns: [a]\n",
            {"//evals:cases/first"},
            set(),
            id="fixture",
        ),
        pytest.param(
            "evals/cases/02_second.yaml",
            CASE.format(name="second", milestone=0, fixture="alpha"),
            {"//evals:cases/second"},
            set(),
            id="case",
        ),
        pytest.param(
            "texts/words.txt", "one\ntwo\nthree\n", QUIET_GATE, verdicts(QUIET_GATE), id="source"
        ),
        pytest.param(
            "gates/numbers.yaml",
            SMALL.replace("All numbers", "Really all numbers") + EVEN,
            set(),  # the verdicts come out the same, so no test has to read them again
            verdicts(SMALL_GATE),
            id="entry",
        ),
        pytest.param(
            "gates/numbers.yaml",
            "# A comment moves every entry.\n\n" + SMALL + EVEN,
            set(),
            set(),
            id="entries moved",
        ),
        pytest.param(
            "gates/checks/words.py",
            FILES["gates/checks/words.py"].replace("Finds", "Shows"),
            set(),
            verdicts(QUIET_GATE),
            id="check",
        ),
        pytest.param(
            "gates/defects/words.py",
            FILES["gates/defects/words.py"].replace("ONE", "OH"),
            {"//gates:words/quiet.counterexample.shouted"},
            verdicts({"//gates:words/quiet.counterexample.shouted"}),
            id="defect",
        ),
    ],
)
def test_an_edit_reruns_exactly_what_reads_it(
    bazel: NestedBazel, first: Done, path: str, text: str, run: set[str], check: set[str]
) -> None:
    with changed(bazel, path, text):
        done = bazel.build("test", "//...")
    assert done.statuses == first.statuses
    assert done.tests_run() == run
    assert checked(done) == check


@pytest.mark.parametrize(
    ("path", "text", "added", "removed"),
    [
        pytest.param(
            "gates/colors.yaml",
            ENTRY.format(area="colors", slug="bright", milestone=0, statement="None."),
            {"//gates:colors/bright"},
            set(),
            id="gate file added",
        ),
        pytest.param("gates/words.yaml", None, set(), QUIET_GATE | {"//gates:words/later"}),
        pytest.param(
            "gates/numbers.yaml",
            SMALL + EVEN.replace("gate.numbers.even", "gate.numbers.odd"),
            {"//gates:numbers/odd", "//gates:numbers/odd.counterexample.made_odd"},
            EVEN_GATE,
            id="gate renamed",
        ),
        pytest.param(
            "evals/cases/04_fourth.yaml",
            CASE.format(name="fourth", milestone=0, fixture="alpha"),
            {"//evals:cases/fourth"},
            set(),
            id="case added",
        ),
        pytest.param("evals/cases/01_first.yaml", None, set(), {"//evals:cases/first"}),
        pytest.param(
            "evals/cases/01_first.yaml",
            CASE.format(name="uno", milestone=0, fixture="alpha"),
            {"//evals:cases/uno"},
            {"//evals:cases/first"},
            id="case renamed",
        ),
    ],
)
def test_the_next_command_sees_a_changed_file(
    bazel: NestedBazel, path: str, text: str | None, added: set[str], removed: set[str]
) -> None:
    with changed(bazel, path, text):
        seen = set(bazel.run("query", ALL_TESTS).lines)
    assert seen == (ACTIVE_TARGETS | PENDING | added) - removed


def test_the_look_ahead_holds_what_is_not_reached_yet(bazel: NestedBazel) -> None:
    done = bazel.build("test", "--keep_going", "--//gates:milestone=2", "//...")
    assert done.statuses["//evals:cases/third"] == "PASSED"
    assert done.statuses["//gates:words/later"] == "FAILED"
    assert "gate.cannot_run: no check is registered" in done.logs["//gates:words/later"]
    assert "SKIPPED" not in done.statuses.values()
    assert done.code == 3


def test_the_checked_in_milestone_decides(bazel: NestedBazel) -> None:
    with changed(bazel, "gates/MILESTONE", "1\n"):
        done = bazel.build("test", "//...")
        tags = bazel.run("query", 'attr(tags, "[\\[ ]pending[,\\]]", //gates/... + //evals/...)')
    assert done.statuses["//evals:cases/third"] == "PASSED"
    assert done.statuses["//gates:words/later"] == "SKIPPED"
    assert "//gates:words/later" in tags.lines
    assert "//evals:cases/third" not in tags.lines


def test_a_failing_check_is_a_failing_test(bazel: NestedBazel, first: Done) -> None:
    with changed(bazel, "texts/words.txt", "one\nLOUD\n"):
        done = bazel.build("test", "//...")
    assert done.code == 3
    assert {label for label, status in done.statuses.items() if status == "FAILED"} == {
        "//gates:words/quiet"
    }
    log = done.logs["//gates:words/quiet"]
    assert "texts/words.txt:2: shouting: found LOUD" in log
    assert "bazel test //gates:words/quiet" in log


def test_a_check_that_crashes_fails_the_build(bazel: NestedBazel) -> None:
    crash = FILES["gates/checks/words.py"].replace("findings, examined = [], 0", "1 / 0")
    with changed(bazel, "gates/checks/words.py", crash):
        done = bazel.build("test", "--keep_going", "//...")
    assert done.code == 1
    assert done.statuses["//gates:words/quiet"] == "FAILED_TO_BUILD"
    assert done.statuses["//gates:numbers/small"] == "PASSED"
    assert "gate.words.quiet: the check crashed; this is no verdict" in done.err
    assert "ZeroDivisionError" in done.err


def test_a_defect_that_is_accepted_fails_its_twin(bazel: NestedBazel) -> None:
    harmless = FILES["gates/defects/words.py"].replace("ONE", "three")
    with changed(bazel, "gates/defects/words.py", harmless):
        done = bazel.build("test", "//gates/...")
    twin = "//gates:words/quiet.counterexample.shouted"
    assert done.statuses[twin] == "FAILED"
    assert done.statuses["//gates:words/quiet"] == "PASSED"
    assert "not_rejected" in done.logs[twin]


def test_one_broken_file_is_one_failing_target(bazel: NestedBazel, first: Done) -> None:
    with changed(bazel, "gates/broken.yaml", "- id: gate.broken.x\n  id: gate.broken.y\n"):
        done = bazel.build("test", "//...")
    failing = dict(done.statuses.items() - first.statuses.items())
    assert failing == {"//gates:invalid/broken.2.1": "FAILED"}
    assert first.statuses.items() <= done.statuses.items()
    assert done.code == 3
    log = done.logs["//gates:invalid/broken.2.1"]
    assert "gates/broken.yaml:2: yaml.duplicate_key: " in log
    assert "(gates/broken.yaml:2:3)" in log


def test_no_entry_breaks_the_loading_of_the_others(bazel: NestedBazel, first: Done) -> None:
    start = ENTRY.format(area="nasty", slug="x", milestone=0, statement="Is wrong somewhere.")
    strange = """it's `a` "$(b)" größer"""
    nasty = [
        start.replace("gate.nasty.x", strange),
        start.replace("kind: structural", "kind: 😀"),
        start + "  sources: [//a//b, 'not a label', 7]\n",
        start + "  counterexamples: [{name: x, tree: ../../etc}, 5]\n",
        start + "  check: {a: b}\n",
        start.replace("milestone: 0", "milestone: 99999999999999999999999"),
    ]
    with changed(bazel, "gates/nasty.yaml", "".join(nasty)):
        done = bazel.build("test", "//...")
    failing = dict(done.statuses.items() - first.statuses.items())
    assert set(failing.values()) == {"FAILED"}
    assert len(failing) == 9
    for label in failing:
        number = int(label.split(".")[1])
        assert f"gates/nasty.yaml:{number}: " in done.logs[label]
        assert "allowed: " in done.logs[label]
    assert any(strange in log for log in done.logs.values())
    assert first.statuses.items() <= done.statuses.items()


def test_the_documented_example_gives_the_same_targets(bazel: NestedBazel, first: Done) -> None:
    text = Path("docs/reference/starlark.md").read_text(encoding="utf-8")
    blocks = re.findall(r"<!-- file: (\S+) -->\n```starlark\n(.*?)```\n", text, re.DOTALL)
    assert [path for path, _ in blocks] == [
        "MODULE.bazel",
        "gates/BUILD.bazel",
        "evals/BUILD.bazel",
    ]
    module = (bazel.workspace / "MODULE.bazel").read_text(encoding="utf-8")
    override = re.findall(r"^local_path_override.*$", module, re.MULTILINE)
    with ExitStack() as stack:
        for path, block in blocks:
            more = "\n".join(override) + "\n" if path == "MODULE.bazel" else ""
            stack.enter_context(changed(bazel, path, block + more))
        seen = set(bazel.run("query", ALL_TESTS).lines)
    assert seen == first.statuses.keys()


def test_the_inventory_carries_the_entries_unchanged(bazel: NestedBazel) -> None:
    assert bazel.build("build", "//gates:words/quiet.entry").code == 0
    entry = Path(bazel.workspace, "bazel-bin/gates/words/quiet.entry.json")
    assert "größer, 大きい, 😀" in entry.read_text(encoding="utf-8")
