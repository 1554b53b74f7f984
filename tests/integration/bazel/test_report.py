"""The report of a workspace that depends on this repository, made with a real Bazel."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.integration.bazel.nested import NestedBazel, copy_sources, make_consumer

ENTRY = """
- id: gate.words.{slug}
  milestone: {milestone}
  kind: structural
  spec: docs/specs/words.md#hard-gates
  statement: No word of the text is {slug}.
  check: gates/checks/words.py::{slug}
  sources: [//texts:words]
  counterexamples:
    - {{name: {slug}_word, reason: {slug}_found}}
"""
CHECK = '''
def {slug}(context):
    """Finds each word of the text that is {slug}."""
    words = context.tree.read("texts/words.txt").decode().split()
    found = [
        Finding("texts/words.txt", number, "{slug}_found", "found " + word)
        for number, word in enumerate(words, start=1)
        if {refused}
    ]
    return Examination(found, len(words), "words")
'''
DEFECT = '''
def {slug}_word(bench):
    """Puts in a word that is {slug}."""
    bench.tree.edit("texts/words.txt", "one", "{word}")
'''
CHECKS = (
    "from hardgate.kinds.context import Examination\n"
    "from hardgate.verdicts.verdict import Finding\n"
    + CHECK.format(slug="loud", refused="word.isupper()")
    + CHECK.format(slug="long", refused="len(word) > 9")
    + CHECK.format(slug="odd", refused='int(word, 36) and word == "odd"')
)
FILES = {
    "gates/BUILD.bazel": (
        'load("@my_gates//:index.bzl", "INDEX")\n'
        'load("@hardgate//tools:defs.bzl", "hardgate_gates")\n'
        'hardgate_gates(name = "gates", index = INDEX)\n'
    ),
    "gates/MILESTONE": "0\n",
    "gates/words.yaml": (
        ENTRY.format(slug="loud", milestone=0)
        + ENTRY.format(slug="long", milestone=0)
        + ENTRY.format(slug="odd", milestone=1)
        + ENTRY.format(slug="rude", milestone=2)
    ),
    "gates/checks/words.py": CHECKS,
    "gates/defects/words.py": (
        DEFECT.format(slug="loud", word="ONE")
        + DEFECT.format(slug="long", word="one-and-only")
        + DEFECT.format(slug="odd", word="odd")
    ),
    "texts/BUILD.bazel": (
        'filegroup(name = "words", srcs = ["words.txt"], visibility = ["//visibility:public"])\n'
    ),
    "texts/words.txt": "one two\n",
    "evals/cases/README.md": "none yet\n",
}
REPORT = ("run", "//gates:report", "--", "--json")


@pytest.fixture(scope="module")
def bazel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NestedBazel]:
    scratch = tmp_path_factory.mktemp("report")
    hardgate = copy_sources(scratch / "hardgate")
    with NestedBazel(make_consumer(scratch / "consumer", hardgate, FILES), hardgate) as bazel:
        bazel.write_launcher(bazel.workspace / "bazelw")
        yield bazel


@contextmanager
def changed(bazel: NestedBazel, path: str, text: str) -> Iterator[None]:
    """The workspace with another text of one file."""
    file = bazel.workspace / path
    before = file.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(before, encoding="utf-8")


def report(bazel: NestedBazel, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit code of a report, and what it printed as JSON."""
    done = bazel.run(*REPORT, *options)
    assert done.out.startswith("{"), done.err
    return done.code, json.loads(done.out)


def states(plain: dict[str, Any]) -> dict[str, str]:
    return {row["id"].split(".")[2]: row["state"] for row in plain["gates"]}


def faults(plain: dict[str, Any]) -> list[dict[str, Any]]:
    return [fault for row in plain["gates"] for fault in row["faults"]]


def test_run_then_cached_then_kept(bazel: NestedBazel) -> None:
    code, first = report(bazel)
    assert code == 0, first
    assert states(first) == {"loud": "pass", "long": "pass", "odd": "pending", "rude": "pending"}
    assert first["problems"] == []
    loud = next(row for row in first["gates"] if row["id"] == "gate.words.loud")
    assert (loud["count"], loud["unit"], loud["cached"]) == (2, "words", False)
    assert (loud["rejected"], loud["counterexamples"]) == (1, 1)
    code, cached = report(bazel)
    assert code == 0
    assert [row["cached"] for row in cached["gates"] if row["state"] == "pass"] == [True, True]
    code, kept = report(bazel, "--no-run")
    assert code == 0
    assert kept["gates"] == cached["gates"]


def test_a_finding_in_a_selection_that_is_not_kept(bazel: NestedBazel) -> None:
    assert report(bazel)[0] == 0
    with changed(bazel, "texts/words.txt", "one two THREE\n"):
        code, plain = report(bazel, "--area", "words", "--milestone", "0", "--kind", "structural")
        kept = report(bazel, "--no-run")[1]
    assert (code, states(plain)) == (1, {"loud": "fail", "long": "pass"})
    (fault,) = faults(plain)
    assert (fault["place"], fault["rule"]) == ("//gates:words/loud", "failed")
    assert fault["details"] == ["texts/words.txt:3: loud_found: found THREE"]
    assert states(kept)["loud"] == "pass"


def test_a_check_that_crashes_is_no_verdict(bazel: NestedBazel) -> None:
    broken = CHECKS.replace("word.isupper()", "word.is_upper()")
    with changed(bazel, "gates/checks/words.py", broken):
        code, plain = report(bazel, "--milestone", "0")
    assert (code, states(plain)) == (1, {"loud": "fail", "long": "pass"})
    gate, twin = faults(plain)
    ended = "GateCheck of //gates:words/loud.verdict ended with exit code 1"
    assert gate["message"] == f"FAILED TO BUILD: the check crashed: {ended}"
    assert gate["details"][-1].endswith("object has no attribute 'is_upper'")
    assert twin["rule"] == "counterexample_not_rejected"
    assert twin["message"].endswith(": crashed")


def test_pending_gates_alone_are_in_order(bazel: NestedBazel) -> None:
    code, plain = report(bazel, "--milestone", "2")
    assert (code, states(plain)) == (0, {"rude": "pending"})


def test_a_target_that_only_looks_like_a_gate(bazel: NestedBazel) -> None:
    stray = (
        'load("@hardgate//tools:defs.bzl", "python_module_test")\n'
        'python_module_test(name = "words/extra", main = "this", tags = ["gate"])\n'
    )
    with changed(bazel, "gates/BUILD.bazel", FILES["gates/BUILD.bazel"] + stray):
        code, plain = report(bazel)
    assert code == 1
    assert faults(plain) == []
    problems = [(one["place"], one["rule"]) for one in plain["problems"]]
    assert problems == [("//gates:words/extra", "stray_target")]
