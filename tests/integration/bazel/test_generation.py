"""A workspace that depends on this repository: its YAML decides which targets exist and what reruns."""

import fcntl
import re
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.integration.bazel.nested import Done, NestedBazel, copy_sources, make_consumer
from tests.integration.bazel.sample import (
    ACTIVE_TARGETS,
    CASE,
    ENTRY,
    EVEN,
    EVEN_GATE,
    FILES,
    KIND_GATE,
    MEMBER,
    PENDING,
    QUIET_GATE,
    SMALL,
    SMALL_GATE,
    STRUCTURAL,
    TURNED_GATE,
)

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
    assert checked(first) == verdicts(STRUCTURAL)


def test_a_ready_check_depends_on_what_it_needs_only(bazel: NestedBazel, first: Done) -> None:
    """Neither code of the area nor a library of another check is among the inputs."""
    inputs = {
        name: bazel.run("query", f"deps(//gates:code/{name}.verdict)").lines
        for name in ("layers", "no_shell")
    }
    assert any("//grimp" in label for label in inputs["layers"])
    assert not any("//grimp" in label for label in inputs["no_shell"])
    for labels in inputs.values():
        assert not any("detect_secrets" in label or "code_checks" in label for label in labels)


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
            "evals/corpora/notes/second.txt",
            MEMBER.format(name="second", body="See you at the river."),
            KIND_GATE,
            set(),
            id="member",
        ),
        pytest.param(
            "texts/turn.py",
            "def turn(text):\n    return ''.join(reversed(text))\n",
            TURNED_GATE | KIND_GATE,  # one library holds the checks of an area
            set(),
            id="code under a property",
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


@contextmanager
def way_out() -> Iterator[None]:
    """Gives this sandbox a second network interface (a bridge to nowhere), as if it had let one in."""
    name = b"way_out\0"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        if {each for _, each in socket.if_nameindex()} != {"lo"}:
            yield  # the tests of this Bazel have the network, so there is one
            return
        fcntl.ioctl(control, 0x89A0, name)  # SIOCBRADDBR
        fcntl.ioctl(control, 0x8914, struct.pack("16sh14x", name, 1))  # SIOCSIFFLAGS, IFF_UP
        try:
            yield
        finally:
            fcntl.ioctl(control, 0x8914, struct.pack("16sh14x", name, 0))
            fcntl.ioctl(control, 0x89A1, name)  # SIOCBRDELBR


def test_a_sandbox_that_lets_the_network_through_fails_the_gate(bazel: NestedBazel) -> None:
    gate, again = "//gates:words/quiet", "--nocache_test_results"
    with way_out():
        leaky = bazel.build("test", again, "--strategy=TestRunner=processwrapper-sandbox", gate)
        tight = bazel.build("test", again, gate)
    assert leaky.statuses == {gate: "FAILED"}
    assert "network_on" in leaky.logs[gate]
    assert tight.statuses == {gate: "PASSED"}


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


def test_a_corpus_that_shrinks_fails_its_gate(bazel: NestedBazel) -> None:
    with changed(bazel, "evals/corpora/notes/second.txt", None):
        done = bazel.build("test", "//gates/...")
    assert done.statuses["//gates:notes/kind"] == "FAILED"
    assert "too_few_members" in done.logs["//gates:notes/kind"]


def test_the_inventory_carries_the_entries_unchanged(bazel: NestedBazel) -> None:
    assert bazel.build("build", "//gates:words/quiet.entry").code == 0
    entry = Path(bazel.workspace, "bazel-bin/gates/words/quiet.entry.json")
    assert "größer, 大きい, 😀" in entry.read_text(encoding="utf-8")
